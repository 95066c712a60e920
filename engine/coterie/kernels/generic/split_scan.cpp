// kernels/generic/split_scan.cpp: what the scan of a feature means. The sums on the left of a few bins are found one
// after the other; their gains, in a loop without branches that compilers turn into vectors.
#include "coterie/kernels/split_scan.hpp"

#include <algorithm>
#include <initializer_list>

namespace coterie::generic {
namespace {

constexpr int kStep = 16;  // bins

// The gains of a step are above / below; where a side is too light, -1, or no number if both sums are 0.
struct Gains {
    float above[kStep];
    float below[kStep];
};

// The same as gain_of_split, bin by bin, but for the division. Bins behind the last have nothing of their own, so they
// are no better.
template <bool Counted>
void find_gains(const Cell* lefts, const ScanTask& task, Gains& gains) {
    const Sums total = sums_of(task.total, Counted);
    const float l2 = task.l2;
    const float min_hessian = task.min_hessian;
    const auto min_rows = static_cast<std::int32_t>(task.min_rows);
    for (int j = 0; j < kStep; ++j) {
        const Sums left = sums_of(lefts[j], Counted);
        const auto left_g = static_cast<float>(left.gradient);
        const auto right_g = static_cast<float>(total.gradient - left.gradient);
        const auto left_h = static_cast<float>(left.hessian);
        const auto right_h = static_cast<float>(total.hessian - left.hessian);
        const float left_d = left_h + l2;
        const float right_d = right_h + l2;
        bool valid = (left_h >= min_hessian) & (right_h >= min_hessian);
        if constexpr (Counted) {
            const auto left_n = static_cast<std::int32_t>(left.n);
            valid = valid & (left_n >= min_rows) & (static_cast<std::int32_t>(total.n) - left_n >= min_rows);
        }
        const float above = left_g * left_g * right_d + right_g * right_g * left_d;
        const float below = left_d * right_d;
        gains.above[j] = valid ? above : -below;
        gains.below[j] = below;
    }
}

template <bool Counted>
bool too_light(Cell side, const ScanTask& task) {
    const Sums sums = sums_of(side, Counted);
    return Counted ? sums.n < task.min_rows : static_cast<float>(sums.hessian) < task.min_hessian;
}

// Calls take(first bin, how many bins, sums on the left of each) for the value bins, but for steps in which every bin
// leaves too little on a side. The left side only grows: such steps are the first ones and the last ones.
template <bool Counted, class Take>
void for_lefts(Cell left, const Cell* cells, int n_bins, const ScanTask& task, Take take) {
    for (int bin = 1; bin < n_bins && !too_light<Counted>(task.total - left, task); bin += kStep) {
        const int n = n_bins - bin < kStep ? n_bins - bin : kStep;
        const Cell* own = cells + bin;
        Cell padded[kStep];
        if (n < kStep) {
            std::fill(std::copy_n(own, n, padded), padded + kStep, Cell{0});
            own = padded;
        }
        Cell lefts[kStep];
        for (int j = 0; j < kStep; ++j) lefts[j] = left += own[j];
        if (!too_light<Counted>(left, task)) take(bin, n, lefts);
    }
}

// Whether a gain may be above the limit, without a division: a little below the limit counts, so that no rounding
// hides a better split.
bool may_be_above(const Gains& gains, float limit) {
    const float near = limit > 0 ? limit * 0.999999f : limit;
    std::int32_t n = 0;
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC unroll 1  // or else it is unrolled before it could become vectors
#endif
    for (int j = 0; j < kStep; ++j) n += gains.above[j] > near * gains.below[j] ? 1 : 0;
    return n != 0;
}

void divide(const Gains& gains, float (&out)[kStep]) {
    for (int j = 0; j < kStep; ++j) out[j] = gains.above[j] / gains.below[j];
}

template <bool Counted>
ScanResult scan_cells(const Cell* cells, int n_bins, const ScanTask& task) {
    ScanResult best{.gain = task.beat, .last = 0, .missing_left = false};
    for (const bool missing_left : {false, true}) {
        if (missing_left && cells[0] == 0) break;
        for_lefts<Counted>(missing_left ? cells[0] : 0, cells, n_bins, task, [&](int bin, int n, const Cell* lefts) {
            Gains found;
            find_gains<Counted>(lefts, task, found);
            if (!may_be_above(found, best.gain)) return;
            float gains[kStep];
            divide(found, gains);
            for (int j = 0; j < n; ++j)
                if (gains[j] > best.gain)
                    best = {.gain = gains[j], .last = static_cast<Bin>(bin + j), .missing_left = missing_left};
        });
    }
    return best;
}

ScanResult scan(const Cell* cells, int n_bins, const ScanTask& task) {
    return task.counted ? scan_cells<true>(cells, n_bins, task) : scan_cells<false>(cells, n_bins, task);
}

template <bool Counted>
void add_gains_of(const Cell* cells, int n_bins, const ScanTask& task, float parent, bool missing_left, float* sums) {
    for_lefts<Counted>(missing_left ? cells[0] : 0, cells, n_bins, task, [&](int bin, int n, const Cell* lefts) {
        Gains found;
        find_gains<Counted>(lefts, task, found);
        float gains[kStep];
        divide(found, gains);
        for (int j = 0; j < n; ++j) sums[bin + j] = gains[j] >= 0 ? sums[bin + j] + (gains[j] - parent) : sums[bin + j];
    });
}

void add_gains(const Cell* cells, int n_bins, const ScanTask& task, float parent, bool missing_left, float* sums) {
    if (task.counted)
        add_gains_of<true>(cells, n_bins, task, parent, missing_left, sums);
    else
        add_gains_of<false>(cells, n_bins, task, parent, missing_left, sums);
}

void subtract(Cell* from, const Cell* subtrahend, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) from[i] -= subtrahend[i];
}

}  // namespace

SplitKernels split_kernels() { return {.scan = scan, .add_gains = add_gains, .subtract = subtract}; }

}  // namespace coterie::generic
