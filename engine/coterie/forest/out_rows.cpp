#include "coterie/forest/out_rows.hpp"

#include <algorithm>
#include <array>

#include "coterie/base/prefetch.hpp"

namespace coterie {
namespace {

constexpr std::size_t kSteps = 8;  // between two checks for lanes that have arrived

// Missing values of a node go right by kLessOne, where there are any.
LaidNode laid_out(const PackedNode& node, std::uint32_t own, bool missing) {
    if (node.is_leaf()) return {0, LaidNode::kAllGoLeft, own};
    const std::uint32_t less = missing && !node.missing_left() ? 1 : 0;
    return {static_cast<std::uint16_t>(node.feature()), static_cast<std::uint16_t>(node.code - less),
            node.left | less << 31};
}

}  // namespace

OutRows::OutRows(const ForestRows& rows, const PackedForest& forest) : rows_(rows), forest_(forest) {
    for (const RankedFeature& feature : rows.table.features) {
        nominal_ = nominal_ || feature.nominal;
        missing_ = missing_ || feature.has_missing;
    }
}

void OutRows::walk(const Bag& bag, GrownTree& tree) {
    tree.out_leaf.resize(bag.out.size());
    if (bag.out.empty()) return;
    if (nominal_ || rows_.n_features() > 65'535) return walk_nominal(bag, tree);
    if (nodes_.size() < tree.nodes.size()) nodes_.resize(tree.nodes.size() + tree.nodes.size() / 8);
    for (std::size_t node = 0; node < tree.nodes.size(); ++node)
        nodes_[node] = laid_out(tree.nodes[node], static_cast<std::uint32_t>(node), missing_);
    walk_laid_out(nodes_.data(), {rows_.table.codes.data(), rows_.table.row_stride}, bag.out, kSteps, missing_,
                  tree.out_leaf.data());
}

// Eight rows side by side; where one has arrived the next begins.
void OutRows::walk_nominal(const Bag& bag, GrownTree& tree) const {
    constexpr std::size_t kLanes = 8;
    constexpr std::size_t kAhead = 16;  // rows between a fetch and its use
    const PackedNode* const nodes = tree.nodes.data();
    const std::size_t n = bag.out.size();
    const auto step = [&](NodeIndex at, const Code* row) {
        const PackedNode& node = nodes[at];
        std::uint32_t code = row[node.feature()];
        if (node.is_nominal()) code = tree.ranks[forest_.first_rank[node.feature()] + code];
        return node.left + !node.goes_left(code);
    };
    std::array<NodeIndex, kLanes> at{};
    std::array<const Code*, kLanes> row;
    std::array<std::size_t, kLanes> which;
    const std::size_t n_lanes = std::min(kLanes, n);
    for (std::size_t k = 0; k < n_lanes; ++k) {
        which[k] = k;
        row[k] = rows_.table.row(bag.out[k]);
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
            row[k] = rows_.table.row(bag.out[next++]);
            if (next + kAhead < n) prefetch(rows_.table.row(bag.out[next + kAhead]));
        }
    for (std::size_t k = 0; k < n_lanes; ++k) {
        while (!nodes[at[k]].is_leaf()) at[k] = step(at[k], row[k]);
        tree.out_leaf[which[k]] = at[k];
    }
}

}  // namespace coterie
