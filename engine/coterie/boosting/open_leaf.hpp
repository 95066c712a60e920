// boosting/open_leaf.hpp: a leaf that may still be split, with its histogram and its best split.
#pragma once

#include <memory>
#include <vector>

#include "coterie/boosting/options.hpp"
#include "coterie/boosting/row_partition.hpp"
#include "coterie/split/split.hpp"

namespace coterie {

struct OpenLeaf {
    NodeIndex node = 0;
    std::uint64_t place = 1;  // in the tree, whoever is split first: the children of place p are 2p and 2p + 1
    std::uint32_t depth = 0;
    RowRange rows;
    Cell total = 0;
    int slot = -1;  // of the histogram, -1: none
    Bounds bounds;
    std::vector<std::uint32_t> sets;  // interaction sets that the path still fits
    Split split;
    std::unique_ptr<std::array<OpenLeaf, 2>> children;  // once they are prepared; they have no node yet
};

/// Order of splitting: most gain first, then the older leaf; by level, the upper level before that.
struct Later {
    Growth growth;

    bool operator()(const OpenLeaf& a, const OpenLeaf& b) const {
        if (growth == Growth::level && a.depth != b.depth) return a.depth > b.depth;
        return a.split.gain < b.split.gain || (a.split.gain == b.split.gain && a.node > b.node);
    }
};

}  // namespace coterie
