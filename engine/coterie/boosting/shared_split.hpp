// boosting/shared_split.hpp: one split by the sum of what it gains: for all leaves of a level, or for all outputs of a
// leaf.
//
// A leaf where a child would be too light gains nothing, and does not stop the others. Categories of a nominal feature
// are sorted once. For the leaves of a level that is by their sums over all of them, which are the sums of the whole
// tree; for outputs, by the sums of the one output whose categories differ most.
#pragma once

#include <span>

#include "coterie/boosting/split_rules.hpp"

namespace coterie {

/// Leaves, or the outputs of one leaf, that are to have one split.
struct SharedLeaves {
    std::span<const LeafCells> leaves;
    const OpenLeaf& first;                   // stands for all of them when features and noise are drawn
    std::span<const LeafCells> sorters;      // one of them sorts the categories of a nominal feature
    std::span<const double> category_costs;  // per sorter: what sorting one more category by noise alone would gain
};

struct GainSums;

class SharedSplitSearch {
public:
    SharedSplitSearch(const BinnedMatrix& matrix, const HistogramLayout& layout, const SplitRules& rules,
                      const RowPartition& partition)
        : matrix_(matrix), layout_(layout), rules_(rules), partition_(partition) {}

    /// The split that gains most when all leaves share it; its gain is the sum of theirs, and nothing if there is none.
    Split find(const SharedLeaves& shared, Scratch& scratch, int n_threads) const;

    /// The shared split as one leaf sees it: what it sends left, and what it gains.
    Split own_part(const Split& shared, const LeafCells& leaf) const;

private:
    struct Task;
    void sum_lane(std::uint32_t lane, const Task& task, std::span<Candidate> candidates) const;
    Candidate count_feature(FeatureIndex feature, const Task& task) const;
    void start_sums(FeatureIndex feature, const Cell* own, std::size_t k, const Task& task, GainSums& sums) const;
    Candidate best_of(const GainSums& sums, FeatureIndex feature, const Task& task) const;
    void add_leaf(FeatureIndex feature, const Cell* own, std::size_t k, const Task& task, const RowCounts& rows,
                  GainSums& sums) const;
    bool keeps_enough_rows(const Split& split, const Task& task, Scratch& scratch, int n_threads) const;

    const BinnedMatrix& matrix_;
    const HistogramLayout& layout_;
    const SplitRules& rules_;
    const RowPartition& partition_;
};

}  // namespace coterie
