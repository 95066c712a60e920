// kernels/node_walks.hpp: many rows of codes in the tree of a forest: its nodes laid out for them, and the top of
// the tree.
//
// Nodes of depths below twelve are in blocks of seven, of three depths. A block compares a row with all its nodes at
// once, and the seven results are the way to one of the eight blocks below it: four steps, the same for every row, and
// no branch.
#pragma once

#include <cstddef>
#include <cstdint>

namespace coterie {

/// Seven nodes of three depths: those below entry i are entries 2i and 2i + 1, entry 1 is the first. A row goes right
/// where its code in the column is above the node's.
struct alignas(32) NodeBlock {
    static constexpr std::size_t kEntries = 8;
    static constexpr std::size_t kExits = 8;

    std::uint16_t column[kEntries] = {};
    std::uint16_t code[kEntries] = {};
};

inline constexpr std::size_t kTopBlocks =
    1 + 8 + 64 + 512;  // row of blocks after row; below block i of a row: 8i to 8i + 7
inline constexpr std::size_t kTopExits = 8 * 512;

struct NodeWalkKernels {
    // Columns of the rows for which walk_top takes less time than a walk from node to node; 0: of none.
    std::size_t max_top_columns;

    // By which of kTopExits each row leaves the blocks. Every column is below `stride`, which is 64 at most.
    void (*walk_top)(const NodeBlock* blocks, const std::uint16_t* codes, std::size_t stride, const std::uint32_t* rows,
                     std::size_t n, std::uint32_t* exits);

    // Nodes of three words (PackedNode) become nodes of two (LaidNode): a column and a code, and the node that follows,
    // counted from the one before `begin`; of a leaf the greatest code and itself, and its leaf value as its column if
    // these are wanted. Returns the last left child, counted from `begin`.
    std::uint32_t (*lay_out)(const void* packed, std::size_t n, std::uint32_t begin, bool leaf_values, void* laid);
};

namespace generic {
NodeWalkKernels node_walk_kernels();
}
namespace avx512 {
NodeWalkKernels node_walk_kernels();
}

}  // namespace coterie
