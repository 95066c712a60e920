// forest/node_writer.hpp: what the growers write of the nodes of a tree, and which nodes are too small to be split.
//
// A tree has the weight, gain and value of every node, for pruning and measures out of bag; or it is packed while it
// grows, if nobody needs them: a leaf names its value, a split has the share of its left side, and importances are
// added up on the way.
#pragma once

#include <algorithm>
#include <cmath>

#include "coterie/forest/leaf_value_table.hpp"
#include "coterie/forest/rows.hpp"
#include "coterie/forest/sums.hpp"

namespace coterie::sums {

/// The leaf values of a tree of two classes that is packed while it grows: those of pure leaves are the first two.
class PackedLeafValues {
public:
    PackedLeafValues() : table_(2, true) {
        for (const std::uint64_t word : {std::uint64_t{1}, std::uint64_t{1} << 32 | 1}) index_of({word});
    }
    std::uint32_t index_of(ClassStatistic total) {
        const Sums sums = total.sums();
        const double mean = sums.sum / sums.weight;
        const double value[2] = {1.0 - mean, mean};
        return table_.index_of(value);
    }
    /// Of a leaf that is pure; any index otherwise.
    static std::uint32_t index_if_pure(ClassStatistic total) { return total.word >> 32 != 0; }
    std::vector<double> take() { return std::move(table_.leaf_values); }

private:
    LeafValueTable table_;
};

class NodeWriter {
public:
    NodeWriter(const ForestRows& rows, const CriterionOptions& options) : rows_(rows), options_(options) {}
    NodeWriter(const NodeWriter&) = delete;

    GrownTree& tree() { return tree_; }
    const GrownTree& tree() const { return tree_; }
    bool packs() const { return packs_; }

    /// Keeps the memory of the last tree.
    void start(std::vector<std::uint16_t> ranks, bool packs, double weight) {
        tree_.clear();
        tree_.ranks = std::move(ranks);
        packs_ = packs;
        if (!packs) return;
        leaf_values_ = PackedLeafValues();
        tree_.importances.assign(rows_.n_features(), 0.0);
        tree_.weight.push_back(weight);
    }
    void finish() {
        if (packs_) tree_.leaf_values = leaf_values_.take();
    }

    /// Whether the options leave such a node a leaf. No branch: growers of small nodes call it for every node.
    bool is_small(std::uint32_t depth, std::size_t n_rows, double weight) const {
        return (depth >= options_.max_depth) | (n_rows < options_.min_rows_split) |
               (n_rows < 2 * options_.min_rows_leaf) | (weight < 2 * options_.min_weight_leaf);
    }
    bool gains_enough(double gain) const { return gain + criterion::kTiny >= options_.min_impurity_decrease; }

    /// A leaf so far, whose value is still to be pushed.
    NodeIndex add(double weight) {
        const auto node = static_cast<NodeIndex>(tree_.nodes.size());
        tree_.nodes.push_back({.left = 0, .condition = PackedNode::kLeafFlag});
        if (packs_) return node;
        tree_.weight.push_back(weight);
        tree_.gain.push_back(0.0);
        return node;
    }
    /// Of two classes.
    NodeIndex add(Sums sums) {
        const NodeIndex node = add(sums.weight);
        if (packs_) return node;
        const double mean = sums.sum / sums.weight;
        tree_.value.push_back(1.0 - mean);
        tree_.value.push_back(mean);
        return node;
    }

    /// A node stays a leaf.
    void close(NodeIndex node, ClassStatistic total) {
        if (packs_) tree_.nodes[node].left = leaf_value_index(total);
    }
    std::uint32_t leaf_value_index(ClassStatistic total) { return leaf_values_.index_of(total); }

    /// `code`: the last that goes left.
    void write_rule(PackedNode& node, NodeIndex left, FeatureIndex feature, std::uint32_t code,
                    bool missing_left) const {
        node.left = left;
        node.condition = PackedNode::split_on(feature, missing_left, rows_.n_levels[feature] > 0);
        node.code = static_cast<std::uint16_t>(code);
    }
    /// Of a split in a tree that is packed.
    void write_share(PackedNode& node, FeatureIndex feature, double left_share, double gain) {
        node.set_share(left_share);
        tree_.importances[feature] += std::max(0.0, gain);
    }
    /// Beside very heavy rows the weight of a side may round to nothing, and its score to infinity.
    static double gain_of(double gain) { return std::isfinite(gain) ? std::max(0.0, gain) : 0.0; }

private:
    const ForestRows& rows_;
    const CriterionOptions& options_;
    GrownTree tree_;
    bool packs_ = false;
    PackedLeafValues leaf_values_;
};

}  // namespace coterie::sums
