#include "coterie/boosting/rounded_pairs.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "coterie/base/parallel.hpp"
#include "coterie/base/random.hpp"

namespace coterie {
namespace {

constexpr std::size_t kChunk = 32'768;
constexpr double kMaxSum = 0x1.0p31 - 1;
constexpr double kMaxCountedGradient = 0x1.0p25 - 1;  // 26 bits with sign
constexpr double kMaxCountedHessian = 0x1.0p22 - 1;

// A power of two that takes the largest size to at most kMaxScaled, and not much less.
float scale_of_sum(float max) {
    int exponent = 0;
    std::frexp(max, &exponent);  // max < 2^exponent
    return std::ldexp(1.0f, std::min(std::countr_zero(static_cast<std::uint32_t>(kMaxScaled)) - exponent, 127));
}

// The sum of each gradient's sizes and, last, of the hessian's, from one pass over the rows.
std::vector<std::uint64_t> scaled_sums(const SeenRows& rows, const DerivativeSizes& sizes, int n_threads) {
    const std::size_t n_rows = rows.gradients[0].size(), n_sums = rows.gradients.size() + 1;
    const auto sum = [](std::span<const float> values, std::size_t begin, std::size_t end, float max) {
        return kernels().rounding.sum_sizes(values.data() + begin, end - begin, scale_of_sum(max));
    };
    std::vector<std::uint64_t> parts((n_rows + kChunk - 1) / kChunk * n_sums, 0);
    parallel_ranges(n_rows, kChunk, n_threads, [&](std::size_t begin, std::size_t end) {
        std::uint64_t* const own = parts.data() + begin / kChunk * n_sums;
        for (std::size_t k = 0; k + 1 < n_sums; ++k) own[k] = sum(rows.gradients[k], begin, end, sizes.gradient_max);
        if (!rows.hessian.empty()) own[n_sums - 1] = sum(rows.hessian, begin, end, sizes.hessian_max);
    });
    std::vector<std::uint64_t> sums(n_sums, 0);
    for (std::size_t i = 0; i < parts.size(); ++i) sums[i % n_sums] += parts[i];
    return sums;
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

Rounding rounding_of(const SeenRows& rows, const Rounded& all, std::uint64_t seed, const Slice& slice, int n_threads) {
    const DerivativeSizes& sizes = all.sizes;
    const auto n_rows = static_cast<double>(sizes.n_rows);
    const bool flat = sizes.flat;
    std::vector<std::uint64_t> sums = scaled_sums(rows, sizes, n_threads);
    slice.sum(sums);
    const std::uint64_t most = *std::max_element(sums.begin(), sums.end() - 1);
    const auto salt = static_cast<std::uint32_t>(random_bits(seed, Purpose::rounding, 0));
    return {
        .gradient_scale = scale_for(mass_of(most, sizes.gradient_max, n_rows), static_cast<double>(sizes.gradient_max),
                                    32767, all.counted ? kMaxCountedGradient : kMaxSum, n_rows),
        .hessian_scale =
            flat ? 1.0f
                 : scale_for(mass_of(sums.back(), sizes.hessian_max, n_rows), static_cast<double>(sizes.hessian_max),
                             65535, all.counted ? kMaxCountedHessian : kMaxSum, n_rows),
        .salt = salt_of_slice(salt, slice.first_row)};
}

}  // namespace

Rounded round_pairs(const SeenRows& rows, const SizesSeen& sizes, std::uint64_t seed, const Slice& slice, int n_threads,
                    std::span<Buffer<Pair>> pairs) {
    Rounded all{.units = {}, .sizes = sizes_of(sizes, slice)};
    all.counted = all.sizes.n_rows < kCountedBelow;
    const Rounding rounding = rounding_of(rows, all, seed, slice, n_threads);
    const bool flat = all.sizes.flat;
    all.units = {.gradient = 1.0 / static_cast<double>(rounding.gradient_scale),
                 .hessian = 1.0 / static_cast<double>(rounding.hessian_scale),
                 .hessian_max = flat ? 1
                                     : static_cast<std::uint32_t>(static_cast<double>(all.sizes.hessian_max) *
                                                                  static_cast<double>(rounding.hessian_scale)) +
                                           1};
    for (std::size_t k = 0; k < rows.gradients.size(); ++k) {
        const std::span<const float> gradient = rows.gradients[k];
        resize_anew(pairs[k], gradient.size());
        parallel_ranges(gradient.size(), kChunk, n_threads, [&](std::size_t begin, std::size_t end) {
            kernels().rounding.round_pairs(gradient.data() + begin, flat ? nullptr : rows.hessian.data() + begin,
                                           rows.rows.empty() ? nullptr : rows.rows.data() + begin,
                                           static_cast<RowIndex>(begin), end - begin, rounding,
                                           pairs[k].data() + begin);
        });
    }
    return all;
}

}  // namespace coterie
