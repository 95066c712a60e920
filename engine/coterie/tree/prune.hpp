// tree/prune.hpp: grown trees without their weak splits. Trees grown by a criterion have minimal cost-complexity
// pruning (Breiman, Friedman, Olshen and Stone, 1984, chapter 3); those of boosting a price for each leaf.
//
// Words
//   cost     of a node: its impurity times its share of the weight; of a branch: the sum over its leaves
//   strength of a split: what its branch saves per leaf it has more than one, (cost of node - cost of branch) /
//            (leaves - 1); the weakest split is pruned first
#pragma once

#include <cstdint>
#include <vector>

#include "coterie/tree/tree.hpp"

namespace coterie {

/// The strength of each pruned split, weakest first, and the total cost of the leaves after it; starts with 0
/// and the whole tree.
struct PruningPath {
    std::vector<double> alphas;
    std::vector<double> impurities;
};

/// Needs tree.impurity, as trees grown by a criterion have it.
PruningPath pruning_path(const Tree& tree);

/// The tree without the splits of strength at most alpha.
Tree prune(const Tree& tree, double alpha);

/// A part of a tree, and the node of it that has the rows of each old node.
struct KeptTree {
    Tree tree;
    std::vector<NodeIndex> new_index;
};

/// The tree with the splits that are kept; where one is not, neither is any split below it.
KeptTree keep_splits(const Tree& tree, const std::vector<std::uint8_t>& kept);

/// Which splits are worth their leaves, from the bottom up: the gain of what is kept of a split's branch must be more
/// than `leaf_penalty` for each leaf that the branch adds. `by_level`: splits of one depth stay or go together.
std::vector<std::uint8_t> splits_to_keep(const Tree& tree, double leaf_penalty, bool by_level);

}  // namespace coterie
