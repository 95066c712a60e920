#include "coterie/tree/tree.hpp"

#include <cmath>
#include <string>

#include "coterie/base/error.hpp"

namespace coterie {
namespace {

[[noreturn]] void refuse(NodeIndex node, const std::string& why) {
    throw InvalidInput("Node " + std::to_string(node) + " of a tree " + why);
}

}  // namespace

std::vector<std::uint32_t> depths(const Tree& tree) {
    std::vector<std::uint32_t> depth(tree.n_nodes(), 0);
    for (NodeIndex node = 0; node < tree.n_nodes(); ++node) {
        if (tree.is_leaf(node)) continue;
        depth[tree.left[node]] = depth[tree.left[node] + 1] = depth[node] + 1;
    }
    return depth;
}

void validate(const Tree& tree, std::size_t n_features) {
    const std::size_t n = tree.n_nodes();
    require(n > 0, "A tree needs at least one node.");
    require(tree.n_outputs > 0, "A tree needs at least one output.");
    const bool same_length = tree.threshold.size() == n && tree.levels.size() == n && tree.missing_left.size() == n &&
                             tree.left.size() == n && tree.value.size() == n * tree.n_outputs &&
                             tree.gain.size() == n && tree.cover.size() == n && tree.n_rows.size() == n &&
                             (tree.impurity.empty() || tree.impurity.size() == n);
    require(same_length, "The arrays of a tree differ in length.");
    require(tree.level_bits.size() % 4 == 0, "The level sets of a tree must have four words each.");
    const auto n_sets = static_cast<std::int64_t>(tree.level_bits.size() / 4);
    std::vector<std::uint8_t> has_parent(n, 0);
    for (NodeIndex node = 0; node < n; ++node) {
        if (tree.is_leaf(node)) continue;
        if (tree.feature[node] < 0 || static_cast<std::size_t>(tree.feature[node]) >= n_features)
            refuse(node, "splits on feature " + std::to_string(tree.feature[node]) + ", but there are " +
                             std::to_string(n_features) + " features.");
        const std::size_t left = tree.left[node];
        if (left <= node || left + 1 >= n) refuse(node, "has children outside the tree.");
        if (has_parent[left] || has_parent[left + 1]) refuse(node, "shares a child with another node.");
        has_parent[left] = has_parent[left + 1] = 1;
        if (tree.levels[node] < -1 || tree.levels[node] >= n_sets)
            refuse(node, "names a level set that does not exist.");
        if (tree.levels[node] < 0 && std::isnan(tree.threshold[node])) refuse(node, "has NaN as its threshold.");
    }
    for (NodeIndex node = 1; node < n; ++node)
        if (!has_parent[node]) refuse(node, "has no parent.");
}

}  // namespace coterie
