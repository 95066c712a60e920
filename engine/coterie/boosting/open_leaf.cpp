#include "coterie/boosting/open_leaf.hpp"

#include <algorithm>

#include "coterie/boosting/leaf_values.hpp"

namespace coterie {

std::array<OpenLeaf, 2> children_of(const OpenLeaf& leaf, const std::array<RowRange, 2>& rows,
                                    const GrowOptions& options) {
    std::array<OpenLeaf, 2> children;
    for (std::uint32_t side = 0; side < 2; ++side) {
        OpenLeaf& child = children[side];
        child.draw_key = child_draw_key(leaf.draw_key, side);
        child.depth = leaf.depth + 1;
        child.rows = rows[side];
        child.n_rows = rows[side].n;
        child.bounds = leaf.bounds;
        for (const std::uint32_t set : leaf.sets)
            if (std::ranges::count(options.interaction_sets[set], leaf.split.feature)) child.sets.push_back(set);
    }
    return children;
}

OpenLeaf root_leaf(NodeIndex node, const RowRange& rows, const GrowOptions& options) {
    OpenLeaf root;
    root.node = node;
    root.rows = rows;
    root.n_rows = rows.n;
    root.bounds = bounds_of(options);
    for (std::uint32_t set = 0; set < options.interaction_sets.size(); ++set) root.sets.push_back(set);
    return root;
}

}  // namespace coterie
