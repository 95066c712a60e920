// predict/descent.hpp: rows of codes on their way down the trees of a packed forest.
//
// Words
//   lane    one of sixteen walks that hide each other's latency: rows in one tree, or one row in several trees
//   bundle  rows that have come to the same node of a large tree. They are parted there, as in growing
//   block   the codes of a bundle, copied side by side: its rows and the nodes below it stay in the nearest cache
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "coterie/base/buffer.hpp"
#include "coterie/tree/packed_forest.hpp"

namespace coterie {

inline constexpr std::size_t kLanes = 16;
inline constexpr std::size_t kLargeTree = 1 << 13;  // nodes of trees that do not stay in a cache

struct Lanes {
    std::array<const PackedNode*, kLanes> nodes;
    std::array<const std::uint16_t*, kLanes> codes;
    std::array<const std::uint16_t*, kLanes> ranks;
    std::array<std::uint32_t, kLanes> at{};
};

/// Each lane to its leaf, from where it is; a tree and a row for each. `nominal`: the forest has nominal features.
void walk_lanes(const PackedForest& forest, bool nominal, Lanes& lanes);

/// Codes of n rows, by row and by column: bundles are parted column by column, blocks are copied row by row.
struct RowCodes {
    const std::uint16_t* by_row;
    const std::uint16_t* by_column;
};

/// What is asked of rows: the node of their leaf, or the row of its answer, read while the leaf is in the cache.
enum class Reached : std::uint8_t { leaf, answer };

/// All rows down one tree after the other. Holds the scratch of one thread.
class Descent {
public:
    /// The leaf of each of n rows, or the answer of it.
    void walk(const PackedForest& forest, const PackedTree& tree, const RowCodes& rows, std::size_t n,
              std::uint32_t* leaves, Reached reached);

private:
    struct Bundle {
        std::uint32_t node;
        std::uint32_t begin;
        std::uint32_t end;

        std::uint32_t size() const { return end - begin; }
    };
    struct Place {
        const PackedForest& forest;
        const PackedTree& tree;
        Reached reached;
        bool nominal;

        std::uint32_t said_by(NodeIndex leaf) const { return reached == Reached::leaf ? leaf : tree.nodes[leaf].left; }
    };

    struct CodeView {
        const std::uint16_t* data;
        std::size_t row_stride;
        std::size_t column_stride;
    };

    std::uint32_t part(const Place& place, Bundle bundle, const CodeView& codes, std::uint32_t* rows);
    void settle(const Place& place, NodeIndex node, const std::uint16_t* codes, std::size_t n);

    std::vector<std::uint32_t> rows_;   // of the tree, bundle after bundle
    std::vector<std::uint32_t> local_;  // rows of a block, or of all if there is none
    std::vector<std::uint32_t> at_;     // where the row at each place of `local_` has come to
    std::vector<std::uint32_t> twin_;
    std::vector<Bundle> open_;
    std::vector<Bundle> local_open_;
    Buffer<std::uint16_t> block_;
    std::vector<std::uint32_t> leaf_;  // of each row of the block
};

}  // namespace coterie
