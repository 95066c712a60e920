// reference/walk.hpp: what a walk down a tree means, one row and one node at a time. Used by tests only.
#pragma once

#include <cmath>

#include "coterie/tree/tree.hpp"

namespace coterie::reference {

inline bool slow_goes_left(const Tree& tree, NodeIndex node, double value) {
    const bool nominal = tree.levels[node] >= 0;
    const bool known = nominal ? value >= 0 && value < kMaxBins - 1 : value == value;
    if (!known) return tree.missing_left[node] != 0;
    if (!nominal) return value <= tree.threshold[node];
    return tree.level_goes_left(tree.levels[node], static_cast<std::uint32_t>(value));
}

/// The leaf that the row reaches.
inline NodeIndex slow_leaf(const Tree& tree, const double* row) {
    NodeIndex node = 0;
    while (!tree.is_leaf(node)) {
        const bool left = slow_goes_left(tree, node, row[tree.feature[node]]);
        node = left ? tree.left[node] : tree.left[node] + 1;
    }
    return node;
}

}  // namespace coterie::reference
