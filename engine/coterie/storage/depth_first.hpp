// storage/depth_first.hpp: the order in which most growers number nodes, so that it need not be stored.
#pragma once

#include <vector>

#include "coterie/base/types.hpp"

namespace coterie {

/// Walks down a tree of n nodes, left sides first, and calls visit(split, its left child) when the two children of a
/// split are numbered: whoever is split first has the lower ones. False if visit says so, or if the splits are not
/// those of a tree of n nodes.
template <class IsSplit, class Visit>
bool for_depth_first(std::size_t n, IsSplit is_split, Visit visit) {
    std::vector<NodeIndex> open = {0};
    std::size_t next = 1;
    while (!open.empty()) {
        const NodeIndex node = open.back();
        open.pop_back();
        if (node >= n) return false;
        if (!is_split(node)) continue;
        if (next + 1 >= n) return false;
        if (!visit(node, static_cast<NodeIndex>(next))) return false;
        open.push_back(static_cast<NodeIndex>(next + 1));
        open.push_back(static_cast<NodeIndex>(next));
        next += 2;
    }
    return next == n;
}

}  // namespace coterie
