#include "coterie/storage/node_streams.hpp"

#include <algorithm>
#include <string>

#include "coterie/base/error.hpp"
#include "coterie/storage/depth_first.hpp"

namespace coterie {
namespace {

template <class Visit>
void for_trees(const PackedForest& forest, Visit visit) {
    for (const TreeGroup& group : forest.groups)
        for (const auto& tree : group.trees) visit(*tree);
}

bool is_depth_first(const PackedTree& tree) {
    const auto is_split = [&](std::size_t node) { return !tree.nodes[node].is_leaf(); };
    return for_depth_first(tree.nodes.size(), is_split,
                           [&](NodeIndex node, NodeIndex left) { return tree.nodes[node].left == left; });
}

}  // namespace

std::optional<NodeStreams> streams_of(const PackedForest& forest) {
    bool plain = true;
    bool depth_first = true;
    for_trees(forest, [&](const PackedTree& tree) {
        plain = plain && std::ranges::all_of(tree.nodes, [](const PackedNode& node) {
                    return !node.is_leaf() ||
                           (node.condition == PackedNode::kLeafFlag && node.code == 0 && node.share == 0);
                });
        depth_first = depth_first && is_depth_first(tree);
    });
    if (!plain) return {};
    NodeStreams streams;
    for_trees(forest, [&](const PackedTree& tree) {
        for (const PackedNode& node : tree.nodes) {
            streams.is_split.push_back(!node.is_leaf());
            if (node.is_leaf()) {
                streams.leaf_value.push_back(node.left);
                continue;
            }
            if (!depth_first) streams.pair.push_back((node.left - 1) / 2);
            streams.feature.push_back(node.feature());
            streams.missing_right.push_back(!node.missing_left());
            streams.code.push_back(node.code);
            streams.share.push_back(node.share);
        }
    });
    return streams;
}

std::vector<PackedNode> nodes_of(const NodeStreams& streams, std::span<const std::uint32_t> n_nodes,
                                 std::span<const std::int32_t> n_levels) {
    std::uint64_t total = 0;
    for (const std::uint32_t n : n_nodes) total += n;
    require(total == streams.is_split.size(), "The nodes are not those of the trees.");
    const auto n_splits =
        static_cast<std::size_t>(std::ranges::count_if(streams.is_split, [](std::uint8_t each) { return each != 0; }));
    require((streams.pair.empty() || streams.pair.size() == n_splits) && streams.feature.size() == n_splits &&
                streams.missing_right.size() == n_splits && streams.code.size() == n_splits &&
                streams.share.size() == n_splits && streams.leaf_value.size() == streams.is_split.size() - n_splits,
            "The streams of splits and leaves differ in length.");
    std::vector<PackedNode> nodes(streams.is_split.size());
    std::size_t split = 0;
    std::size_t leaf = 0;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        PackedNode& node = nodes[i];
        if (!streams.is_split[i]) {
            node.left = streams.leaf_value[leaf++];
            node.condition = PackedNode::kLeafFlag;
            continue;
        }
        const std::uint32_t feature = streams.feature[split];
        if (feature >= n_levels.size())
            throw InvalidInput("A node splits on feature " + std::to_string(feature) + "; there are " +
                               std::to_string(n_levels.size()) + ".");
        if (!streams.pair.empty()) node.left = 2 * streams.pair[split] + 1;
        node.condition = feature | (streams.missing_right[split] ? PackedNode::kMissingRight : 0) |
                         (n_levels[feature] > 0 ? PackedNode::kNominal : 0);
        node.code = streams.code[split];
        node.share = streams.share[split];
        ++split;
    }
    if (!streams.pair.empty()) return nodes;
    PackedNode* first = nodes.data();
    for (std::size_t tree = 0; tree < n_nodes.size(); ++tree) {
        const bool whole = for_depth_first(
            n_nodes[tree], [&](std::size_t node) { return !first[node].is_leaf(); },
            [&](NodeIndex node, NodeIndex left) {
                first[node].left = left;
                return true;
            });
        if (!whole)
            throw InvalidInput("The splits of tree " + std::to_string(tree) +
                               " are not in the order of their children.");
        first += n_nodes[tree];
    }
    return nodes;
}

}  // namespace coterie
