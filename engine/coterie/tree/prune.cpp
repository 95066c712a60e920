#include "coterie/tree/prune.hpp"

#include <algorithm>
#include <queue>
#include <tuple>

#include "coterie/base/error.hpp"

namespace coterie {
namespace {

struct Candidate {
    double strength;
    std::uint32_t rank;  // position in the depth-first order, which decides ties
    NodeIndex node;
    std::uint32_t version;

    friend bool operator>(const Candidate& a, const Candidate& b) {
        return std::tie(a.strength, a.rank) > std::tie(b.strength, b.rank);
    }
};

std::vector<std::uint32_t> depth_first_ranks(const Tree& tree) {
    std::vector<std::uint32_t> rank(tree.n_nodes());
    std::vector<NodeIndex> stack = {0};
    for (std::uint32_t next = 0; !stack.empty(); ++next) {
        const NodeIndex node = stack.back();
        stack.pop_back();
        rank[node] = next;
        if (tree.is_leaf(node)) continue;
        stack.push_back(tree.left[node] + 1);
        stack.push_back(tree.left[node]);
    }
    return rank;
}

// Splits in a heap by strength. When a branch goes, its ancestors change; their old entries are outdated and
// skipped, so a pruned split costs the log of the tree's size for each of its ancestors.
class WeakestFirst {
public:
    explicit WeakestFirst(const Tree& tree)
        : tree_(tree),
          rank_(depth_first_ranks(tree)),
          parent_(tree.n_nodes(), 0),
          n_leaves_(tree.n_nodes(), 1),
          version_(tree.n_nodes(), 0),
          is_split_(tree.n_nodes()) {
        require(tree.impurity.size() == tree.n_nodes(), "Only a tree that knows its impurities can be pruned.");
        for (NodeIndex node = 0; node < tree.n_nodes(); ++node) {
            cost_.push_back(tree.cover[node] * tree.impurity[node] / tree.cover[0]);
            is_split_[node] = !tree.is_leaf(node);
            if (is_split_[node]) parent_[tree.left[node]] = parent_[tree.left[node] + 1] = node;
        }
        branch_cost_ = cost_;
        for (auto node = static_cast<NodeIndex>(tree.n_nodes()); node-- > 0;) {  // children come after parents
            if (!is_split_[node]) continue;
            const NodeIndex left = tree.left[node];
            n_leaves_[node] = n_leaves_[left] + n_leaves_[left + 1];
            branch_cost_[node] = branch_cost_[left] + branch_cost_[left + 1];
            push(node);
        }
    }

    double total_cost() const { return branch_cost_[0]; }
    bool is_split(NodeIndex node) const { return is_split_[node]; }

    /// The weakest split's strength; false if none is left.
    bool weakest(double& strength) {
        while (!heap_.empty() && is_outdated(heap_.top())) heap_.pop();
        if (heap_.empty()) return false;
        strength = heap_.top().strength;
        return true;
    }

    void prune_weakest() {
        const NodeIndex node = heap_.top().node;
        heap_.pop();
        const std::uint32_t leaves_less = n_leaves_[node] - 1;
        const double more_cost = cost_[node] - branch_cost_[node];
        make_leaf(node);
        branch_cost_[node] = cost_[node];
        n_leaves_[node] = 1;
        for (NodeIndex above = node; above != 0;) {
            above = parent_[above];
            n_leaves_[above] -= leaves_less;
            branch_cost_[above] += more_cost;
            ++version_[above];
            push(above);
        }
    }

private:
    void push(NodeIndex node) {
        const double strength = (cost_[node] - branch_cost_[node]) / (n_leaves_[node] - 1);
        heap_.push({.strength = strength, .rank = rank_[node], .node = node, .version = version_[node]});
    }

    bool is_outdated(const Candidate& candidate) const {
        return !is_split_[candidate.node] || candidate.version != version_[candidate.node];
    }

    void make_leaf(NodeIndex top) {
        std::vector<NodeIndex> stack = {top};
        while (!stack.empty()) {
            const NodeIndex node = stack.back();
            stack.pop_back();
            if (!is_split_[node]) continue;
            is_split_[node] = false;
            stack.push_back(tree_.left[node]);
            stack.push_back(tree_.left[node] + 1);
        }
    }

