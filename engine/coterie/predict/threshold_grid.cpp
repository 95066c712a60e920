#include "coterie/predict/threshold_grid.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

namespace coterie {
namespace {

constexpr std::size_t kMinThresholds = 16;
constexpr std::size_t kMaxCells = 1 << 14;  // 64 KiB
constexpr int kMinSaved = 3;                // steps of a binary search
constexpr std::size_t kSearches = 16;       // side by side

}  // namespace

ThresholdGrid::ThresholdGrid(std::span<const double> thresholds, std::size_t n_values) : thresholds_(thresholds) {
    if (thresholds.size() < kMinThresholds || n_values < thresholds.size() / 4 || !make_cells()) begin_.clear();
}

// A cell is the whole part of a number that never falls as the value rises, so cells are in the order of values however
// it is rounded. Returns false if most of the thresholds share a cell, or some are infinite.
bool ThresholdGrid::make_cells() {
    const std::size_t n = thresholds_.size();
    const std::size_t n_cells = std::min(kMaxCells, std::bit_floor(n) / 2);
    cells_.thresholds = thresholds_.data();
    cells_.n = static_cast<std::uint32_t>(n);
    cells_.low = thresholds_.front();
    cells_.last_cell = static_cast<double>(n_cells - 1);
    cells_.cells_per_unit = static_cast<double>(n_cells) / (thresholds_.back() - cells_.low);
    if (!std::isfinite(cells_.low) || !std::isfinite(cells_.cells_per_unit) || cells_.cells_per_unit <= 0.0)
        return false;
    // The last threshold of a cell says where the next cell begins; an empty one begins where the one before it does.
    // No branch on how many thresholds share a cell.
    begin_.assign(n_cells + 1, 0);
    for (std::size_t i = 0; i < n; ++i) begin_[cells_.cell_of(thresholds_[i]) + 1] = static_cast<std::uint32_t>(i + 1);
    for (std::size_t cell = 0; cell < n_cells; ++cell) {
        begin_[cell + 1] = std::max(begin_[cell], begin_[cell + 1]);
        cells_.fullest = std::max(cells_.fullest, begin_[cell + 1] - begin_[cell]);
    }
    return std::bit_width(cells_.fullest) + kMinSaved <= std::bit_width(n);
}

void ThresholdGrid::code(std::span<const double> values, std::uint16_t* out) const {
    if (!has_cells()) return search_all(values, out);
    ThresholdCells cells = cells_;
    cells.begin = begin_.data();
    kernels().thresholds.code(cells, values.data(), values.size(), out);
}

// Binary searches, in step.
void ThresholdGrid::search_all(std::span<const double> values, std::uint16_t* out) const {
    for (std::size_t first = 0; first < values.size(); first += kSearches) {
        const std::size_t n_now = std::min(kSearches, values.size() - first);
        std::array<double, kSearches> value;
        std::array<std::uint32_t, kSearches> below{};
        for (std::size_t k = 0; k < kSearches; ++k) value[k] = values[first + std::min(k, n_now - 1)];
        const double* const all = thresholds_.data();
        std::size_t left = thresholds_.size();
        for (; left > 1; left -= left / 2) {
            const auto half = static_cast<std::uint32_t>(left / 2);
            for (std::size_t k = 0; k < kSearches; ++k)
                below[k] += half & (all[below[k] + half - 1] < value[k] ? ~std::uint32_t{0} : 0u);
        }
        for (std::size_t k = 0; k < n_now; ++k) {
            const std::uint32_t last = left == 1 && all[below[k]] < value[k] ? 1 : 0;
            out[first + k] = std::isnan(value[k]) ? 0 : static_cast<std::uint16_t>(below[k] + last + 1);
        }
    }
}

}  // namespace coterie
