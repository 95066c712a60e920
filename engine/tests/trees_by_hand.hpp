// tests/trees_by_hand.hpp: small trees that one can draw.
#pragma once

#include <limits>

#include "coterie/tree/tree.hpp"

namespace coterie::tests {

inline Tree leaf_only(double value) {
    Tree tree;
    tree.feature = {kLeaf};
    tree.threshold = {0};
    tree.levels = {-1};
    tree.missing_left = {0};
    tree.left = {0};
    tree.value = {value};
    tree.gain = {0};
    tree.cover = {1};
    tree.n_rows = {1};
    return tree;
}

inline void split(Tree& tree, NodeIndex node, std::int32_t feature, double threshold, bool missing_left,
                  double left_value, double right_value) {
    tree.feature[node] = feature;
    tree.threshold[node] = threshold;
    tree.missing_left[node] = missing_left;
    tree.left[node] = static_cast<NodeIndex>(tree.n_nodes());
    tree.gain[node] = 1;
    for (const double value : {left_value, right_value}) {
        const Tree leaf = leaf_only(value);
        tree.feature.push_back(kLeaf);
        tree.threshold.push_back(0);
        tree.levels.push_back(-1);
        tree.missing_left.push_back(0);
        tree.left.push_back(0);
        tree.value.push_back(leaf.value[0]);
        tree.gain.push_back(0);
        tree.cover.push_back(1);
        tree.n_rows.push_back(1);
    }
}

/// x0 <= 1.5 (missing left)
///   leaf 10
///   x1 <= 0.5 (missing right)
///     leaf 20
///     leaf 30
inline Tree two_splits() {
    Tree tree = leaf_only(0);
    split(tree, 0, 0, 1.5, true, 10, 25);
    split(tree, 2, 1, 0.5, false, 20, 30);
    return tree;
}

/// The same; leaf 1 predicts 10 + 2 * (x0 - 1) for x0 from 0 to 1.5, but at most 10.5.
inline Tree two_splits_and_a_line() {
    Tree tree = two_splits();
    const double endless = std::numeric_limits<double>::infinity();
    tree.linear = {.first_term = {0, 0, 1, 1, 1, 1},
                   .base = {0, 10, 0, 0, 0},
                   .low = std::vector<double>(5, -endless),
                   .high = {endless, 10.5, endless, endless, endless},
                   .feature = {0},
                   .slope = {2},
                   .centre = {1},
                   .least = {0},
                   .most = {1.5}};
    return tree;
}

/// x0 in {0, 2, 70} goes left (missing right)
///   leaf 1
///   leaf 2
inline Tree one_set() {
    Tree tree = leaf_only(0);
    split(tree, 0, 0, std::numeric_limits<double>::quiet_NaN(), false, 1, 2);
    tree.levels[0] = 0;
    tree.level_bits = {std::uint64_t{0b101}, std::uint64_t{1} << 6, 0, 0};
    return tree;
}

}  // namespace coterie::tests
