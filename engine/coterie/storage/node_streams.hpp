// storage/node_streams.hpp: the nodes of packed trees as streams (forest_streams.hpp) that code_numbers makes short.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "coterie/tree/packed_forest.hpp"

namespace coterie {

struct NodeStreams {
    std::vector<std::uint8_t> is_split;  // of nodes, tree after tree
    std::vector<std::uint32_t> pair;     // of splits: (left - 1) / 2; empty if all trees are numbered depth first
    std::vector<std::uint32_t> feature;  // of splits, as are the next three
    std::vector<std::uint8_t> missing_right;
    std::vector<std::uint16_t> code;
    std::vector<std::uint16_t> share;
    std::vector<std::uint32_t> leaf_value;  // the row of each leaf
};

/// Nothing if a leaf holds what only splits need.
std::optional<NodeStreams> streams_of(const PackedForest& forest);

/// The nodes of trees of these sizes, tree after tree. Throws InvalidInput unless the streams have as many entries as
/// that takes; whether the trees can be followed is for `validate` to say.
std::vector<PackedNode> nodes_of(const NodeStreams& streams, std::span<const std::uint32_t> n_nodes,
                                 std::span<const std::int32_t> n_levels);

}  // namespace coterie
