// Packed nodes become streams and the same nodes again.
#include "coterie/storage/node_streams.hpp"

#include "check.hpp"
#include "coterie/base/error.hpp"

namespace coterie::tests {
namespace {

constexpr std::uint32_t kLeafNode = PackedNode::kLeafFlag;

PackedForest forest_of(std::vector<std::vector<PackedNode>> trees) {
    PackedForest forest({0, 4}, 1);
    TreeGroup& group = forest.groups.emplace_back();
    group.thresholds = {{1.5, 2.5}, {}};
    for (auto& nodes : trees)
        group.trees.push_back(std::make_shared<PackedTree>(
            PackedTree{.nodes = std::move(nodes), .leaf_values = {1, 2}, .ranks = {0, 1, 2, 3, 4}}));
    return forest;
}

std::vector<std::vector<PackedNode>> two_trees() {
    return {{{.left = 1, .condition = PackedNode::kMissingRight, .code = 2, .share = 7},
             {.left = 3, .condition = 1 | PackedNode::kNominal, .code = 3, .share = 65'535},
             {.left = 1, .condition = kLeafNode},
             {.left = 0, .condition = kLeafNode},
             {.left = 1, .condition = kLeafNode}},
            {{.left = 0, .condition = kLeafNode}}};
}

const std::vector<std::uint32_t> kSizes = {5, 1};
const std::vector<std::int32_t> kLevels = {0, 4};

std::vector<PackedNode> joined(const std::vector<std::vector<PackedNode>>& trees) {
    std::vector<PackedNode> all;
    for (const auto& nodes : trees) all.insert(all.end(), nodes.begin(), nodes.end());
    return all;
}

const Test again("nodes come back as they were; depth-first children are not stored", [] {
    const auto streams = streams_of(forest_of(two_trees()));
    check(streams && streams->pair.empty(), "numbered depth first");
    check(nodes_of(*streams, kSizes, kLevels) == joined(two_trees()), "the same nodes");
});

const Test any_order("children in another order are stored", [] {
    std::vector<std::vector<PackedNode>> trees = {{{.left = 1, .code = 1},
                                                   {.left = 5, .code = 1},
                                                   {.left = 3, .code = 1},
                                                   {.left = 0, .condition = kLeafNode},
                                                   {.left = 0, .condition = kLeafNode},
                                                   {.left = 0, .condition = kLeafNode},
                                                   {.left = 0, .condition = kLeafNode}}};
    const auto streams = streams_of(forest_of(trees));
    check_equal(streams->pair, std::vector<std::uint32_t>{0, 2, 1});
    check(nodes_of(*streams, std::vector<std::uint32_t>{7}, kLevels) == trees[0], "the same nodes");
});

const Test odd("a leaf with more than a value cannot be a stream", [] {
    auto trees = two_trees();
    trees[0][2].share = 1;
    check(!streams_of(forest_of(trees)).has_value(), "it is stored as it is");
});

const Test damage("streams that do not fit the trees are refused", [] {
    const NodeStreams sound = *streams_of(forest_of(two_trees()));
    const auto refused = [&](auto change, std::string_view phrase) {
        NodeStreams streams = sound;
        change(streams);
        check_throws<InvalidInput>([&] { nodes_of(streams, kSizes, kLevels); }, phrase);
    };
    refused([](NodeStreams& streams) { streams.is_split.push_back(0); }, "not those of the trees");
    refused([](NodeStreams& streams) { streams.leaf_value.pop_back(); }, "differ in length");
    refused([](NodeStreams& streams) { streams.code.push_back(1); }, "differ in length");
    refused([](NodeStreams& streams) { streams.feature[0] = 2; }, "splits on feature 2; there are 2");
    refused([](NodeStreams& streams) { std::swap(streams.is_split[1], streams.is_split[5]); }, "splits of tree 0");
});

const Test looked_at_later("a tree that nobody looked at is looked at when it is used first", [] {
    PackedForest forest = forest_of(two_trees());
    auto tree = std::make_shared<PackedTree>(*forest.groups[0].trees[0]);
    tree->nodes.own()[1].left = 77;
    tree->sound = SoundMark(false);
    forest.groups[0].trees[0] = tree;
    validate_lengths(forest);
    require_sound(forest, {1, 2});
    check_throws<InvalidInput>([&] { require_sound(forest); }, "Node 1 of tree 0 has children");
    check_throws<InvalidInput>([&] { unpack(forest, 0); }, "Node 1 of tree 0 has children");
    tree->nodes.own()[1].left = 3;
    require_sound(forest);
    check(tree->sound.is_set(), "once is enough");
});

}  // namespace
}  // namespace coterie::tests
