#include "coterie/predict/threshold_grid.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

namespace coterie {
namespace {

constexpr std::size_t kMinThresholds = 64;  // fewer stay in the nearest cache
constexpr std::size_t kMaxCells = 1 << 14;  // 64 KiB
constexpr int kMinSaved = 3;                // steps of a binary search

}  // namespace

// A cell is the whole part of a number that never falls as the value rises, so cells are in the order of values however
// it is rounded.
ThresholdGrid::ThresholdGrid(std::span<const double> thresholds) : thresholds_(thresholds) {
    const std::size_t n = thresholds.size();
    if (n < kMinThresholds) return;
    const std::size_t n_cells = std::min(kMaxCells, std::bit_floor(n) / 2);
    low_ = thresholds.front();
    last_cell_ = static_cast<double>(n_cells - 1);
    cells_per_unit_ = static_cast<double>(n_cells) / (thresholds.back() - low_);
    if (!std::isfinite(low_) || !std::isfinite(cells_per_unit_) || cells_per_unit_ <= 0.0) return;
    begin_.assign(n_cells + 1, static_cast<std::uint32_t>(n));
    std::size_t next = 0;
    for (std::size_t i = 0; i < n; ++i)
        for (const std::size_t cell = cell_of(thresholds[i]); next <= cell; ++next)
            begin_[next] = static_cast<std::uint32_t>(i);
    std::uint32_t fullest = 0;
    for (std::size_t cell = 0; cell < n_cells; ++cell) fullest = std::max(fullest, begin_[cell + 1] - begin_[cell]);
    const auto n_steps = static_cast<int>(std::bit_width(fullest));
    if (n_steps + kMinSaved <= static_cast<int>(std::bit_width(n))) n_steps_ = n_steps;
}

// Searches in step, so that they hide each other's latency.
void ThresholdGrid::code(std::span<const double> values, std::uint16_t* out) const {
    constexpr std::size_t kSearches = 16;
    const double* const all = thresholds_.data();
    const auto last = static_cast<std::uint32_t>(thresholds_.size() - 1);
    for (std::size_t first = 0; first < values.size(); first += kSearches) {
        const std::size_t n_now = std::min(kSearches, values.size() - first);
        std::array<double, kSearches> value;
        std::array<std::uint32_t, kSearches> below;
        std::array<std::uint32_t, kSearches> left;
        for (std::size_t k = 0; k < kSearches; ++k) {
            value[k] = values[first + std::min(k, n_now - 1)];
            const std::size_t cell = cell_of(value[k]);
            below[k] = begin_[cell];
            left[k] = begin_[cell + 1] - begin_[cell];
        }
        for (int step = 0; step < n_steps_; ++step)
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

}  // namespace coterie
