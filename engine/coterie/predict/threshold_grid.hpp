// predict/threshold_grid.hpp: how many of many ascending thresholds lie below each of many values.
//
// An even grid over the thresholds says where to begin: a value is compared with those of its own cell only, which lie
// in one or two cache lines. A binary search of 50,000 thresholds waits for memory sixteen times. Where most thresholds
// would share a cell, or values are too few to pay for a grid, all thresholds are one cell.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "coterie/kernels/kernels.hpp"

namespace coterie {

class ThresholdGrid {
public:
    /// For so many values. Thresholds ascend and outlive the grid.
    ThresholdGrid(std::span<const double> thresholds, std::size_t n_values);

    bool has_cells() const { return !begin_.empty(); }
    /// The thresholds below each value, plus one; 0 for NaN.
    void code(std::span<const double> values, std::uint16_t* out) const;

private:
    bool make_cells();
    void search_all(std::span<const double> values, std::uint16_t* out) const;

    std::span<const double> thresholds_;
    ThresholdCells cells_;              // all but `begin`
    std::vector<std::uint32_t> begin_;  // of each cell, and one more; none: all thresholds are one cell
};

}  // namespace coterie