    const Tree& tree_;
    std::vector<std::uint32_t> rank_;
    std::vector<NodeIndex> parent_;
    std::vector<std::uint32_t> n_leaves_;
    std::vector<std::uint32_t> version_;
    std::vector<bool> is_split_;
    std::vector<double> cost_;
    std::vector<double> branch_cost_;
    std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> heap_;
};

void copy_node(const Tree& from, NodeIndex node, Tree& to) {
    to.feature.push_back(kLeaf);
    to.threshold.push_back(0.0);
    to.levels.push_back(-1);
    to.missing_left.push_back(0);
    to.left.push_back(0);
    to.gain.push_back(0.0);
    to.cover.push_back(from.cover[node]);
    to.n_rows.push_back(from.n_rows[node]);
    if (!from.impurity.empty()) to.impurity.push_back(from.impurity[node]);
    const auto value = from.values_of(node);
    to.value.insert(to.value.end(), value.begin(), value.end());
}

void copy_split(const Tree& from, NodeIndex old_node, Tree& to, NodeIndex new_node) {
    to.feature[new_node] = from.feature[old_node];
    to.threshold[new_node] = from.threshold[old_node];
    to.missing_left[new_node] = from.missing_left[old_node];
    to.gain[new_node] = from.gain[old_node];
    to.left[new_node] = static_cast<NodeIndex>(to.n_nodes());
    if (from.levels[old_node] < 0) return;
    to.levels[new_node] = static_cast<std::int32_t>(to.level_bits.size() / 4);
    const auto bits = from.level_bits.begin() + std::ptrdiff_t{from.levels[old_node]} * 4;
    to.level_bits.insert(to.level_bits.end(), bits, bits + 4);
}

}  // namespace

PruningPath pruning_path(const Tree& tree) {
    WeakestFirst splits(tree);
    PruningPath path{.alphas = {0.0}, .impurities = {splits.total_cost()}};
    for (double strength; splits.weakest(strength);) {
        splits.prune_weakest();
        path.alphas.push_back(strength);
        path.impurities.push_back(splits.total_cost());
    }
    return path;
}

Tree prune(const Tree& tree, double alpha) {
    WeakestFirst splits(tree);
    for (double strength; splits.weakest(strength) && strength <= alpha;) splits.prune_weakest();
    std::vector<std::uint8_t> kept(tree.n_nodes());
    for (NodeIndex node = 0; node < tree.n_nodes(); ++node) kept[node] = splits.is_split(node);
    return keep_splits(tree, kept).tree;
}

KeptTree keep_splits(const Tree& tree, const std::vector<std::uint8_t>& kept) {
    KeptTree part{.tree = {}, .new_index = std::vector<NodeIndex>(tree.n_nodes(), 0)};
    Tree& pruned = part.tree;
    pruned.n_outputs = tree.n_outputs;
    copy_node(tree, 0, pruned);
    std::vector<NodeIndex> stack = {0};
    while (!stack.empty()) {
        const NodeIndex node = stack.back();
        stack.pop_back();
        if (tree.is_leaf(node) || !kept[node]) continue;
        copy_split(tree, node, pruned, part.new_index[node]);
        for (const NodeIndex child : {tree.left[node], tree.left[node] + 1}) {
            part.new_index[child] = static_cast<NodeIndex>(pruned.n_nodes());
            copy_node(tree, child, pruned);
        }
        stack.push_back(tree.left[node] + 1);
        stack.push_back(tree.left[node]);
    }
    for (NodeIndex node = 0; node < tree.n_nodes(); ++node) {  // children come after their parent
        if (tree.is_leaf(node) || !pruned.is_leaf(part.new_index[node])) continue;
        part.new_index[tree.left[node]] = part.new_index[tree.left[node] + 1] = part.new_index[node];
    }
    return part;
}

std::vector<std::uint8_t> splits_to_keep(const Tree& tree, double leaf_penalty, bool by_level) {
    // One group of splits is undone or kept as a whole: a split by itself, or all of one depth.
    const std::vector<std::uint32_t> depth = depths(tree);
    const auto group_of = [&](NodeIndex node) { return by_level ? depth[node] : node; };
    std::vector<double> worth(tree.n_nodes() + 1, 0.0);  // of what is kept of the group and below it
    for (auto node = static_cast<NodeIndex>(tree.n_nodes()); node-- > 0;)
        if (!tree.is_leaf(node)) worth[group_of(node)] += tree.gain[node] - leaf_penalty;
    for (auto node = static_cast<NodeIndex>(tree.n_nodes()); node-- > 0;) {
        if (by_level)
            worth[node] += worth[node + 1];
        else if (!tree.is_leaf(node))
            worth[node] += worth[tree.left[node]] + worth[tree.left[node] + 1];
        worth[node] = std::max(worth[node], 0.0);
    }
    std::vector<std::uint8_t> kept(tree.n_nodes());
    for (NodeIndex node = 0; node < tree.n_nodes(); ++node)
        kept[node] = !tree.is_leaf(node) && worth[group_of(node)] > 0;
    return kept;
}

}  // namespace coterie
