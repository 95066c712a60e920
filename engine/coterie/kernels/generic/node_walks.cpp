// kernels/generic/node_walks.cpp: what a walk of the top of a tree means, and a node that is laid out.
#include "coterie/kernels/node_walks.hpp"

#include <algorithm>
#include <cstring>

namespace coterie::generic {
namespace {

std::size_t exit_of(const NodeBlock& block, const std::uint16_t* row) {
    std::size_t entry = 1;
    while (entry < NodeBlock::kEntries) entry = 2 * entry + (row[block.column[entry]] > block.code[entry]);
    return entry - NodeBlock::kEntries;
}

void walk_top(const NodeBlock* blocks, const std::uint16_t* codes, std::size_t stride, const std::uint32_t* rows,
              std::size_t n, std::uint32_t* exits) {
    for (std::size_t i = 0; i < n; ++i) {
        const std::uint16_t* const row = codes + rows[i] * stride;
        std::size_t at = 0;
        std::size_t first = 0;  // block of this depth
        for (std::size_t width = 1; width < kTopExits; width *= NodeBlock::kExits) {
            at = NodeBlock::kExits * at + exit_of(blocks[first + at], row);
            first += width;
        }
        exits[i] = static_cast<std::uint32_t>(at);
    }
}

std::uint32_t lay_out(const void* packed, std::size_t n, std::uint32_t begin, bool leaf_values, void* laid) {
    struct Packed {
        std::uint32_t left;
        std::uint32_t condition;
        std::uint16_t code;
        std::uint16_t share;
    };
    struct Laid {
        std::uint16_t column;
        std::uint16_t code;
        std::uint32_t next;
    };
    const auto* from = static_cast<const std::byte*>(packed);
    auto* to = static_cast<std::byte*>(laid);
    std::uint32_t farthest = 0;
    for (std::size_t i = 0; i < n; ++i, from += sizeof(Packed), to += sizeof(Laid)) {
        Packed node;
        std::memcpy(&node, from, sizeof(node));
        const std::uint32_t leaf = ~((node.condition >> 31) - 1);  // all bits, or none
        const std::uint32_t left = node.left - begin;
        farthest = std::max(farthest, left & ~leaf);
        const std::uint32_t column = leaf_values && leaf != 0 ? node.left : node.condition;
        const Laid own{static_cast<std::uint16_t>(column), static_cast<std::uint16_t>(node.code | leaf),
                       ((left + 1) & ~leaf) | (static_cast<std::uint32_t>(i + 1) & leaf)};
        std::memcpy(to, &own, sizeof(own));
    }
    return farthest;
}

}  // namespace

NodeWalkKernels node_walk_kernels() { return {.max_top_columns = 0, .walk_top = walk_top, .lay_out = lay_out}; }

}  // namespace coterie::generic
