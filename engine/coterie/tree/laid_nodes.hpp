// tree/laid_nodes.hpp: the nodes of a packed tree laid out anew, in eight bytes each, for many rows that walk them.
//
// A step is one comparison and one addition, without a branch: a leaf leads to itself (decision 19).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "coterie/tree/packed_forest.hpp"

namespace coterie {

/// A row goes right, to the node after `next`, if its code in the column is above the node's.
struct LaidNode {
    static constexpr std::uint16_t kAllGoLeft = 65'535;  // as no code is higher
    /// Beside `next`: one is taken from codes before they are compared, so that what is missing goes right.
    static constexpr std::uint32_t kLessOne = 1u << 31;

    std::uint16_t column;
    std::uint16_t code;
    std::uint32_t next;  // of a leaf, itself
};

/// Codes of rows, row after row.
struct CodesByRow {
    const std::uint16_t* codes;
    std::size_t stride;

    const std::uint16_t* row(std::size_t index) const { return codes + index * stride; }
};

/// What is noted of the leaf that a row reaches: its number, or its column, which says something else in leaves.
enum class LeafNote : std::uint8_t { number, column };

/// Where each of the rows ends, by its position among them. After so many steps who has arrived takes the next row.
/// `less_one`: some nodes have kLessOne; leaves are then noted by number.
void walk_laid_out(const LaidNode* nodes, const CodesByRow& codes, std::span<const std::uint32_t> rows,
                   std::size_t n_steps, bool less_one, std::uint32_t* ends, LeafNote note = LeafNote::number);

}  // namespace coterie
