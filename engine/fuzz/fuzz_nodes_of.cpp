// Any streams are nodes or are refused; nodes that validate accepts can be followed and unpacked.
#include "coterie/base/error.hpp"
#include "tree_arguments.hpp"

namespace {

using namespace coterie;

constexpr std::uint32_t kMaxLevels = 64;  // as files limit them, and so that ranks stay short

// A forest with these nodes, one value for each node of a tree, and as many thresholds as codes can name.
PackedForest forest_of(std::span<const PackedNode> nodes, const fuzz::NodesArguments& arguments) {
    PackedForest forest(arguments.n_levels, 1);
    TreeGroup& group = forest.groups.emplace_back();
    for (const std::int32_t n_levels : arguments.n_levels) {
        std::vector<double> thresholds(n_levels > 0 ? 0 : 8);
        for (std::size_t i = 0; i < thresholds.size(); ++i) thresholds[i] = static_cast<double>(i);
        group.thresholds.emplace_back(std::move(thresholds));
    }
    for (const std::uint32_t n : arguments.n_nodes) {
        PackedTree tree{.nodes = std::vector<PackedNode>(nodes.begin(), nodes.begin() + n),
                        .leaf_values = std::vector<double>(n),
                        .ranks = std::vector<std::uint16_t>(forest.n_ranks()),
                        .weight = 1.0,
                        .n_rows = 1,
                        .sound = SoundMark(false)};
        group.trees.push_back(std::make_shared<PackedTree>(std::move(tree)));
        nodes = nodes.subspan(n);
    }
    return forest;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    auto arguments = fuzz::NodesArguments::read(fuzz::ByteReader({data, size}));
    for (std::int32_t& n : arguments.n_levels)
        n = static_cast<std::int32_t>(static_cast<std::uint32_t>(n) % kMaxLevels);
    try {
        const std::vector<PackedNode> nodes = nodes_of(arguments.streams, arguments.n_nodes, arguments.n_levels);
        const PackedForest forest = forest_of(nodes, arguments);
        validate(forest);
        for (std::size_t i = 0; i < forest.n_trees(); ++i) {
            for (const std::uint32_t code : {0u, 1u, 0xffffu})
                leaf_of(forest.tree(i).nodes.view(), [&](const PackedNode&) { return code; });
            unpack(forest, i);
        }
    } catch (const InvalidInput&) {
    }
    return 0;
}
