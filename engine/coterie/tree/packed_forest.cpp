#include "coterie/tree/packed_forest.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <string>

#include "coterie/base/error.hpp"

namespace coterie {
namespace {

constexpr double kWhole = 65535.0;

/// What the nodes of a group may say, beside one another for a loop over millions of them.
struct Limits {
    std::size_t n_leaf_values = 0;
    std::size_t n_nodes = 0;
    std::vector<std::uint32_t> most_code;  // per feature
    std::vector<std::uint32_t> kind;       // per feature: the flag of nominal ones

    Limits(const PackedForest& forest, const TreeGroup& group) {
        for (std::size_t feature = 0; feature < forest.n_features; ++feature) {
            const auto n_levels = static_cast<std::uint32_t>(forest.n_levels[feature]);
            kind.push_back(n_levels > 0 ? PackedNode::kNominal : 0);
            most_code.push_back(n_levels > 0 ? n_levels : static_cast<std::uint32_t>(group.thresholds[feature].size()));
        }
    }
};

// The first reason why a node cannot be followed, or nothing.
const char* fault_of(const Limits& limits, const PackedNode& node, std::size_t index) {
    if (node.is_leaf()) {
        if (node.left >= limits.n_leaf_values) return "names a leaf value that the tree does not have.";
        return node.condition == PackedNode::kLeafFlag ? nullptr : "is a leaf that splits on a feature.";
    }
    if (node.left <= index || std::size_t{node.left} + 1 >= limits.n_nodes)
        return "has children that do not come after it.";
    const FeatureIndex feature = node.feature();
    if (feature >= limits.kind.size()) return "splits on a feature that does not exist.";
    if ((node.condition & PackedNode::kNominal) != limits.kind[feature]) return "mistakes the kind of its feature.";
    if (node.code > limits.most_code[feature] || (node.code == 0 && !node.is_nominal()))
        return "compares with a code that does not exist.";
    return nullptr;
}

// Children come after their parents, so one parent for each node makes it a tree.
void validate_nodes(const PackedForest& forest, Limits& limits, const PackedTree& tree, std::size_t number) {
    const auto refuse = [&](std::size_t index, const std::string& why) {
        throw InvalidInput("Node " + std::to_string(index) + " of tree " + std::to_string(number) + " " + why);
    };
    const std::span<const PackedNode> nodes = tree.nodes.view();
    limits.n_nodes = nodes.size();
    limits.n_leaf_values = tree.leaf_values.size() / forest.n_columns;
    std::vector<std::uint8_t> has_parent(nodes.size(), 0);
    for (std::size_t index = 0; index < nodes.size(); ++index) {
        const PackedNode& node = nodes[index];
        if (const char* const fault = fault_of(limits, node, index); fault != nullptr) refuse(index, fault);
        if (node.is_leaf()) continue;
        if (has_parent[node.left] || has_parent[node.left + 1]) refuse(index, "shares a child with another node.");
        has_parent[node.left] = has_parent[node.left + 1] = 1;
    }
    for (std::size_t index = 1; index < has_parent.size(); ++index)
        if (!has_parent[index]) refuse(index, "has no parent.");
}

// Ranks are compared, and never lead anywhere; codes of levels do, and those are the table's.
void validate_thresholds(const PackedForest& forest, const TreeGroup& group) {
    for (std::size_t feature = 0; feature < forest.n_features; ++feature) {
        const auto& own = group.thresholds[feature];
        const bool ascending =
            std::adjacent_find(own.begin(), own.end(), [](double a, double b) { return !(a < b); }) == own.end();
        require(ascending && (own.empty() || !std::isnan(own[0])),
                "The thresholds of feature " + std::to_string(feature) + " do not ascend.");
    }
}

}  // namespace

PackedForest::PackedForest(std::vector<std::int32_t> levels, std::uint32_t columns)
    : n_features(levels.size()), n_columns(columns), n_levels(std::move(levels)) {
    std::uint32_t next = 0;
    for (const std::int32_t n : n_levels) {
        first_rank.push_back(next);
        if (n > 0) next += static_cast<std::uint32_t>(n) + 1;
    }
}

std::size_t PackedForest::n_trees() const {
    return std::accumulate(groups.begin(), groups.end(), std::size_t{0},
                           [](std::size_t sum, const TreeGroup& group) { return sum + group.trees.size(); });
}

const TreeGroup& PackedForest::group_of(std::size_t index) const {
    for (const TreeGroup& group : groups) {
        if (index < group.trees.size()) return group;
        index -= group.trees.size();
    }
    throw InvalidInput("There is no tree of this number.");
}

const PackedTree& PackedForest::tree(std::size_t index) const {
    for (const TreeGroup& group : groups) {
        if (index < group.trees.size()) return *group.trees[index];
        index -= group.trees.size();
    }
    throw InvalidInput("There is no tree of this number.");
}

std::size_t PackedForest::bytes() const {
    std::size_t total = 0;
    for (const TreeGroup& group : groups) {
        for (const auto& own : group.thresholds) total += own.size() * sizeof(double);
        for (const auto& tree : group.trees) total += tree->bytes();
    }
    return total;
}

std::size_t PackedForest::n_ranks() const {
    std::size_t total = 0;
    for (const std::int32_t n : n_levels) total += n > 0 ? static_cast<std::size_t>(n) + 1 : 0;
    return total;
}

void validate_lengths(const PackedForest& forest) {
    require(forest.n_columns > 0, "A forest needs at least one column of leaf_values.");
    require(forest.n_levels.size() == forest.n_features && forest.first_rank.size() == forest.n_features,
            "A forest must say of each feature how many levels it has.");
    require(forest.n_features <= PackedNode::kFeature, "A forest has too many features.");
    for (const std::int32_t n : forest.n_levels)
        require(n >= 0 && n < std::numeric_limits<std::uint16_t>::max(),
                "A feature has an impossible number of levels.");
    const std::size_t n_ranks = forest.n_ranks();
    std::size_t number = 0;
    for (const TreeGroup& group : forest.groups) {
        require(group.thresholds.size() == forest.n_features, "A group needs the thresholds of every feature.");
        for (std::size_t feature = 0; feature < forest.n_features; ++feature) {
            const std::size_t n = group.thresholds[feature].size();
            require(n < std::numeric_limits<std::uint16_t>::max(), "A feature has too many thresholds.");
            require(forest.n_levels[feature] == 0 || n == 0, "A nominal feature has thresholds.");
        }
        for (const auto& tree : group.trees) {
            const std::string where = "Tree " + std::to_string(number++) + " ";
            require(!tree->nodes.empty(), where + "needs at least one node.");
            require(tree->leaf_values.size() % forest.n_columns == 0, where + "has part of a leaf value.");
            require(tree->ranks.size() == n_ranks, where + "must rank every level.");
        }
    }
}

void validate(const PackedForest& forest) {
    validate_lengths(forest);
    std::size_t number = 0;
    for (const TreeGroup& group : forest.groups) {
        validate_thresholds(forest, group);
        Limits limits(forest, group);
        for (const auto& tree : group.trees) validate_nodes(forest, limits, *tree, number++);
    }
}

void require_sound(const PackedForest& forest, TreeRange trees) {
    std::size_t number = 0;
    for (const TreeGroup& group : forest.groups) {
        std::optional<Limits> limits;
        for (const auto& tree : group.trees) {
            const std::size_t own = number++;
            if (tree->sound.is_set() || own < trees.begin || own >= trees.end) continue;
            if (!group.sound.is_set()) {
                validate_thresholds(forest, group);
                group.sound.set();
            }
            if (!limits) limits.emplace(forest, group);
            validate_nodes(forest, *limits, *tree, own);
            tree->sound.set();
        }
    }
}

Tree unpack(const PackedForest& forest, std::size_t index) {
    require_sound(forest, {index, index + 1});
    const PackedTree& packed = forest.tree(index);
    const TreeGroup& group = forest.group_of(index);
    const std::size_t n = packed.nodes.size();
    Tree tree;
    tree.n_outputs = forest.n_columns;
    tree.feature.assign(n, kLeaf);
    tree.threshold.assign(n, 0.0);
    tree.levels.assign(n, -1);
    tree.missing_left.assign(n, 0);
    tree.left.assign(n, 0);
    tree.value.assign(n * forest.n_columns, 0.0);
    tree.gain.assign(n, 0.0);
    tree.cover.assign(n, packed.weight);
    tree.n_rows.assign(n, packed.n_rows);
    for (std::size_t i = 0; i < n; ++i) {
        const PackedNode& node = packed.nodes[i];
        if (node.is_leaf()) continue;
        const FeatureIndex feature = node.feature();
        tree.feature[i] = static_cast<std::int32_t>(feature);
        tree.left[i] = node.left;
        tree.missing_left[i] = node.missing_left();
        const double share = node.share / kWhole;
        tree.cover[node.left] = tree.cover[i] * share;
        tree.cover[node.left + 1] = tree.cover[i] - tree.cover[node.left];
        const double rows = std::round(tree.n_rows[i] * share);
        tree.n_rows[node.left] = static_cast<std::uint32_t>(std::clamp(rows, 1.0, std::max(1.0, tree.n_rows[i] - 1.0)));
        tree.n_rows[node.left + 1] = tree.n_rows[i] - tree.n_rows[node.left];
        if (!node.is_nominal()) {
            tree.threshold[i] = group.thresholds[feature][node.code - 1u];
            continue;
        }
        tree.levels[i] = static_cast<std::int32_t>(tree.level_bits.size() / 4);
        tree.level_bits.resize(tree.level_bits.size() + 4, 0);
        std::uint64_t* const bits = tree.level_bits.data() + tree.level_bits.size() - 4;
        const std::uint16_t* const ranks = packed.ranks.data() + forest.first_rank[feature];
        for (std::int32_t level = 0; level < std::min(forest.n_levels[feature], 256); ++level)
            if (node.goes_left(ranks[level + 1])) bits[level / 64] |= std::uint64_t{1} << (level % 64);
    }
    const std::size_t k = forest.n_columns;
    for (std::size_t i = n; i-- > 0;) {  // children come after their parents
        const PackedNode& node = packed.nodes[i];
        double* const value = tree.value.data() + i * k;
        if (node.is_leaf()) {
            std::copy_n(packed.leaf_values.data() + node.left * k, k, value);
            continue;
        }
        const double share = node.share / kWhole;
        const double* const left = tree.value.data() + node.left * k;
        for (std::size_t c = 0; c < k; ++c) value[c] = share * left[c] + (1.0 - share) * left[k + c];
    }
    return tree;
}

}  // namespace coterie
