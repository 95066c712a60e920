#include "coterie/boosting/growing_tree.hpp"

#include "coterie/tree/prune.hpp"

namespace coterie {

void GrowingTree::start(const Derivatives& derivatives, const TreeFacts& facts, std::optional<SumUnits> exact,
                        bool routed) {
    derivatives_ = derivatives;
    facts_ = facts;
    exact_ = exact;
    routed_ = routed;
    sums_.clear();
    leaves_.clear();
    router_.clear();
    builder_ = {};
    builder_.add_root();
}

void GrowingTree::set_sums(NodeIndex node, const NodeSums& sums) {
    if (sums_.size() <= node) sums_.resize(std::size_t{node} + 1);
    sums_[node] = sums;
}

std::array<OpenLeaf, 2> GrowingTree::commit(OpenLeaf& leaf) {
    const NodeIndex left = builder_.split(leaf.node, leaf.split, matrix_.feature(leaf.split.feature));
    if (routed_) router_.add(leaf.node, leaf.split, left);
    const NodeSums sums = rounded_sums(leaf, facts_);
    builder_.set_value(leaf.node, node_value(sums, options_) * options_.learning_rate * options_.value_unit);
    builder_.set_cover(leaf.node, sums.hessian, leaf.n_rows);
    set_sums(leaf.node, sums);
    std::array<OpenLeaf, 2> children = std::move(*leaf.children);
    children[0].node = left;
    children[1].node = left + 1;
    return children;
}

void GrowingTree::finish(const OpenLeaf& leaf) {
    const NodeSums sums = rounded_sums(leaf, facts_);
    builder_.set_cover(leaf.node, sums.hessian, leaf.n_rows);
    set_sums(leaf.node, sums);
    leaves_.push_back({.node = leaf.node, .rows = leaf.rows});
}

Tree GrowingTree::take() {
    Tree tree = builder_.finish();
    if (exact_ && tree.n_nodes() > 1) set_exact_sums();
    if (options_.leaf_penalty > 0) prune_splits(tree);
    if (routed_) router_.finish(static_cast<NodeIndex>(tree.n_nodes()));
    return tree;
}

// All leaves at once, so that workers exchange their sums once.
void GrowingTree::set_exact_sums() {
    std::vector<std::uint64_t> all;
    for (const LeafRange& leaf : leaves_) {
        const FixedSums sums = exact_sums(leaf.rows, partition_, derivatives_, *exact_);
        all.push_back(sums.gradient);
        all.push_back(sums.hessian);
    }
    slice_.sum(all);
    for (std::size_t i = 0; i < leaves_.size(); ++i) {
        sums_[leaves_[i].node].gradient = exact_->gradient.value_of(all[2 * i]);
        sums_[leaves_[i].node].hessian = exact_->hessian.value_of(all[2 * i + 1]);
    }
}

// Leaves below an undone split become one, whose rows stay where they are, in several pieces.
void GrowingTree::prune_splits(Tree& tree) {
    const auto kept_splits = splits_to_keep(tree, options_.leaf_penalty, options_.growth == Growth::oblivious);
    KeptTree kept = keep_splits(tree, kept_splits);
    if (kept.tree.n_nodes() == tree.n_nodes()) return;
    add_up(tree, sums_);
    std::vector<NodeSums> sums(kept.tree.n_nodes());
    for (auto node = static_cast<NodeIndex>(tree.n_nodes()); node-- > 0;) sums[kept.new_index[node]] = sums_[node];
    sums_ = std::move(sums);
    for (LeafRange& leaf : leaves_) leaf.node = kept.new_index[leaf.node];
    if (routed_) router_.keep(kept.tree, kept.new_index);
    tree = std::move(kept.tree);
}

}  // namespace coterie
