// storage/coded_numbers.hpp: arrays of numbers in fewer bytes, and the same bits again.
//
// Words
//   item   a number of 1, 2, 4 or 8 bytes; its bits are taken for a whole number, whatever they mean
//   form   the first byte says how the items are written:
//     dictionary          the distinct items, ascending, then the index of each item among them
//     frame of reference  blocks of 128 items: the least one, then by how much each is greater
//     delta               the same of the differences from one item to the next, as zigzag.hpp writes them
// Indices and differences take as many bits as the largest of them needs, one after the other without gaps. Decoding
// is a shift and a mask per item; it is faster than reading the plain items from a disk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace coterie {

/// The shortest form of the items, or nothing if none of them is clearly shorter than the items themselves.
std::vector<std::uint8_t> code_numbers(std::span<const std::byte> items, std::size_t item_size);

/// Fills `items`, which has the size that was coded. Throws InvalidInput if the bytes are not exactly that many items.
void decode_numbers(std::span<const std::uint8_t> coded, std::size_t item_size, std::span<std::byte> items);

}  // namespace coterie
