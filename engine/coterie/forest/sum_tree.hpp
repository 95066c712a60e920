// forest/sum_tree.hpp: the fast way to grow a forest's tree, for one output whose rows add up to sums: one sum for two
// classes and for numbers with squared or Poisson error, one for each class of several.
//
// Words
//   record   a row of the bag: what it adds to sums, and where its codes are
//   coarse   a code without its last bits, at most 127 of them: what large nodes are searched by (sum_cells.hpp)
//   block    the codes of a few thousand rows, copied side by side: the rest of the subtree is grown in it
//
// Steps
//   1. Targets become whole numbers, so sums are exact and depend on no order.
//   2. Large nodes fill dense cells for a few features at a time; smaller ones only the cells that they touch; the
//      smallest sort their codes. The best coarse split is then made exact: the rows of the two cells beside it are
//      sorted by code.
//   3. Of two classes, a subtree of at most 64 rows is grown on sets of rows (few_grower.hpp). All nodes of trees with
//      random thresholds are such sets (set_grower.hpp).
//   4. Rows out of the bag walk the tree when it is done (out_rows.hpp).
#pragma once

#include <memory>

#include "coterie/forest/forest_columns.hpp"
#include "coterie/forest/rows.hpp"

namespace coterie {

/// Whether this grower takes the task.
bool sums_up(const criterion::Targets& targets, const CriterionOptions& options);

/// Whether it reads the table by column, if weights are whole numbers.
bool reads_columns(const criterion::Targets& targets, const CriterionOptions& options);

/// Grows trees one after the other; holds the scratch of one thread.
class SumTreeGrower {
public:
    virtual ~SumTreeGrower() = default;
    /// The grown_tree is the grower's, which lets the next one grow in the same memory.
    virtual GrownTree& grow(const Bag& bag, std::vector<std::uint16_t> ranks, Cancellation& cancellation) = 0;
};

/// Whole numbers that stand for the targets of a forest.
struct WholeTargets {
    std::vector<double> value;  // per place
    double unit = 1.0;          // value times unit plus centre is the target
    double centre = 0.0;
};
WholeTargets whole_targets(const ForestRows& rows, Criterion criterion, std::size_t n_draws);

/// `whole_weights`: every bag weighs its rows in whole numbers.
std::unique_ptr<SumTreeGrower> make_sum_tree_grower(const ForestRows& rows, const WholeTargets& targets,
                                                    const ForestTreeOptions& options, const PackedForest& forest,
                                                    bool whole_weights, const ForestColumns& columns);

}  // namespace coterie
