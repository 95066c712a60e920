// growth/prune.hpp: minimal cost-complexity pruning (Breiman, Friedman, Olshen and Stone, 1984, chapter 3).
//
// Words
//   cost     of a node: its impurity times its share of the weight; of a branch: the sum over its leaves
//   strength of a split: what its branch saves per leaf it has more than one, (cost of node - cost of branch) /
//            (leaves - 1); the weakest split is pruned first
#pragma once

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

}  // namespace coterie
