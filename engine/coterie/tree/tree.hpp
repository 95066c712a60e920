// tree/tree.hpp: a finished tree. Growers build it, then nobody changes it; prediction, SHAP, drawing,
// storage and export all read the same arrays.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "coterie/base/types.hpp"

namespace coterie {

inline constexpr std::int32_t kLeaf = -1;

/// Parallel arrays, one entry per node, root at 0. The right child of a split is left + 1.
struct Tree {
    std::uint32_t n_outputs = 1;
    std::vector<std::int32_t> feature;       // kLeaf at a leaf
    std::vector<double> threshold;           // numeric split: rows with value <= threshold go left
    std::vector<std::int32_t> levels;        // nominal split: index of the set of levels going left, else -1
    std::vector<std::uint8_t> missing_left;  // where a missing (or never seen) value goes
    std::vector<NodeIndex> left;             // 0 at a leaf
    std::vector<double> value;               // n_outputs per node: what the node would answer as a leaf
    std::vector<double> gain;                // how much the split improves the objective, 0 at a leaf
    std::vector<double> cover;               // weight (hessian) of the training rows in the node
    std::vector<std::uint32_t> n_rows;       // number of training rows in the node
    std::vector<double> impurity;            // of the node, for trees grown by a criterion; empty otherwise
    std::vector<std::uint64_t> level_bits;   // sets of levels, four words (256 levels) each

    std::size_t n_nodes() const { return feature.size(); }
    bool is_leaf(NodeIndex node) const { return feature[node] == kLeaf; }
    bool level_goes_left(std::int32_t set, std::uint32_t level) const {
        return level_bits[static_cast<std::size_t>(set) * 4 + level / 64] >> (level % 64) & 1u;
    }
    std::span<const double> answer(NodeIndex node) const {
        return {value.data() + static_cast<std::size_t>(node) * n_outputs, n_outputs};
    }
};

/// Depth of each node, root 0. Children always come after their parent.
std::vector<std::uint32_t> depths(const Tree& tree);

/// Throws InvalidInput unless the arrays agree in length, children lie inside and after their parent, and
/// features and level sets exist. Everything that reads a tree from outside the engine calls this first.
void validate(const Tree& tree, std::size_t n_features);

}  // namespace coterie
