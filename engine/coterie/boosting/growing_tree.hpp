// boosting/growing_tree.hpp: a tree while its leaves are split and finished: nodes, their sums, the rows of leaves.
#pragma once

#include <optional>
#include <vector>

#include "coterie/boosting/leaf_sums.hpp"
#include "coterie/boosting/tree_builder.hpp"

namespace coterie {

class GrowingTree {
public:
    /// The rows of a finished leaf, or of one of the leaves that became it.
    struct LeafRange {
        NodeIndex node;
        RowRange rows;
    };

    GrowingTree(const BinnedMatrix& matrix, const GrowOptions& options, const RowPartition& partition,
                const Slice& slice)
        : matrix_(matrix), options_(options), partition_(partition), slice_(slice), router_(matrix) {}

    /// Begins a tree with its root, node 0. `exact`, if there are any: the units in which unrounded derivatives are
    /// added up for the sums of leaves. `routed`: some rows take no part, and are routed to their leaves afterwards.
    void start(const Derivatives& derivatives, const TreeFacts& facts, std::optional<SumUnits> exact, bool routed);

    /// Makes the leaf a split, and gives its prepared children their nodes.
    std::array<OpenLeaf, 2> commit(OpenLeaf& leaf);

    /// The leaf stays one.
    void finish(const OpenLeaf& leaf);

    /// The finished tree: without the splits that are not worth `leaf_penalty`. Values of leaves are not set.
    Tree take();

    std::span<NodeSums> sums() { return sums_; }
    std::span<const LeafRange> leaves() const { return leaves_; }
    const RowRouter& router() const { return router_; }

private:
    void set_sums(NodeIndex node, const NodeSums& sums);
    void set_exact_sums();
    void prune_splits(Tree& tree);

    const BinnedMatrix& matrix_;
    const GrowOptions& options_;
    const RowPartition& partition_;
    Slice slice_;
    RowRouter router_;
    TreeBuilder builder_;
    Derivatives derivatives_;
    TreeFacts facts_;
    std::optional<SumUnits> exact_;
    bool routed_ = false;
    std::vector<NodeSums> sums_;  // by node
    std::vector<LeafRange> leaves_;
};

}  // namespace coterie
