// kernels/generic/threshold_search.cpp: binary searches of cells, in step, so that they hide each other's latency.
#include "coterie/kernels/threshold_search.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

namespace coterie::generic {
namespace {

void code(const ThresholdCells& cells, const double* values, std::size_t n, std::uint16_t* out) {
    constexpr std::size_t kSearches = 16;
    const double* const all = cells.thresholds;
    const std::uint32_t last = cells.n - 1;
    const auto n_steps = static_cast<int>(std::bit_width(cells.fullest));
    for (std::size_t first = 0; first < n; first += kSearches) {
        const std::size_t n_now = std::min(kSearches, n - first);
        std::array<double, kSearches> value;
        std::array<std::uint32_t, kSearches> below;
        std::array<std::uint32_t, kSearches> left;
        for (std::size_t k = 0; k < kSearches; ++k) {
            value[k] = values[first + std::min(k, n_now - 1)];
            const std::size_t cell = cells.cell_of(value[k]);
            below[k] = cells.begin[cell];
            left[k] = cells.begin[cell + 1] - cells.begin[cell];
        }
        for (int step = 0; step < n_steps; ++step)
            for (std::size_t k = 0; k < kSearches; ++k) {
                const std::uint32_t half = left[k] / 2;
                const std::uint32_t middle = below[k] + half;
                const bool is_below = all[std::min(middle, last)] < value[k];
                const bool above = (left[k] > 0) & is_below;
                below[k] = above ? middle + 1 : below[k];
                left[k] = above ? left[k] - half - 1 : half;
            }
        for (std::size_t k = 0; k < n_now; ++k)
            out[first + k] = std::isnan(value[k]) ? 0 : static_cast<std::uint16_t>(below[k] + 1);
    }
}

}  // namespace

ThresholdKernels threshold_kernels() { return {.code = code}; }

}  // namespace coterie::generic
