// forest/few_grower.hpp: the subtree of a node of two classes whose rows fit into one word of a set.
//
// Most nodes of a tree are small: in a tree grown to purity nine of ten splits part at most 64 rows.
#pragma once

#include <array>

#include "coterie/forest/node_writer.hpp"
#include "coterie/forest/set_search.hpp"

namespace coterie::sums {

/// A node, and what its subtree needs to know of the tree.
struct FewNode {
    NodeIndex node;
    std::uint32_t depth;
    std::uint32_t state;  // of allowed features
    ClassStatistic total;
};

class FewGrower {
public:
    explicit FewGrower(NodeWriter& writer) : writer_(writer) {}

    /// `factor`: from a gain of the score to a share of the impurity.
    template <class Search>
    void grow(const FewNode& top, std::size_t n_rows, const TransposedCodes& codes, const SetWeights& weights,
              Search& search, AllowedFeatures& allowed, double factor) {
        if (writer_.packs())
            grow<true>(top, n_rows, codes, weights, search, allowed, factor);
        else
            grow<false>(top, n_rows, codes, weights, search, allowed, factor);
    }

private:
    static constexpr std::size_t kMaxBelow = 2 * (kSetRows - 1);  // nodes below the top

    struct Waiting : FewNode {
        RowSet set;
        std::uint32_t n_rows;
    };

    template <bool kPacked, class Search>
    void grow(const FewNode& top, std::size_t n_rows, const TransposedCodes& codes, const SetWeights& weights,
              Search& search, AllowedFeatures& allowed, double factor) {
        GrownTree& tree = writer_.tree();
        // Nodes below the top are made in memory that is near, and then join the tree together.
        first_ = static_cast<NodeIndex>(tree.nodes.size());
        n_nodes_ = 0;
        top_ = top.node;
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
                search.find({&node.set, node.total, node.n_rows}, codes, weights, allowed.features(node.state));
            const double gain = split.gain * factor;
            if (split.found() && writer_.gains_enough(gain))
                split_node<kPacked>(node, split, gain, allowed);
            else if constexpr (kPacked)
                node_at(node.node).left = writer_.leaf_value_index(node.total);
        }
        tree.nodes.insert(tree.nodes.end(), nodes_.begin(), nodes_.begin() + n_nodes_);
        if constexpr (kPacked) return;
        tree.weight.insert(tree.weight.end(), weight_.begin(), weight_.begin() + n_nodes_);
        tree.gain.insert(tree.gain.end(), gain_.begin(), gain_.begin() + n_nodes_);
        tree.value.insert(tree.value.end(), value_.begin(), value_.begin() + 2 * n_nodes_);
    }

    PackedNode& node_at(NodeIndex node) { return node == top_ ? writer_.tree().nodes[top_] : nodes_[node - first_]; }

    template <bool kPacked>
    void split_node(const Waiting& node, const SetSplit& split, double gain, AllowedFeatures& allowed) {
        const NodeIndex child = first_ + n_nodes_;
        PackedNode& packed = node_at(node.node);
        writer_.write_rule(packed, child, split.feature, split.cut.last, split.missing_left);
        if constexpr (kPacked)
            writer_.write_share(packed, split.feature, split.left.weight() / node.total.weight(), gain);
        else
            (node.node == top_ ? writer_.tree().gain[top_] : gain_[node.node - first_]) = std::max(0.0, gain);
        const std::uint32_t next = allowed.after(node.state, split.feature);
        const auto n_left = static_cast<std::uint32_t>(split.n_left);
        const ClassStatistic right{node.total.word - split.left.word};
        add<kPacked>(child + 1, node.depth + 1, next, right, node.set & ~split.left_set, node.n_rows - n_left);
        add<kPacked>(child, node.depth + 1, next, split.left, split.left_set, n_left);
        n_nodes_ += 2;
    }

    // No branch depends on whether it is a leaf.
    template <bool kPacked>
    void add(NodeIndex node, std::uint32_t depth, std::uint32_t state, ClassStatistic total, RowSet set,
             std::uint32_t n) {
        const Sums sums = total.sums();
        const std::size_t own = node - first_;
        PackedNode& packed = nodes_[own];
        packed.left = PackedLeafValues::index_if_pure(total);
        packed.condition = PackedNode::kLeafFlag;
        packed.code = 0;
        packed.share = 0;
        if constexpr (!kPacked) {
            const double mean = sums.sum / sums.weight;
            weight_[own] = sums.weight;
            gain_[own] = 0.0;
            value_[2 * own] = 1.0 - mean;
            value_[2 * own + 1] = mean;
        }
        Waiting& last = waiting_[n_waiting_];
        last.node = node;
        last.depth = depth;
        last.state = state;
        last.total = total;
        last.set = set;
        last.n_rows = n;
        const std::uint64_t second = total.word >> 32;
        const bool is_pure = (second == 0) | (second == (total.word & ClassStatistic::kWeight));
        const bool is_small = writer_.is_small(depth, n, sums.weight);
        if constexpr (kPacked)
            if (is_small & !is_pure) packed.left = writer_.leaf_value_index(total);
        n_waiting_ += !(is_pure | is_small);
    }

    NodeWriter& writer_;
    NodeIndex top_ = 0;
    NodeIndex first_ = 0;    // of the nodes below
    NodeIndex n_nodes_ = 0;  // so far
    std::array<PackedNode, kMaxBelow> nodes_;
    std::array<double, kMaxBelow> weight_;
    std::array<double, kMaxBelow> gain_;
    std::array<double, 2 * kMaxBelow> value_;
    std::size_t n_waiting_ = 0;
    std::array<Waiting, kSetRows + 1> waiting_;
};

}  // namespace coterie::sums
