// tree/tree.hpp: a finished tree. Growers build it, then nobody changes it; prediction, SHAP, drawing,
// storage and export all read the same arrays.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "coterie/base/types.hpp"

namespace coterie {

inline constexpr std::int32_t kLeaf = -1;

/// Predictions that change within a leaf. Every array is empty if the tree has none.
///
/// A *term* is a feature with a slope. A leaf with terms predicts base + the sum of slope * (value - centre), where the
/// value is put inside [least, most] first and the sum inside [low, high] last. Rows that miss a value of a term, and
/// leaves without terms, have the constant value.
struct LinearLeaves {
    std::vector<std::uint32_t> first_term;  // one entry per node and one more: a node's terms end where the next begin
    std::vector<double> base;               // one entry per node, and so low and high
    std::vector<double> low;
    std::vector<double> high;
    std::vector<std::int32_t> feature;  // one entry per term, as all that follow
    std::vector<double> slope;
    std::vector<double> centre;
    std::vector<double> least;
    std::vector<double> most;

    bool empty() const { return first_term.empty(); }
    bool operator==(const LinearLeaves&) const = default;
};

/// Parallel arrays, one entry per node, root at 0. The right child of a split is left + 1.
struct Tree {
    std::uint32_t n_outputs = 1;
    std::vector<std::int32_t> feature;       // kLeaf at a leaf
    std::vector<double> threshold;           // numeric split: rows with value <= threshold go left
    std::vector<std::int32_t> levels;        // nominal split: index of the set of levels going left, else -1
    std::vector<std::uint8_t> missing_left;  // where a missing (or never seen) value goes
    std::vector<NodeIndex> left;             // 0 at a leaf
    std::vector<double> value;               // n_outputs per node: what the node would predict as a leaf
    std::vector<double> gain;                // how much the split improves the objective, 0 at a leaf
    std::vector<double> cover;               // weight (hessian) of the training rows in the node
    std::vector<std::uint32_t> n_rows;       // number of training rows in the node
    std::vector<double> impurity;            // of the node, for trees grown by a criterion; empty otherwise
    std::vector<std::uint64_t> level_bits;   // sets of levels, four words (256 levels) each
    LinearLeaves linear;                     // what leaves predict instead of their value

    std::size_t n_nodes() const { return feature.size(); }
    bool is_leaf(NodeIndex node) const { return feature[node] == kLeaf; }
    bool level_goes_left(std::int32_t set, std::uint32_t level) const {
        return level_bits[static_cast<std::size_t>(set) * 4 + level / 64] >> (level % 64) & 1u;
    }
    std::span<const double> values_of(NodeIndex node) const {
        return {value.data() + static_cast<std::size_t>(node) * n_outputs, n_outputs};
    }
};

/// What a leaf of a tree with linear leaves predicts for a row; `value_of(feature)` is the row's value, NaN if missing.
template <class ValueOf>
double linear_prediction(const Tree& tree, NodeIndex leaf, ValueOf value_of) {
    const LinearLeaves& linear = tree.linear;
    const std::size_t begin = linear.first_term[leaf];
    const std::size_t end = linear.first_term[leaf + 1];
    if (begin == end) return tree.value[leaf];
    double prediction = linear.base[leaf];
    for (std::size_t term = begin; term < end; ++term) {
        const double value = value_of(static_cast<FeatureIndex>(linear.feature[term]));
        if (std::isnan(value)) return tree.value[leaf];
        const double inside = value < linear.least[term]  ? linear.least[term]
                              : value > linear.most[term] ? linear.most[term]
                                                          : value;
        prediction += linear.slope[term] * (inside - linear.centre[term]);
    }
    return prediction < linear.low[leaf]    ? linear.low[leaf]
           : prediction > linear.high[leaf] ? linear.high[leaf]
                                            : prediction;
}

/// The same tree with every value multiplied.
Tree scaled(const Tree& tree, double times);

/// Depth of each node, root 0. Children always come after their parent.
std::vector<std::uint32_t> depths(const Tree& tree);

/// Throws InvalidInput unless the arrays agree in length, children lie inside and after their parent, features and
/// level sets exist, and terms are finite numbers. Everything that reads a tree from outside the engine calls this
/// first.
void validate(const Tree& tree, std::size_t n_features);

}  // namespace coterie
