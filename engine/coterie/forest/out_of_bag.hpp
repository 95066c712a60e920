// forest/out_of_bag.hpp: what a forest learns from the rows that its trees did not see.
#pragma once

#include "coterie/forest/rows.hpp"

namespace coterie {

/// The loss of a prediction for a row, divided by `n` first if it is the sum of as many. Of classes: the share of
/// outputs whose most likely class is wrong. Of numbers: the mean squared error.
double loss_of(const ForestRows& rows, std::size_t place, const double* prediction, double n = 1.0);

/// Predictions of the trees for the rows they did not see, added up tree by tree.
class OutOfBag {
public:
    explicit OutOfBag(const ForestRows& rows);

    /// Trees must be added in their order. Each of the places has the row of its leaf value among those of the tree.
    void add(const ForestRows& rows, std::span<const RowIndex> places, std::span<const std::uint32_t> leaf_value_rows,
             std::span<const double> leaf_values);

    /// Goes on from what an earlier fit to the same rows added up; sums and counts are by row of the table. `totals`
    /// are those of the earlier fit, which were rounded tree by tree; without them they are found anew.
    void resume(const ForestRows& rows, std::span<const double> sums, std::span<const std::uint32_t> counts,
                std::span<const double> errors, std::span<const double> totals = {});

    /// The loss and the weight of all rows that some tree did not see.
    std::vector<double> totals() const { return {total_loss_, total_weight_}; }
    const std::vector<double>& sums() const { return sums_; }             // n_columns per place
    const std::vector<std::uint32_t>& counts() const { return counts_; }  // trees per place
    const std::vector<double>& errors() const { return errors_; }  // after each tree; NaN before any row is covered

private:
    template <class LossOf>
    void add_all(const ForestRows& rows, std::span<const RowIndex> places,
                 std::span<const std::uint32_t> leaf_value_rows, std::span<const double> leaf_values, LossOf loss_of);

    std::uint32_t n_columns_;
    std::vector<double> sums_;
    std::vector<std::uint32_t> counts_;
    std::vector<double> loss_;  // per place, of the mean prediction so far
    double total_loss_ = 0.0;
    double total_weight_ = 0.0;
    std::vector<double> errors_;
};

/// The grown_tree without the splits that cost more than they gain (Breiman's cost-complexity pruning).
void prune_by_cost(GrownTree& grown_tree, double alpha, std::uint32_t n_columns);

/// The grown_tree without the branches whose error on the given rows out of the bag is no less than their top would.
/// `factor` multiplies the weights of places, unless it is empty.
void prune_by_rows(GrownTree& grown_tree, const ForestRows& rows, std::span<const double> factor,
                   std::span<const RowIndex> places, std::span<const NodeIndex> leaves);

/// Per feature: the decrease of impurity on the rows of the bag.
void add_importances(const GrownTree& grown_tree, std::span<double> importances);

/// Per feature: how much of the target's variance in the rows out of the bag the splits explain. Chance has mean zero
/// here (Li, Wang, Basu, Kumbier, Yu 2019: MDI-oob).
void add_out_of_bag_importances(const GrownTree& grown_tree, const ForestRows& rows, std::span<const RowIndex> places,
                                std::span<const NodeIndex> leaves, std::span<double> importances);

}  // namespace coterie
