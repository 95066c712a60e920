// boosting/shared_split.hpp: one split by the sum of what it gains: for the leaves of one depth, or
// for the outputs of a leaf.
//
// A leaf where a child would be too light gains nothing, and does not stop the others. Levels of a nominal feature
// are sorted once. For the leaves of one depth that is by their sums over all of them, which are the sums of the whole
// tree; for outputs, by the sums of the one output whose levels differ most.
#pragma once

#include <functional>
#include <span>

#include "coterie/boosting/split_rules.hpp"

namespace coterie {

/// Leaves, or the outputs of one leaf, that are to have one split.
struct SharedLeaves {
    std::span<const LeafCells> leaves;
    const OpenLeaf& first;                // stands for all of them when features and noise are drawn
    std::span<const LeafCells> sorters;   // one of them sorts the levels of a nominal feature
    std::span<const double> level_costs;  // per sorter: what sorting one more level by noise alone would gain
    std::function<const Cell*(std::size_t)> build = {};  // the cells of a leaf without any; good until the next call
};

struct GainSums;

class SharedSplitSearch {
public:
    SharedSplitSearch(const BinnedMatrix& matrix, const HistogramLayout& layout, const SplitRules& rules,
                      const RowPartition& partition)
        : matrix_(matrix), layout_(layout), rules_(rules), partition_(partition) {}

    /// The split that gains most when all leaves share it; its gain is the sum of theirs, and nothing if there is none.
    Split find(const SharedLeaves& shared, Scratch& scratch, int n_threads) const;

    /// The sums that the shared split sends left in one leaf, which need not have cells.
    Cell left_total(const Split& shared, const LeafCells& leaf) const;

    /// What one leaf gains by the shared split, which sends these sums left.
    double gain_of(const Split& shared, const OpenLeaf& leaf, Cell left_total) const;

private:
    struct Task;
    template <class Each>
    void for_features(std::uint32_t bundle, const Cell* cells, const Task& task, std::span<GainSums> sums,
                      Each each) const;
    void start_bundle(std::uint32_t bundle, const Task& task, std::span<GainSums> sums) const;
    void add_bundle(std::uint32_t bundle, const Cell* cells, std::size_t k, const Task& task,
                    std::span<GainSums> sums) const;
    void choose_of_bundle(std::uint32_t bundle, const Task& task, std::span<const GainSums> sums,
                          std::span<Candidate> candidates) const;
    void sum_at_once(const Task& task, int n_threads, std::span<Candidate> candidates) const;
    void sum_one_by_one(const Task& task, int n_threads, std::span<Candidate> candidates) const;
    const Cell* feature_cells(const LeafCells& leaf, FeatureIndex feature, BundleCells& bundle_scratch) const;
    Candidate count_feature(FeatureIndex feature, const Task& task) const;
    void start_sums(FeatureIndex feature, const Cell* own, std::size_t k, const Task& task, GainSums& sums) const;
    Candidate best_of(const GainSums& sums, FeatureIndex feature, const Task& task) const;
    void add_leaf(FeatureIndex feature, const Cell* own, std::size_t k, const Task& task, const RowCounts& rows,
                  GainSums& sums) const;
    double seeming_gain(const Task& task) const;
    bool exceeds_rounding(const Split& split, const SharedLeaves& shared) const;
    bool keeps_enough_rows(const Split& split, const Task& task, Scratch& scratch, int n_threads) const;

    const BinnedMatrix& matrix_;
    const HistogramLayout& layout_;
    const SplitRules& rules_;
    const RowPartition& partition_;
};

}  // namespace coterie
