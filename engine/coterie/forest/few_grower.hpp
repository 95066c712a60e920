// forest/few_grower.hpp: the subtree of a node of two classes whose rows fit into one word of a set.
//
// Most nodes of a tree are small: in a tree grown to purity nine of ten splits part at most 64 rows.
#pragma once

#include <array>

#include "coterie/forest/rows.hpp"
#include "coterie/forest/set_search.hpp"

namespace coterie::sums {

/// A node, and what its subtree needs to know of the tree.
struct FewNode {
    NodeIndex node;
    std::uint32_t depth;
    std::uint32_t state;  // of allowed features
    ClassPay total;
};

class FewGrower {
public:
    FewGrower(const ForestRows& rows, const CriterionOptions& options) : rows_(rows), options_(options) {}

    /// `factor`: from a difference of scores to a share of the impurity.
    template <class Score, class Search>
    void grow(const FewNode& top, std::size_t n_rows, const TurnedCodes& codes, const SetPays& pays, Search& search,
              AllowedFeatures& allowed, double factor, Sapling& tree) {
        n_nodes_ = static_cast<NodeIndex>(tree.nodes.size());
        resize(tree, n_nodes_ + 2 * (n_rows - 1));
        n_waiting_ = 1;
        waiting_[0] = {top, ~RowSet{0} >> (kSetRows - n_rows), static_cast<std::uint32_t>(n_rows)};
        while (n_waiting_ > 0) {
            // Field by field: what was written in small pieces a moment ago is slow to read as a whole.
            const Waiting& last = waiting_[--n_waiting_];
            Waiting node;
            node.node = last.node;
            node.depth = last.depth;
            node.state = last.state;
            node.total = last.total;
            node.set = last.set;
            node.n_rows = last.n_rows;
            const SetSplit& split =
                search.find({&node.set, node.total, node.n_rows}, codes, pays, allowed.features(node.state));
            if (!split.found()) continue;
            const double gain = (split.score - Score::node(node.total.sums())) * factor;
            if (gain + criterion::kTiny >= options_.min_impurity_decrease) part(node, split, gain, allowed, tree);
        }
        resize(tree, n_nodes_);
    }

private:
    struct Waiting : FewNode {
        RowSet set;
        std::uint32_t n_rows;
    };

    static void resize(Sapling& tree, std::size_t n) {
        tree.nodes.resize(n);
        tree.weight.resize(n);
        tree.gain.resize(n);
        tree.value.resize(2 * n);
    }

    void part(const Waiting& node, const SetSplit& split, double gain, AllowedFeatures& allowed, Sapling& tree) {
        const NodeIndex child = n_nodes_;
        n_nodes_ += 2;
        PackedNode& packed = tree.nodes[node.node];
        packed.left = child;
        packed.what = PackedNode::question(split.feature, split.missing_left, rows_.n_levels[split.feature] > 0);
        packed.code = split.cut.last;
        tree.gain[node.node] = std::max(0.0, gain);
        const std::uint32_t next = allowed.after(node.state, split.feature);
        const auto n_left = static_cast<std::uint32_t>(split.n_left);
        const ClassPay right{node.total.word - split.left.word};
        add(child + 1, node.depth + 1, next, right, node.set & ~split.left_set, node.n_rows - n_left, tree);
        add(child, node.depth + 1, next, split.left, split.left_set, n_left, tree);
    }

    // No branch depends on whether it is a leaf.
    void add(NodeIndex node, std::uint32_t depth, std::uint32_t state, ClassPay total, RowSet set, std::uint32_t n,
             Sapling& tree) {
        const Sums sums = total.sums();
        const double mean = sums.sum / sums.weight;
        PackedNode& packed = tree.nodes[node];
        packed.left = 0;
        packed.what = PackedNode::kLeafFlag;
        packed.code = 0;
        packed.share = 0;
        tree.weight[node] = sums.weight;
        tree.gain[node] = 0.0;
        tree.value[2 * node] = 1.0 - mean;
        tree.value[2 * node + 1] = mean;
        Waiting& last = waiting_[n_waiting_];
        last.node = node;
        last.depth = depth;
        last.state = state;
        last.total = total;
        last.set = set;
        last.n_rows = n;
        const std::uint64_t second = total.word >> 32;
        const bool is_leaf = (second == 0) | (second == (total.word & ClassPay::kWeight)) |
                             (depth >= options_.max_depth) | (n < options_.min_rows_split) |
                             (n < 2 * options_.min_rows_leaf) | (sums.weight < 2 * options_.min_weight_leaf);
        n_waiting_ += !is_leaf;
    }

    const ForestRows& rows_;
    const CriterionOptions& options_;
    NodeIndex n_nodes_ = 0;
    std::size_t n_waiting_ = 0;
    std::array<Waiting, kSetRows + 1> waiting_;
};

}  // namespace coterie::sums
