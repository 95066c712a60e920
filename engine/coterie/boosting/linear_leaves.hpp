// boosting/linear_leaves.hpp: leaves that predict by a line instead of a constant
// (docs/decisions/0009-linear-leaves.md).
//
// Words
//   line     base + the sum of slope * (value - centre) over some features: a ridge regression of Newton's step
//   path     of a leaf: the splits above it; its numeric features are those that the line may use
//   complete a row that misses none of the values of the line
// Steps, for each leaf
//   1. Of the features of the path keep those that are finite and vary in the leaf.
//   2. Of the rows keep the complete ones. Too few: the leaf keeps its constant.
//   3. Centre the features at their means; in units of their deviations solve the normal equations, with linear_l2
//      added to the correlations. A feature that others explain has no slope.
//   4. Drop slopes that a monotone constraint forbids, and solve again until none is left; drop slopes that are only
//      rounding errors.
// Sums over the rows of a leaf are in fixed point, in units that come from maxima over these rows: neither threads nor
// workers change a line. Several workers take each step for all leaves, then exchange what it found; one takes all
// steps for a leaf, then those for the next, and no more than one leaf for each thread is copied.
#pragma once

#include <span>
#include <vector>

#include "coterie/base/column_view.hpp"
#include "coterie/boosting/leaf_values.hpp"
#include "coterie/boosting/row_sample.hpp"

namespace coterie {

/// Rows in ascending order, leaf by leaf: those of a node are rows[first[node]] up to rows[first[node + 1]].
struct LeafRows {
    std::vector<std::size_t> first;
    std::vector<RowIndex> rows;

    std::span<const RowIndex> of(NodeIndex node) const {
        return std::span(rows).subspan(first[node], first[node + 1] - first[node]);
    }
};

/// Sorts the given rows, which ascend, by the leaf that each is in.
LeafRows rows_by_leaf(std::size_t n_nodes, std::span<const NodeIndex> leaf_of_row, std::span<const RowIndex> rows);

/// What lines are found from.
struct LineTask {
    const Tree& tree;
    const TableView& values;
    const Derivatives& derivatives;
    const LeafRows& rows;
    std::span<const NodeSums> nodes;  // bounds of the values
    const GrowOptions& options;
};

/// The lines of all leaves, in the units of the tree's values; empty if no leaf has one.
LinearLeaves linear_leaves(const LineTask& task, const Slice& slice, int n_threads);

/// What the leaves of a tree with lines predict for their rows; one number for each row of the table.
void linear_predictions(const Tree& tree, const TableView& values, const LeafRows& rows, int n_threads,
                        std::span<double> predictions);

}  // namespace coterie
