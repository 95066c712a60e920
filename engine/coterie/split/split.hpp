// split/split.hpp: a chosen split, and the node it is chosen for.
#pragma once

#include <array>
#include <limits>
#include <span>

#include "coterie/kernels/kernels.hpp"

namespace coterie {

/// From rounded sums to real ones: gradient = rounded * gradient_unit, hessian = rounded * hessian_unit.
struct Units {
    double gradient = 1.0;
    double hessian = 1.0;
    std::uint32_t hessian_max = 1;  // the largest rounded hessian of any row

    double gain(double rounded) const { return rounded * gradient * gradient / hessian; }
};

/// The values a node may have, so that monotone features stay monotone.
struct Bounds {
    double low = -std::numeric_limits<double>::infinity();
    double high = std::numeric_limits<double>::infinity();

    bool unlimited() const {
        return low == -std::numeric_limits<double>::infinity() && high == std::numeric_limits<double>::infinity();
    }
    double clip(double value) const { return value < low ? low : value > high ? high : value; }
};

/// A sum of gradients that l1 has shrunk towards zero.
constexpr double shrunk(double gradient, double l1) {
    return gradient > l1 ? gradient - l1 : gradient < -l1 ? gradient + l1 : 0.0;
}

/// What splits are scored by, in rounded units.
struct SplitTask {
    Cell total = 0;
    std::uint32_t n_rows = 0;
    float l1 = 0;
    float l2 = 0;
    float min_hessian = 1;
    float level_l2 = 0;
    float level_smoothing = 0;
    float level_cost = 0;  // what sorting one more level by noise alone would gain
    Bounds bounds;         // of rounded values: gradient / hessian in rounded units
    bool counted = false;
    std::uint32_t min_rows = 0;  // for cells that count

    ScanTask scan(float extra_l2 = 0, float beat = -1) const {
        return {.total = total,
                .l2 = l2 + extra_l2,
                .min_hessian = min_hessian,
                .counted = counted,
                .min_rows = min_rows,
                .beat = beat};
    }
    /// The values of the children are not plain Newton steps.
    bool limited(int direction) const { return direction != 0 || l1 > 0 || !bounds.unlimited(); }
    Sums sums(Cell cell) const { return sums_of(cell, counted); }
};

/// Rows per bin, when each child must keep at least `least` of them; empty counts: no such rule.
struct RowCounts {
    std::span<const std::uint32_t> counts;
    std::uint32_t least = 0;
};

/// The best split of one feature. Gain is the children's sum of gradient^2 / (hessian + l2), rounded units.
struct Candidate {
    float gain = -1.0f;
    float rank = -std::numeric_limits<float>::infinity();  // the gain with its noise: the highest is chosen
    Bin last = 0;                                          // numeric: bins 1 .. last go left
    bool missing_left = false;
    bool nominal = false;
    std::uint16_t n_levels = 0;       // nominal: how many bins the node has
    std::uint16_t n_levels_left = 0;  // nominal: how many of the sorted bins go left
    std::uint16_t sorter = 0;         // nominal: which of several histograms sorted them
};

using LevelSet = std::array<std::uint64_t, 4>;  // of bins, 256 bits

/// A candidate spelled out.
struct Split {
    FeatureIndex feature = 0;
    double gain = 0;  // real units, above the parent; <= 0: no split
    Bin last = 0;
    bool missing_left = false;
    bool nominal = false;
    LevelSet left_bins{};  // nominal only
    Cell left_total = 0;
};

}  // namespace coterie
