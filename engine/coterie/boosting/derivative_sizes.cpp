#include "coterie/boosting/derivative_sizes.hpp"

#include <algorithm>
#include <array>
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

struct Exchanged {
    DerivativeSizes sizes;
    bool negative = false;  // some worker has a hessian that is
};

// What each worker has seen, in a few words that all of them gather.
Exchanged exchanged(const SizesSeen& seen, bool negative, bool everybody, const Slice& slice) {
    enum Word : std::size_t { kGradient, kHessian, kWithHessian, kWithout, kNegative, kAbsent, kRows, kWords };
    std::array<std::uint64_t, kWords> all{};
    all[kGradient] = seen.gradient.largest;
    all[kHessian] = seen.hessian.largest;
    // A worker without rows has no hessian either, and cannot tell what the others have.
    all[kWithHessian] = seen.has_hessian;
    all[kWithout] = !seen.has_hessian && seen.n_rows > 0;
    all[kNegative] = negative;
    all[kAbsent] = !everybody;
    all[kRows] = seen.n_rows;
    if (slice.shared()) {
        const std::vector<std::uint64_t> gathered = slice.communicator->gather(all);
        require(gathered.size() % kWords == 0, "Workers exchange different numbers of words.");
        all.fill(0);
        for (std::size_t i = 0; i < gathered.size(); ++i) {
            std::uint64_t& own = all[i % kWords];
            own = i % kWords == kRows ? own + gathered[i] : std::max(own, gathered[i]);
        }
    }
    require(!(all[kWithHessian] && all[kWithout]), "All workers or none must have a hessian for each row.");
    const auto value_of = [](std::uint64_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits)); };
    const bool flat = all[kWithHessian] == 0;
    return {.sizes = {.n_rows = all[kRows],
                      .gradient_max = value_of(all[kGradient]),
                      .hessian_max = flat ? 1.0f : value_of(all[kHessian]),
                      .flat = flat,
                      .everybody = all[kAbsent] == 0},
            .negative = all[kNegative] != 0};
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

void DerivativeSizes::require_finite() const {
    require(std::isfinite(gradient_max) && std::isfinite(hessian_max),
            "Derivatives of the loss must be finite numbers.");
}

DerivativeSizes sizes_of(const SizesSeen& seen, const Slice& slice) {
    return exchanged(seen, false, true, slice).sizes;
}

DerivativeSizes checked_sizes(std::span<const float> hessian, const SizesSeen& seen, bool everybody,
                              const Slice& slice) {
    // -0 has a sign, and is not negative.
    const auto negative =
        seen.hessian.signs == 0 ? hessian.end() : std::ranges::find_if(hessian, [](float value) { return value < 0; });
    const Exchanged all = exchanged(seen, negative != hessian.end(), everybody, slice);
    if (negative != hessian.end())
        throw InvalidInput("Hessians must not be negative; that of row " + std::to_string(negative - hessian.begin()) +
                           " is " + std::to_string(*negative) + ".");
    require(!all.negative, "Hessians must not be negative; another worker has one that is.");
    return all.sizes;
}

}  // namespace coterie
