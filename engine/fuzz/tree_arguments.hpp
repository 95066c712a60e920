// fuzz/tree_arguments.hpp: the arguments of trees_of and of nodes_of as bytes.
#pragma once

#include "bytes.hpp"
#include "coterie/storage/forest_streams.hpp"
#include "coterie/storage/node_streams.hpp"

namespace coterie::fuzz {

struct TreesArguments {
    std::size_t n_features = 0;
    ForestStreams streams;

    static TreesArguments read(ByteReader bytes) {
        TreesArguments all;
        all.n_features = bytes.number<std::uint8_t>();
        ForestStreams::for_each(
            [&](const char*, auto& stream) {
                stream = bytes.array<typename std::remove_cvref_t<decltype(stream)>::value_type>();
            },
            all.streams);
        return all;
    }
    ByteWriter write() const {
        ByteWriter bytes;
        bytes.number(static_cast<std::uint8_t>(n_features));
        ForestStreams::for_each([&](const char*, const auto& stream) { bytes.array(stream); }, streams);
        return bytes;
    }
};

struct NodesArguments {
    std::vector<std::int32_t> n_levels;
    std::vector<std::uint32_t> n_nodes;
    NodeStreams streams;

    static NodesArguments read(ByteReader bytes) {
        NodesArguments all;
        all.visit(
            [&](auto& array) { array = bytes.array<typename std::remove_cvref_t<decltype(array)>::value_type>(); });
        return all;
    }
    ByteWriter write() {
        ByteWriter bytes;
        visit([&](const auto& array) { bytes.array(array); });
        return bytes;
    }

private:
    template <class Visit>
    void visit(Visit each) {
        each(n_levels);
        each(n_nodes);
        each(streams.is_split);
        each(streams.pair);
        each(streams.feature);
        each(streams.missing_right);
        each(streams.code);
        each(streams.share);
        each(streams.leaf_value);
    }
};

}  // namespace coterie::fuzz
