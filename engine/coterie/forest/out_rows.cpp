#include "coterie/forest/out_rows.hpp"

#include <algorithm>
#include <array>

namespace coterie {

// Eight rows walk side by side; where one has arrived the next begins. To part the rows along with those of the bag, at
// every split of a large node, takes as long: each time they are read from far away.
void walk_out_of_bag(const ForestRows& rows, const PackedForest& forest, const Bag& bag, Sapling& tree) {
    constexpr std::size_t kLanes = 8;
    constexpr std::size_t kAhead = 16;  // rows between a fetch and its use
    const PackedNode* const nodes = tree.nodes.data();
    const std::size_t n = bag.out.size();
    tree.out_leaf.resize(n);
    const auto step = [&](NodeIndex at, const Code* row) {
        const PackedNode& node = nodes[at];
        std::uint32_t code = row[node.feature()];
        if (node.is_nominal()) code = tree.ranks[forest.first_rank[node.feature()] + code];
        return node.left + !node.goes_left(code);
    };
    std::array<NodeIndex, kLanes> at{};
    std::array<const Code*, kLanes> row;
    std::array<std::size_t, kLanes> which;
    const std::size_t n_lanes = std::min(kLanes, n);
    for (std::size_t k = 0; k < n_lanes; ++k) {
        which[k] = k;
        row[k] = rows.table.row(bag.out[k]);
    }
    for (std::size_t next = n_lanes; next < n;)
        for (std::size_t k = 0; k < kLanes && next < n; ++k) {
            if (!nodes[at[k]].is_leaf()) {
                at[k] = step(at[k], row[k]);
                continue;
            }
            tree.out_leaf[which[k]] = at[k];
            at[k] = 0;
            which[k] = next;
            row[k] = rows.table.row(bag.out[next++]);
            if (next + kAhead < n) __builtin_prefetch(rows.table.row(bag.out[next + kAhead]));
        }
    for (std::size_t k = 0; k < n_lanes; ++k) {
        while (!nodes[at[k]].is_leaf()) at[k] = step(at[k], row[k]);
        tree.out_leaf[which[k]] = at[k];
    }
}

}  // namespace coterie
