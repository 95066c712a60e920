// kernels/generic/split_scan.cpp: what the scan of a feature means.
#include "coterie/kernels/split_scan.hpp"

#include <initializer_list>

namespace coterie::generic {
namespace {

ScanResult scan(const Cell* cells, int n_bins, const ScanTask& task) {
    ScanResult best{.gain = task.beat, .last = 0, .missing_left = false};
    for (const bool missing_left : {false, true}) {
        if (missing_left && cells[0] == 0) break;
        Cell left = missing_left ? cells[0] : 0;
        for (int bin = 1; bin < n_bins; ++bin) {
            left += cells[bin];
            const float gain = gain_of_split(left, task);
            if (gain > best.gain) best = {.gain = gain, .last = static_cast<Bin>(bin), .missing_left = missing_left};
        }
    }
    return best;
}

void add_gains(const Cell* cells, int n_bins, const ScanTask& task, float parent, bool missing_left, float* sums) {
    Cell left = missing_left ? cells[0] : 0;
    for (int bin = 1; bin < n_bins; ++bin) {
        left += cells[bin];
        const float gain = gain_of_split(left, task);
        if (gain >= 0) sums[bin] += gain - parent;
    }
}

void subtract(Cell* from, const Cell* what, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) from[i] -= what[i];
}

}  // namespace

SplitKernels split_kernels() { return {.scan = scan, .add_gains = add_gains, .subtract = subtract}; }

}  // namespace coterie::generic
