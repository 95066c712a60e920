#include "coterie/tree/tree.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "coterie/base/error.hpp"

namespace coterie {
namespace {

[[noreturn]] void refuse(NodeIndex node, const std::string& why) {
    throw InvalidInput("Node " + std::to_string(node) + " of a tree " + why);
}

bool all_finite(const std::vector<double>& values) {
    return std::ranges::all_of(values, [](double value) { return std::isfinite(value); });
}

void validate_terms(const Tree& tree, std::size_t n_features) {
    const LinearLeaves& linear = tree.linear;
    const std::size_t n = tree.n_nodes();
    const std::size_t n_terms = linear.feature.size();
    const bool same_length = linear.slope.size() == n_terms && linear.centre.size() == n_terms &&
                             linear.least.size() == n_terms && linear.most.size() == n_terms;
    require(same_length, "The arrays of a tree's terms differ in length.");
    const std::size_t n_expected = linear.empty() ? 0 : n;
    require(linear.base.size() == n_expected && linear.low.size() == n_expected && linear.high.size() == n_expected &&
                (linear.empty() ? n_terms == 0 : linear.first_term.size() == n + 1),
            "The arrays of a tree's linear leaves differ in length.");
    if (linear.empty()) return;
    require(tree.n_outputs == 1, "A tree with linear leaves has one output.");
    require(linear.first_term[0] == 0 && linear.first_term[n] == n_terms && std::ranges::is_sorted(linear.first_term),
            "The terms of a tree's nodes must follow one another.");
    require(all_finite(linear.base) && all_finite(linear.slope) && all_finite(linear.centre) &&
                all_finite(linear.least) && all_finite(linear.most),
            "The terms of a tree must be finite numbers.");
    for (NodeIndex node = 0; node < n; ++node) {
        if (!tree.is_leaf(node) && linear.first_term[node] != linear.first_term[node + 1])
            refuse(node, "has terms and is no leaf.");
        if (!(linear.low[node] <= linear.high[node])) refuse(node, "has bounds that are out of order.");
    }
    for (std::size_t term = 0; term < n_terms; ++term) {
        const std::int32_t feature = linear.feature[term];
        require(feature >= 0 && static_cast<std::size_t>(feature) < n_features,
                "A term of a tree is about feature " + std::to_string(feature) + ", but there are " +
                    std::to_string(n_features) + " features.");
        require(linear.least[term] <= linear.most[term], "A term of a tree has a range that is out of order.");
    }
}

}  // namespace

Tree scaled(const Tree& tree, double times) {
    Tree result = tree;
    LinearLeaves& linear = result.linear;
    if (times < 0) std::swap(linear.low, linear.high);
    for (auto* const values : {&result.value, &linear.base, &linear.slope})
        for (double& value : *values) value *= times;
    for (auto* const bounds : {&linear.low, &linear.high})
        for (double& bound : *bounds)  // no bound is no bound for zero values too
            if (times != 0 || std::isfinite(bound)) bound *= times;
    return result;
}

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
    validate_terms(tree, n_features);
}

}  // namespace coterie
