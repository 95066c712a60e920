#include "coterie/boosting/rounded_pairs.hpp"

#include <algorithm>
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

PairSums sums_of(std::span<const float> gradient, std::span<const float> hessian, int n_threads) {
    const std::size_t n_chunks = (gradient.size() + kChunk - 1) / kChunk;
    std::vector<PairSums> parts(n_chunks);
    parallel_ranges(gradient.size(), kChunk, n_threads, [&](std::size_t begin, std::size_t end) {
        parts[begin / kChunk] = kernels().rounding.sum_pairs(
            gradient.data() + begin, hessian.empty() ? nullptr : hessian.data() + begin, end - begin);
    });
    PairSums all;
    for (const PairSums& part : parts) {
        all.gradient_mass += part.gradient_mass;
        all.hessian_mass += part.hessian_mass;
        all.gradient_max = std::max(all.gradient_max, part.gradient_max);
        all.hessian_max = std::max(all.hessian_max, part.hessian_max);
    }
    return all;
}

// The largest scale for which neither a row nor the sum of n rows, each rounded up by at most 1, overflows.
float scale_for(double mass, double max, double most_row, double most_sum, double n) {
    if (!(max > 0)) return 1.0f;
    const double scale = std::min((most_row - 1) / max, (most_sum - n) / mass);
    const auto rounded = static_cast<float>(scale * (1 - 1e-6));
    return std::isfinite(rounded) ? std::max(rounded, 0x1.0p-120f) : 0x1.0p120f;
}

struct Scales {
    Rounding rounding;
    Units units;
};

Scales scales_for(const PairSums& sums, bool flat, bool counted, std::uint64_t seed, std::size_t n) {
    require(std::isfinite(sums.gradient_mass) && std::isfinite(sums.hessian_mass),
            "Derivatives of the loss must be finite numbers.");
    const auto n_rows = static_cast<double>(n);
    const double most_gradient = counted ? kMostCountedGradient : kMostSum;
    const double most_hessian_sum = counted ? kMostCountedHessian : kMostSum;
    const Rounding rounding{.gradient_scale = scale_for(sums.gradient_mass, static_cast<double>(sums.gradient_max),
                                                        32767, most_gradient, n_rows),
                            .hessian_scale = flat ? 1.0f
                                                  : scale_for(sums.hessian_mass, static_cast<double>(sums.hessian_max),
                                                              65535, most_hessian_sum, n_rows),
                            .salt = static_cast<std::uint32_t>(random_bits(seed, Purpose::rounding, 0))};
    const double most_hessian =
        flat ? 1.0
             : std::floor(static_cast<double>(sums.hessian_max) * static_cast<double>(rounding.hessian_scale)) + 1;
    return {.rounding = rounding,
            .units = {.gradient = 1.0 / static_cast<double>(rounding.gradient_scale),
                      .hessian = 1.0 / static_cast<double>(rounding.hessian_scale),
                      .hessian_max = static_cast<std::uint32_t>(most_hessian)}};
}

void round_pairs(std::span<const float> gradient, std::span<const float> hessian, const Rounding& rounding,
                 int n_threads, Buffer<Pair>& pairs) {
    resize_anew(pairs, gradient.size());
    parallel_ranges(gradient.size(), kChunk, n_threads, [&](std::size_t begin, std::size_t end) {
        kernels().rounding.round_pairs(gradient.data() + begin, hessian.empty() ? nullptr : hessian.data() + begin,
                                       end - begin, static_cast<RowIndex>(begin), rounding, pairs.data() + begin);
    });
}

void check_lengths(std::span<const float> gradient, std::span<const float> hessian) {
    require(hessian.empty() || hessian.size() == gradient.size(), "Gradients and hessians differ in length.");
    require(gradient.size() < (std::size_t{1} << 30), "The engine takes fewer than 2^30 rows.");
}

}  // namespace

Units round_all_pairs(std::span<const float> gradient, std::span<const float> hessian, bool counted, std::uint64_t seed,
                      int n_threads, Buffer<Pair>& pairs) {
    check_lengths(gradient, hessian);
    const PairSums sums = sums_of(gradient, hessian, n_threads);
    const Scales scales = scales_for(sums, hessian.empty(), counted, seed, gradient.size());
    round_pairs(gradient, hessian, scales.rounding, n_threads, pairs);
    return scales.units;
}

Units round_joint_pairs(std::span<const std::span<const float>> gradients, std::span<const float> hessian, bool counted,
                        std::uint64_t seed, int n_threads, std::vector<Buffer<Pair>>& pairs) {
    PairSums most;  // no gradient is larger, so neither is the unit that any of them needs
    for (const std::span<const float> gradient : gradients) {
        check_lengths(gradient, hessian);
        const PairSums sums = sums_of(gradient, hessian, n_threads);
        require(std::isfinite(sums.gradient_mass), "Derivatives of the loss must be finite numbers.");
        most.gradient_mass = std::max(most.gradient_mass, sums.gradient_mass);
        most.gradient_max = std::max(most.gradient_max, sums.gradient_max);
        most.hessian_mass = sums.hessian_mass;
        most.hessian_max = sums.hessian_max;
    }
    const Scales scales = scales_for(most, hessian.empty(), counted, seed, gradients[0].size());
    pairs.resize(gradients.size());
    for (std::size_t k = 0; k < gradients.size(); ++k)
        round_pairs(gradients[k], hessian, scales.rounding, n_threads, pairs[k]);
    return scales.units;
}

}  // namespace coterie
