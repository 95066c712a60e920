// kernels/generic/set_cuts.cpp: what the best cut of a set is.
#include "coterie/kernels/set_cuts.hpp"

#include <algorithm>

namespace coterie::generic {
namespace {

bool best(const TransposedCodes& codes, RowSet set, const std::uint32_t* columns, std::size_t n_columns,
          const SmallClassNode& node, const SetWeights& weights, SetCut& best) {
    const SmallNodeKernels small_node = small_node_kernels();
    const RowSetKernels row_set = row_set_kernels();
    std::uint16_t statistic[kMaxClassRows];
    std::uint16_t own[kMaxClassRows];
    row_set.codes_of(node.statistic, set, statistic);
    SmallClassNode rows = node;
    rows.statistic = statistic;
    SetCut found;
    for (std::size_t k = 0; k < n_columns; ++k) {
        row_set.codes_of(codes.column[columns[k]], set, own);
        if (std::find(own, own + node.n, std::uint16_t{0}) != own + node.n) return false;
        const SmallNodeCut cut = small_node.cut_classes(own, rows);
        if (!(cut.gain > found.gain)) continue;
        found.gain = cut.gain;
        found.column = static_cast<std::uint32_t>(k);
        found.last = static_cast<std::uint16_t>(cut.code);
    }
    best = found;
    if (found.gain < 0.0f) return true;
    SetCuts cut;
    cut.last[0] = found.last;
    SetSums sums;
    row_set.sum_left(codes, &set, columns + found.column, 1, cut, weights, sums, &best.left);
    best.statistic = sums.statistic[0];
    const RowSet right = set & ~best.left;
    CodeRanges ranges;
    row_set.code_ranges(codes, &right, columns + found.column, 1, ranges);
    best.next = ranges.least[0];
    return true;
}

}  // namespace

SetCutKernels set_cut_kernels() { return {.max_rows = 0, .best = best}; }

}  // namespace coterie::generic
