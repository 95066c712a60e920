// boosting/open_leaf.hpp: a leaf that may still be split, with its histogram and its best split.
#pragma once

#include <memory>
#include <vector>

#include "coterie/base/random.hpp"
#include "coterie/boosting/options.hpp"
#include "coterie/boosting/row_partition.hpp"
#include "coterie/split/split.hpp"

namespace coterie {

/// What is the same for all leaves of a tree.
struct TreeFacts {
    Units units;
    std::uint64_t seed = 0;
    double noise = 0;           // what one split gains by chance, rounded units; 0 if not needed
    bool counted = false;       // cells count rows: exact, and only possible on fewer than 2^16 of them
    bool flat_hessian = false;  // 1 for every row

    double hessian(Cell cell) const { return static_cast<double>(sums_of(cell, counted).hessian); }
    double gradient(Cell cell) const { return static_cast<double>(sums_of(cell, counted).gradient); }
};

struct OpenLeaf {
    NodeIndex node = 0;
    std::uint64_t draw_key = 1;  // names the leaf in random draws, whichever leaf is split first
    std::uint32_t depth = 0;
    RowRange rows;
    std::uint64_t n_rows = 0;  // of all workers
    Cell total = 0;
    std::vector<Cell> output_totals;  // of trees with several outputs, whose first is `total`
    bool splittable = false;          // large enough, and not too deep
    int slot = -1;                    // of the histogram, -1: none
    Bounds bounds;
    std::vector<std::uint32_t> sets;  // interaction sets that the path still fits
    Split split;
    std::unique_ptr<std::array<OpenLeaf, 2>> children;  // once they are prepared; they have no node yet
};

/// The key of a child: 2k and 2k + 1 below a node of key k, and a hash of that where 64 bits end.
inline std::uint64_t child_draw_key(std::uint64_t parent, std::uint32_t side) {
    constexpr std::uint64_t kTop = std::uint64_t{1} << 63;
    if (parent < kTop) return 2 * parent + side;
    return kTop | random_bits(parent, Purpose::feature_draw, side);
}

/// The children of a leaf whose rows are split: deeper, in the same bounds, in the interaction sets that allow the
/// feature of the split. Their sums are not known yet.
std::array<OpenLeaf, 2> children_of(const OpenLeaf& leaf, const std::array<RowRange, 2>& rows,
                                    const GrowOptions& options);

/// The root of a tree, with all interaction sets.
OpenLeaf root_leaf(NodeIndex node, const RowRange& rows, const GrowOptions& options);

}  // namespace coterie
