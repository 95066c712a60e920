// boosting/tree_builder.hpp: a tree while it grows: nodes are added and split, then it is handed over.
#pragma once

#include "coterie/binning/binned_matrix.hpp"
#include "coterie/split/split.hpp"
#include "coterie/tree/tree.hpp"

namespace coterie {

class TreeBuilder {
public:
    NodeIndex add_root() { return add_node(); }

    /// Makes the node a split; returns its left child, the right one is next to it.
    NodeIndex split(NodeIndex node, const Split& split, const FeatureBins& bins);

    void set_cover(NodeIndex node, double cover, std::size_t n_rows) {
        tree_.cover[node] = cover;
        tree_.n_rows[node] = static_cast<std::uint32_t>(n_rows);
    }
    void set_value(NodeIndex node, double value) { tree_.value[node] = value; }

    Tree finish() { return std::move(tree_); }

private:
    NodeIndex add_node();

    Tree tree_;
};

}  // namespace coterie
