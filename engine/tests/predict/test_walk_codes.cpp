// Predictions of a packed forest: blocks, lanes, groups and threads give what one row in one tree gives.
#include "coterie/predict/walk_codes.hpp"

#include "check.hpp"
#include "coterie/base/error.hpp"
#include "coterie/predict/walk.hpp"
#include "tables_by_hand.hpp"

namespace coterie::tests {
namespace {

/// Full trees, of depth 4 if not stated, with random splits over five features, of which the fourth is
/// nominal; two columns of leaf_values.
TreeGroup random_group(std::uint64_t seed, std::size_t n_trees, const PackedForest& forest, std::uint32_t depth = 4) {
    const std::uint32_t n_splits = (1u << depth) - 1;
    TreeGroup group;
    for (std::size_t feature = 0; feature < forest.n_features; ++feature) {
        auto& own = group.thresholds.emplace_back().own();
        if (forest.n_levels[feature] > 0) continue;
        for (std::size_t i = 0; i < feature + 3; ++i)
            own.push_back((static_cast<double>(i) + random_unit(seed, Purpose::threshold, i)) /
                          static_cast<double>(feature + 4));
    }
    for (std::size_t index = 0; index < n_trees; ++index) {
        PackedTree tree{.nodes = {}, .leaf_values = {}, .ranks = {}, .weight = 1.0, .n_rows = 1};
        if (forest.n_ranks() > 0) tree.ranks.own().push_back(0);
        for (std::uint16_t level = 0; level + 1u < forest.n_ranks(); ++level)
            tree.ranks.own().push_back(static_cast<std::uint16_t>(1 + (level * 5u + index) % 12));
        for (std::uint32_t node = 0; node < 2 * n_splits + 1; ++node) {
            if (node >= n_splits) {
                tree.nodes.own().push_back({.left = node - n_splits, .condition = PackedNode::kLeafFlag});
                tree.leaf_values.own().push_back(random_unit(seed + index, Purpose::rounding, node));
                tree.leaf_values.own().push_back(1.0 - tree.leaf_values.own().back());
                continue;
            }
            const std::uint64_t draw = random_bits(seed + index, Purpose::split_noise, node);
            const auto feature = static_cast<std::uint32_t>(draw % forest.n_features);
            const bool nominal = forest.n_levels[feature] > 0;
            const std::size_t most = nominal ? 12 : group.thresholds[feature].size();
            tree.nodes.own().push_back({.left = 2 * node + 1,
                                        .condition = feature | (draw >> 20 & 1 ? PackedNode::kMissingRight : 0) |
                                                     (nominal ? PackedNode::kNominal : 0),
                                        .code = static_cast<std::uint16_t>(1 + (draw >> 32) % most)});
        }
        group.trees.push_back(std::make_shared<PackedTree>(std::move(tree)));
    }
    return group;
}

PackedForest random_forest(std::uint64_t seed) {
    PackedForest forest({0, 0, 0, 12, 0}, 2);
    forest.groups.push_back(random_group(seed, 3, forest));
    forest.groups.push_back(random_group(seed + 100, 2, forest));
    validate(forest);
    return forest;
}

/// By the values themselves, not by codes.
std::uint32_t slow_leaf(const PackedForest& forest, std::size_t index, const Columns& table, std::size_t row) {
    const PackedTree& tree = forest.tree(index);
    const auto& thresholds = forest.group_of(index).thresholds;
    std::uint32_t at = 0;
    while (!tree.nodes[at].is_leaf()) {
        const PackedNode& node = tree.nodes[at];
        const double value = table.values[node.feature()][row];
        bool left = node.missing_left();
        if (node.is_nominal()) {
            if (value >= 0 && value < 12) left = tree.ranks[static_cast<std::size_t>(value) + 1] <= node.code;
        } else if (!std::isnan(value)) {
            left = value <= thresholds[node.feature()][node.code - 1u];
        }
        at = left ? node.left : node.left + 1;
    }
    return at;
}

/// The same tree in the order in which trees are grown: what is below a node lies together. Some nodes become leaves.
PackedTree depth_first(const PackedTree& from, std::uint64_t seed) {
    PackedTree tree = from;
    auto& nodes = tree.nodes.own();
    nodes.assign(1, from.nodes[0]);
    const auto add_below = [&](const auto& self, std::uint32_t node, std::uint32_t index) -> void {
        if (nodes[index].is_leaf()) return;
        if (node > 0 && random_bits(seed, Purpose::rounding, node) % 16 == 0) {
            nodes[index] = {.left = node, .condition = PackedNode::kLeafFlag};
            return;
        }
        const std::uint32_t left = from.nodes[node].left;
        const auto next = static_cast<std::uint32_t>(nodes.size());
        nodes[index].left = next;
        nodes.push_back(from.nodes[left]);
        nodes.push_back(from.nodes[left + 1]);
        self(self, left, next);
        self(self, left + 1, next + 1);
    };
    add_below(add_below, 0, 0);
    return tree;
}

void check_large_trees(const std::vector<std::int32_t>& n_levels, bool missing) {
    PackedForest forest(n_levels, 2);
    TreeGroup group = random_group(7, 2, forest, 17);  // by depth: what is below a node does not lie together
    for (std::size_t t = 0; t < 2; ++t)
        group.trees.push_back(std::make_shared<PackedTree>(depth_first(*group.trees[t], t)));
    group.trees.push_back(random_group(7, 1, forest, 13).trees[0]);  // small enough for one part
    forest.groups.push_back(std::move(group));
    validate(forest);
    const std::size_t n_trees = forest.n_trees();
    for (const std::size_t n : {40u, 4'000u, 20'000u}) {
        Columns table = random_columns(n, n, 5);
        for (auto& column : table.values)
            for (double& value : column)
                if (!missing && std::isnan(value)) value = 0.5;
        std::vector<std::uint32_t> found(n * n_trees);
        find_leaves(forest, table.view(), found, 0);  // no thread is one thread
        std::vector<double> sums(n * 2);
        add_predictions(forest, table.view(), sums, 2);
        for (std::size_t row = 0; row < n; ++row) {
            double expected = 0.0;
            for (std::size_t t = 0; t < n_trees; ++t) {
                const std::uint32_t leaf = slow_leaf(forest, t, table, row);
                check_equal(found[row * n_trees + t], leaf);
                expected += forest.tree(t).leaf_values[forest.tree(t).nodes[leaf].left * 2];
            }
            check_equal(sums[row * 2], expected);
        }
    }
}

const Test large("rows in large trees, laid out or not, reach the leaves that their values lead to",
                 [] { check_large_trees({0, 0, 0, 0, 0}, false); });

const Test large_with_gaps("and so they do if values are missing, and if splits are nominal", [] {
    check_large_trees({0, 0, 0, 0, 0}, true);
    check_large_trees({0, 0, 0, 12, 0}, true);
});

// So few that they are kept where rows end; trees of one part, and of several.
const Test few_leaf_values("rows add the leaf values that their values lead to, where a tree has few of them", [] {
    for (const std::uint32_t depth : {3u, 13u, 17u}) {
        PackedForest forest({0, 0, 0, 0, 0}, 2);
        TreeGroup group = random_group(11, 6, forest, depth);
        for (auto& tree : group.trees) {
            PackedTree own = depth_first(*tree, 3);
            for (PackedNode& node : own.nodes.own())
                if (node.is_leaf()) node.left = static_cast<std::uint32_t>(mix(node.left) % 5);
            own.leaf_values.own().resize(10);
            tree = std::make_shared<PackedTree>(std::move(own));
        }
        forest.groups.push_back(std::move(group));
        validate(forest);
        for (const std::size_t n : {40u, 3'000u, 20'000u}) {
            Columns table = random_columns(n, n, 5);
            for (auto& column : table.values)
                for (double& value : column)
                    if (std::isnan(value)) value = 0.5;
            std::vector<double> sums(n * 2);
            add_predictions(forest, table.view(), sums, 2);
            for (std::size_t row = 0; row < n; ++row) {
                double expected[2] = {0.0, 0.0};
                for (std::size_t t = 0; t < forest.n_trees(); ++t) {
                    const PackedTree& tree = forest.tree(t);
                    const std::uint32_t leaf_value = tree.nodes[slow_leaf(forest, t, table, row)].left;
                    for (std::size_t k = 0; k < 2; ++k) expected[k] += tree.leaf_values[2 * leaf_value + k];
                }
                for (std::size_t k = 0; k < 2; ++k) check_equal(sums[row * 2 + k], expected[k]);
            }
        }
    }
});

const Test leaves("every row reaches the leaf that its values lead to, for any number of rows and threads", [] {
    for (const std::size_t n : {1u, 7u, 8u, 9u, 255u, 256u, 257u, 1000u}) {
        const PackedForest forest = random_forest(n);
        Columns table = random_columns(n, n, 5);
        for (std::size_t row = 0; row < n; row += 11) {  // what lies on a threshold goes left of it
            table.values[0][row] = forest.groups[row % 2].thresholds[0][row % 3];
            table.values[1][row] = std::numeric_limits<double>::infinity();
            table.values[3][row] = 12 + static_cast<double>(row);
        }
        for (const int n_threads : {1, 3}) {
            std::vector<std::uint32_t> leaves(n * 5);
            find_leaves(forest, table.view(), leaves, n_threads);
            for (std::size_t row = 0; row < n; ++row)
                for (std::size_t tree = 0; tree < 5; ++tree)
                    check_equal(leaves[row * 5 + tree], slow_leaf(forest, tree, table, row));
        }
    }
});

const Test predictions("predictions are those of the leaves, one by one or added up in the order of the trees", [] {
    const std::size_t n = 300;
    const PackedForest forest = random_forest(1);
    const Columns table = random_columns(2, n, 5);
    for (const int n_threads : {1, 2}) {
        std::vector<double> listed(n * 5 * 2);
        list_predictions(forest, table.view(), listed, n_threads);
        std::vector<double> sums(n * 2, 0.25);
        add_predictions(forest, table.view(), sums, n_threads);
        for (std::size_t row = 0; row < n; ++row) {
            double expected[2] = {0.25, 0.25};
            for (std::size_t tree = 0; tree < 5; ++tree) {
                const std::uint32_t leaf = slow_leaf(forest, tree, table, row);
                for (std::size_t k = 0; k < 2; ++k) {
                    const double value = forest.tree(tree).leaf_values[2 * (leaf - 15) + k];
                    check_equal(listed[(row * 5 + tree) * 2 + k], value);
                    expected[k] += value;
                }
            }
            for (std::size_t k = 0; k < 2; ++k) check_equal(sums[row * 2 + k], expected[k]);
        }
    }
});

const Test unpacked("unpacked trees predict the same", [] {
    const PackedForest forest = random_forest(3);
    const Columns table = random_columns(4, 200, 5);
    std::vector<double> packed(200 * 2, 0.0);
    add_predictions(forest, table.view(), packed, 1);
    Forest plain{.n_features = 5, .n_outputs = 2};
    for (std::size_t tree = 0; tree < 5; ++tree) plain.add(std::make_shared<Tree>(unpack(forest, tree)), 0);
    std::vector<double> scores(200 * 2, 0.0);
    add_scores(plain, table.view(), scores, 1);
    check_equal(scores, packed);
});

const Test refused("a table of another width, and room of another size, are refused", [] {
    const PackedForest forest = random_forest(5);
    const Columns narrow = random_columns(6, 10, 4);
    const Columns table = random_columns(6, 10, 5);
    std::vector<double> sums(20);
    std::vector<std::uint32_t> leaves(50);
    check_throws<InvalidInput>([&] { add_predictions(forest, narrow.view(), sums, 1); }, "The table has 4 columns");
    check_throws<InvalidInput>([&] { find_leaves(forest, narrow.view(), leaves, 1); }, "grown on 5");
    sums.pop_back();
    leaves.pop_back();
    check_throws<InvalidInput>([&] { add_predictions(forest, table.view(), sums, 1); }, "one number for each row");
    check_throws<InvalidInput>([&] { list_predictions(forest, table.view(), sums, 1); },
                               "every prediction of every tree");
    check_throws<InvalidInput>([&] { find_leaves(forest, table.view(), leaves, 1); }, "one leaf for each row");
});

}  // namespace
}  // namespace coterie::tests
