// split/constrained.hpp: the best threshold when values are limited, or rows must be counted.
//
// A monotone feature must have values in order on its two sides, and every node below it stays inside bounds, so
// the children's values are clipped and the gain is that of the clipped values.
#pragma once

#include "coterie/split/split.hpp"

namespace coterie {

/// As the scan kernel, with bounds on the values, a direction (1, -1 or 0 for this feature) and counts of rows.
Candidate best_threshold_within(const Cell* cells, int n_bins, const SplitTask& task, int direction,
                                const RowCounts& rows = {});

/// Gain of both clipped children, or -1 if a child is too light or the values are out of order.
float gain_within(Cell left_cell, const SplitTask& task, double l2, int direction);

/// Gain of both clipped children above their parent's, where other leaves want the split as well: nothing if a child is
/// too light, and values that are out of order meet in the middle.
float gain_above(float parent, Cell left_cell, const SplitTask& task, double l2, int direction);

/// What a node's objective gains by predicting `value`: the negative of g * v * 2 + (h + l2) * v^2 + 2 * l1 * |v|.
double gain_of_value(double gradient, double hessian_and_l2, double value, double l1);

}  // namespace coterie
