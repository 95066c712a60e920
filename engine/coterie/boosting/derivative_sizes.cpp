#include "coterie/boosting/derivative_sizes.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>
#include <vector>

#include "coterie/base/error.hpp"
#include "coterie/base/parallel.hpp"

namespace coterie {
namespace {

constexpr std::size_t kChunk = 32'768;

SizeBits both(const SizeBits& a, const SizeBits& b) {
    return {.largest = std::max(a.largest, b.largest), .signs = a.signs | b.signs};
}

}  // namespace

void SizesSeen::add(const SizesSeen& other) {
    gradient = both(gradient, other.gradient);
    hessian = both(hessian, other.hessian);
    n_rows += other.n_rows;
    has_hessian |= other.has_hessian;
}

SizesSeen see_sizes(std::span<const float> gradient, std::span<const float> hessian) {
    const auto see = [](std::span<const float> values) {
        return kernels().rounding.sizes(values.data(), values.size());
    };
    return {
        .gradient = see(gradient), .hessian = see(hessian), .n_rows = gradient.size(), .has_hessian = !hessian.empty()};
}

SizesSeen see_sizes(std::span<const std::span<const float>> gradients, std::span<const float> hessian, int n_threads) {
    const std::size_t n_rows = gradients[0].size();
    for (const std::span<const float> gradient : gradients) {
        require(gradient.size() == n_rows && (hessian.empty() || hessian.size() == n_rows),
                "Gradients and hessians differ in length.");
        require(gradient.size() < (std::size_t{1} << 30), "The engine takes fewer than 2^30 rows.");
    }
    std::vector<SizesSeen> parts((n_rows + kChunk - 1) / kChunk);
    parallel_ranges(n_rows, kChunk, n_threads, [&](std::size_t begin, std::size_t end) {
        SizesSeen& own = parts[begin / kChunk];
        own = see_sizes(gradients[0].subspan(begin, end - begin),
                        hessian.empty() ? hessian : hessian.subspan(begin, end - begin));
        for (const std::span<const float> gradient : gradients.subspan(1))
            own.gradient = both(own.gradient, see_sizes(gradient.subspan(begin, end - begin), {}).gradient);
    });
    SizesSeen all;
    for (const SizesSeen& part : parts) all.add(part);
    return all;
}

void check_hessians(std::span<const float> hessian, const SizesSeen& seen, const Slice& slice) {
    // -0 has a sign, and is not negative.
    const auto negative =
        seen.hessian.signs == 0 ? hessian.end() : std::ranges::find_if(hessian, [](float value) { return value < 0; });
    std::uint64_t refused[] = {negative != hessian.end()};
    slice.max(refused);
    if (negative != hessian.end())
        throw InvalidInput("Hessians must not be negative; that of row " + std::to_string(negative - hessian.begin()) +
                           " is " + std::to_string(*negative) + ".");
    require(refused[0] == 0, "Hessians must not be negative; another worker has one that is.");
}

DerivativeSizes sizes_of(const SizesSeen& seen, const Slice& slice) {
    // A worker without rows has no hessian either, and cannot tell what the others have.
    std::uint64_t most[] = {seen.gradient.largest, seen.hessian.largest, seen.has_hessian,
                            !seen.has_hessian && seen.n_rows > 0};
    slice.max(most);
    const auto value_of = [](std::uint64_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits)); };
    require(std::isfinite(value_of(most[0])) && std::isfinite(value_of(most[1])),
            "Derivatives of the loss must be finite numbers.");
    require(!(most[2] && most[3]), "All workers or none must have a hessian for each row.");
    const bool flat = most[2] == 0;
    return {.n_rows = slice.sum_of(seen.n_rows),
            .gradient_max = value_of(most[0]),
            .hessian_max = flat ? 1.0f : value_of(most[1]),
            .flat = flat};
}

}  // namespace coterie
