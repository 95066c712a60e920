// predict/leaf_targets.hpp: the training targets that leaves hold, and quantiles of them for new rows.
//
// What a forest predicts is a weighted mean of training targets: each tree gives a new row the targets of the leaf it
// reaches, and trees count alike. The same weights give every quantile as well (Meinshausen, 2006).
//
// Words
//   rank     the number of a target among the distinct ones, in order
//   share    how much of its leaf's weight a training row holds, in units of 2^-31. The shares of a leaf add up to one
//            exactly, and sums of them are integers, so that nothing depends on the order in which they are added.
//   level    a number in [0, 1]; its quantile is the least target with that much of the weight at or below it
// Rounding takes less than a unit per tree from a weight that was reached, so a level counts as reached one unit early:
// three of ten equal rows reach the level 0.3.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "coterie/base/progress.hpp"
#include "coterie/base/types.hpp"

namespace coterie {

/// The rows that one tree drew, leaf by leaf, in each leaf by ascending target.
struct TreeTargets {
    std::vector<std::uint32_t> first;  // where the rows of each leaf begin, and where the last ones end
    std::vector<std::uint32_t> rank;
    std::vector<std::uint32_t> share;
    double mean_leaf_size = 0;  // how many rows share a leaf with a row, on average

    std::size_t n_leaves() const { return first.size() - 1; }
};

/// Rows by the leaves they reach, and the levels of their quantiles.
struct QuantileQuery {
    std::span<const NodeIndex> leaves;  // row-major (n_rows, n_trees)
    std::span<const std::uint8_t> use;  // of the same shape: does the tree count for the row? Empty: all do
    std::span<const double> levels;
};

class LeafTargets {
public:
    /// An empty weight means 1 for every row.
    LeafTargets(std::span<const double> y, std::span<const double> weight);

    /// Adds trees, one after the other: the leaf that each training row reaches, and how often the tree drew the row.
    void add(std::span<const NodeIndex> leaves, std::span<const std::uint16_t> counts, int n_threads,
             StopRequest stop = {});

    /// Adds a tree that another LeafTargets of the same targets has built, after checking it.
    void add(TreeTargets tree);

    /// Row-major (n_rows, n_levels). A tree whose leaf holds no weight is left out; NaN for a row without any tree.
    void quantiles(const QuantileQuery& query, std::span<double> out, int n_threads, StopRequest stop = {}) const;

    const std::vector<double>& y() const { return y_; }
    const std::vector<double>& weight() const { return weight_; }
    const std::vector<TreeTargets>& trees() const { return trees_; }

private:
    TreeTargets by_leaf(std::span<const NodeIndex> leaves, std::span<const std::uint16_t> counts) const;
    double row_cost() const;

    std::vector<double> y_;
    std::vector<double> weight_;
    std::vector<RowIndex> ascending_;  // rows by target
    std::vector<std::uint32_t> rank_;  // by row
    std::vector<double> values_;       // by rank
    std::vector<TreeTargets> trees_;
};

}  // namespace coterie
