// predict/threshold_grid.hpp: how many of many ascending thresholds lie below each of many values.
//
// An even grid over the thresholds says where to begin: a value is compared with those of its own cell only, which lie
// in one or two cache lines. A binary search of 50,000 thresholds waits for memory sixteen times.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace coterie {

class ThresholdGrid {
public:
    /// Thresholds ascend and outlive the grid.
    explicit ThresholdGrid(std::span<const double> thresholds);

    /// Not if most of the thresholds share a cell, or some are infinite.
    bool is_useful() const { return n_steps_ > 0; }
    /// The thresholds below each value, plus one; 0 for NaN.
    void code(std::span<const double> values, std::uint16_t* out) const;

private:
    std::size_t cell_of(double value) const {
        double place = (value - low_) * cells_per_unit_;
        place = place > 0.0 ? place : 0.0;  // also of NaN
        return static_cast<std::size_t>(place < last_cell_ ? place : last_cell_);
    }

    std::span<const double> thresholds_;
    double low_ = 0.0;
    double cells_per_unit_ = 0.0;
    double last_cell_ = 0.0;
    int n_steps_ = 0;                   // that search the fullest cell
    std::vector<std::uint32_t> begin_;  // of each cell, and one more
};

}  // namespace coterie
