#include "coterie/boosting/rounded_pairs.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "coterie/base/error.hpp"
#include "coterie/base/parallel.hpp"
#include "coterie/base/random.hpp"

namespace coterie {
namespace {

constexpr std::size_t kChunk = 32'768;
constexpr double kMostSum = 0x1.0p31 - 1;
constexpr double kMostCountedGradient = 0x1.0p25 - 1;  // 26 bits with sign
constexpr double kMostCountedHessian = 0x1.0p22 - 1;

// of_chunk(begin, end) for chunks of the values, put together by `join`, whose order does not matter.
template <class OfChunk, class Join>
std::uint64_t over_chunks(std::size_t n, int n_threads, OfChunk of_chunk, Join join) {
    std::vector<std::uint64_t> parts((n + kChunk - 1) / kChunk);
    parallel_ranges(n, kChunk, n_threads,
                    [&](std::size_t begin, std::size_t end) { parts[begin / kChunk] = of_chunk(begin, end); });
    std::uint64_t all = 0;
    for (const std::uint64_t part : parts) all = join(all, part);
    return all;
}

std::uint64_t largest_bits(std::span<const float> values, int n_threads) {
    return over_chunks(
        values.size(), n_threads,
        [&](std::size_t begin, std::size_t end) {
            return kernels().rounding.largest_size(values.data() + begin, end - begin);
        },
        [](std::uint64_t a, std::uint64_t b) { return std::max(a, b); });
}

// A power of two that takes the largest size to at most kMostScaled, and not much less.
float scale_of_sum(float max) {
    int exponent = 0;
    std::frexp(max, &exponent);  // max < 2^exponent
    return std::ldexp(1.0f, std::min(std::countr_zero(static_cast<std::uint32_t>(kMostScaled)) - exponent, 127));
}

std::uint64_t scaled_sum(std::span<const float> values, float max, int n_threads) {
    return over_chunks(
        values.size(), n_threads,
        [&](std::size_t begin, std::size_t end) {
            return kernels().rounding.sum_sizes(values.data() + begin, end - begin, scale_of_sum(max));
        },
        [](std::uint64_t a, std::uint64_t b) { return a + b; });
}

// No less than the sum of the sizes. Each lost less than 1 when it was made whole: at most 2^-19 of the largest.
double mass_of(std::uint64_t scaled, float max, double n) {
    return (static_cast<double>(scaled) + n) / static_cast<double>(scale_of_sum(max));
}

// The largest scale for which neither a row nor the sum of n rows, each rounded up by at most 1, overflows.
float scale_for(double mass, double max, double most_row, double most_sum, double n) {
    if (!(max > 0)) return 1.0f;
    const double scale = std::min((most_row - 1) / max, (most_sum - n) / mass);
    const auto rounded = static_cast<float>(scale * (1 - 1e-6));
    return std::isfinite(rounded) ? std::max(rounded, 0x1.0p-120f) : 0x1.0p120f;
}

void check_lengths(std::span<const std::span<const float>> gradients, std::span<const float> hessian) {
    for (const std::span<const float> gradient : gradients) {
        require(hessian.empty() || hessian.size() == gradient.size(), "Gradients and hessians differ in length.");
        require(gradient.size() < (std::size_t{1} << 30), "The engine takes fewer than 2^30 rows.");
    }
}

Rounding rounding_of(const SeenRows& seen, const Rounded& all, std::uint64_t seed, const Slice& slice, int n_threads) {
    const DerivativeSizes& sizes = all.sizes;
    const auto n_rows = static_cast<double>(sizes.n_rows);
    const bool flat = sizes.flat;
    std::vector<std::uint64_t> sums;  // of each gradient, and of the hessian
    for (const std::span<const float> gradient : seen.gradients)
        sums.push_back(scaled_sum(gradient, sizes.gradient_max, n_threads));
    sums.push_back(flat ? 0 : scaled_sum(seen.hessian, sizes.hessian_max, n_threads));
    slice.sum(sums);
    const std::uint64_t most = *std::max_element(sums.begin(), sums.end() - 1);
    const auto salt = static_cast<std::uint32_t>(random_bits(seed, Purpose::rounding, 0));
    return {
        .gradient_scale = scale_for(mass_of(most, sizes.gradient_max, n_rows), static_cast<double>(sizes.gradient_max),
                                    32767, all.counted ? kMostCountedGradient : kMostSum, n_rows),
        .hessian_scale =
            flat ? 1.0f
                 : scale_for(mass_of(sums.back(), sizes.hessian_max, n_rows), static_cast<double>(sizes.hessian_max),
                             65535, all.counted ? kMostCountedHessian : kMostSum, n_rows),
        .salt = salt_of_slice(salt, slice.first_row)};
}

}  // namespace

DerivativeSizes sizes_of(std::span<const std::span<const float>> gradients, std::span<const float> hessian,
                         const Slice& slice, int n_threads) {
    check_lengths(gradients, hessian);
    const std::size_t n_rows = gradients[0].size();
    // A worker without rows has no hessian either, and cannot tell what the others have.
    std::uint64_t most[] = {0, largest_bits(hessian, n_threads), !hessian.empty(), hessian.empty() && n_rows > 0};
    for (const std::span<const float> gradient : gradients)
        most[0] = std::max(most[0], largest_bits(gradient, n_threads));
    slice.max(most);
    const auto value_of = [](std::uint64_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits)); };
    require(std::isfinite(value_of(most[0])) && std::isfinite(value_of(most[1])),
            "Derivatives of the loss must be finite numbers.");
    require(!(most[2] && most[3]), "All workers or none must have a hessian for each row.");
    const bool flat = most[2] == 0;
    return {.n_rows = slice.sum_of(n_rows),
            .gradient_max = value_of(most[0]),
            .hessian_max = flat ? 1.0f : value_of(most[1]),
            .flat = flat};
}

Rounded round_pairs(const SeenRows& seen, std::uint64_t seed, const Slice& slice, int n_threads,
                    std::span<Buffer<Pair>> pairs) {
    Rounded all{.units = {}, .sizes = sizes_of(seen.gradients, seen.hessian, slice, n_threads)};
    all.counted = all.sizes.n_rows < kCountedBelow;
    const Rounding rounding = rounding_of(seen, all, seed, slice, n_threads);
    const bool flat = all.sizes.flat;
    all.units = {.gradient = 1.0 / static_cast<double>(rounding.gradient_scale),
                 .hessian = 1.0 / static_cast<double>(rounding.hessian_scale),
                 .hessian_max = flat ? 1
                                     : static_cast<std::uint32_t>(static_cast<double>(all.sizes.hessian_max) *
                                                                  static_cast<double>(rounding.hessian_scale)) +
                                           1};
    for (std::size_t k = 0; k < seen.gradients.size(); ++k) {
        const std::span<const float> gradient = seen.gradients[k];
        resize_anew(pairs[k], gradient.size());
        parallel_ranges(gradient.size(), kChunk, n_threads, [&](std::size_t begin, std::size_t end) {
            kernels().rounding.round_pairs(gradient.data() + begin, flat ? nullptr : seen.hessian.data() + begin,
                                           seen.rows.empty() ? nullptr : seen.rows.data() + begin,
                                           static_cast<RowIndex>(begin), end - begin, rounding,
                                           pairs[k].data() + begin);
        });
    }
    return all;
}

}  // namespace coterie
