// exact/criterion_split.hpp: one node of a criterion tree: draw features, choose the split, part the rows.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "coterie/exact/criterion_node.hpp"
#include "coterie/exact/criterion_tree.hpp"
#include "coterie/split/criterion_search.hpp"

namespace coterie::criterion {

/// What all nodes of one tree share. Nodes own disjoint ranges of `rows` and `twin`, so threads do not meet.
struct Training {
    const CodeColumns& table;
    const Targets& targets;
    const CriterionOptions& options;
    std::vector<double> shift;
    double total_weight = 0.0;
    std::vector<RowIndex> rows;
    std::vector<RowIndex> twin;
    RowValues values;  // of the rows, if thresholds are drawn from them
};

using FeatureFlags = std::vector<std::uint8_t>;

/// A node of the growing tree, with the split that would part it.
struct OpenNode {
    NodeIndex node = 0;
    std::size_t begin = 0;
    std::size_t end = 0;
    std::uint32_t depth = 0;
    std::uint64_t path = 0;     // names the way from the root, for randomness
    double lower = kForbidden;  // bounds of its value under monotone constraints
    double upper = -kForbidden;
    std::shared_ptr<const FeatureFlags> constant;  // features known not to vary here
    std::vector<std::uint32_t> sets;               // interaction sets that the path still fits
    NodeSummary summary;

    bool splits = false;  // the rest means something only if it does
    FeatureIndex feature = 0;
    FeatureSplit split;
    double gain = 0.0;
    std::size_t middle = 0;  // where the right child's rows begin
    NodeSummary left;
    NodeSummary right;

    std::size_t n_rows() const { return end - begin; }
};

/// Searches nodes, one after the other; holds the scratch for that.
class NodeSearch {
public:
    NodeSearch(Training& training, int n_threads);

    /// Decides whether the node splits, and if so how; then its rows are parted and its children summed up.
    void search(OpenNode& node, StopRequest& stop);

private:
    struct Choice {
        FeatureIndex feature = 0;
        FeatureSplit split;
    };

    bool may_split(const OpenNode& node) const;
    void list_features(const OpenNode& node);
    Choice choose(OpenNode& node, StopRequest& stop);
    void try_features(const OpenNode& node, std::span<const FeatureIndex> features, StopRequest& stop);
    void draw_all_features(const OpenNode& node, std::span<const FeatureIndex> features);
    SplitLimits limits_of(const OpenNode& node) const;
    FeatureSplit try_feature(const OpenNode& node, FeatureIndex feature, FeatureSearch& search) const;
    void partition_rows(OpenNode& node);

    Training& training_;
    int n_threads_;
    NodeRows node_rows_;
    std::uint64_t node_seed_ = 0;                           // of the thresholds that the node draws
    std::vector<std::unique_ptr<FeatureSearch>> searches_;  // one per thread
    std::vector<FeatureIndex> features_;
    std::vector<FeatureSplit> found_;
};

/// Grows a tree from training.rows, the places of its rows in ascending order; an empty list of features means all.
Tree grow_rows(Training& training, StopRequest& stop);

}  // namespace coterie::criterion
