// kernels/split_scan.hpp: the best threshold of a feature, from the cells of its bins.
#pragma once

#include <cstddef>
#include <cstdint>

#include "coterie/kernels/gradient_pairs.hpp"

namespace coterie {

/// The node whose cells are scanned, in rounded units.
struct ScanTask {
    Cell total;
    float l2;           // in units of the rounded hessian
    float min_hessian;  // each child needs at least this rounded hessian, > 0
    bool counted;       // cells count rows, and each child needs at least min_rows of them
    std::uint32_t min_rows;
    float beat;  // only a gain above this one is of interest; -1: any
};

/// Gain of sending `left` to one side, or -1 if a child is too light. One division serves both children.
inline float gain_of_split(Cell left_cell, const ScanTask& task) {
    const Sums left = sums_of(left_cell, task.counted);
    const Sums right = sums_of(task.total - left_cell, task.counted);
    if (task.counted && (left.n < task.min_rows || right.n < task.min_rows)) return -1.0f;
    const auto left_g = static_cast<float>(left.gradient);
    const auto right_g = static_cast<float>(right.gradient);
    const auto left_h = static_cast<float>(left.hessian);
    const auto right_h = static_cast<float>(right.hessian);
    if (!(left_h >= task.min_hessian && right_h >= task.min_hessian)) return -1.0f;
    const float left_d = left_h + task.l2;
    const float right_d = right_h + task.l2;
    return (left_g * left_g * right_d + right_g * right_g * left_d) / (left_d * right_d);
}

/// The best threshold of one feature: bins <= last go left, missing rows by `missing_left`.
struct ScanResult {
    float gain = -1.0f;  // sum over both children of gradient^2 / (hessian + l2), rounded units; <= beat: none
    Bin last = 0;
    bool missing_left = false;
};

struct SplitKernels {
    // The best threshold among value bins 1 .. n_bins - 1 of one feature's cells; cell 0 holds missing rows.
    ScanResult (*scan)(const Cell* cells, int n_bins, const ScanTask& task);

    // Adds to sums[bin], for value bins 1 .. n_bins - 1, what a threshold after the bin gains above `parent`; nothing
    // where a child is too light. What else is written to the first n_bins sums, rounded up to eights, does not matter.
    void (*add_gains)(const Cell* cells, int n_bins, const ScanTask& task, float parent, bool missing_left,
                      float* sums);

    void (*subtract)(Cell* from, const Cell* subtrahend, std::size_t n);  // cells of a sibling
};

namespace generic {
SplitKernels split_kernels();
}
namespace avx2 {
SplitKernels split_kernels();
}
namespace avx512 {
SplitKernels split_kernels();
}
namespace neon {
SplitKernels split_kernels();
}

}  // namespace coterie
