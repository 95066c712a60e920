// explain/shap_tree.hpp: a tree made ready for SHAP values, and a row's way through it.
#pragma once

#include <memory>
#include <vector>

#include "coterie/kernels/kernels.hpp"
#include "coterie/tree/tree.hpp"

namespace coterie {

/// Whether a row goes left at a split; a code that is no level counts as missing.
inline bool goes_left(const Tree& tree, NodeIndex node, double value) {
    if (tree.levels[node] >= 0) {
        if (!(value >= 0.0 && value < kMaxBins - 1)) return tree.missing_left[node] != 0;
        return tree.level_goes_left(tree.levels[node], static_cast<std::uint32_t>(value));
    }
    return value != value ? tree.missing_left[node] != 0 : value <= tree.threshold[node];
}

/// The leaf that a row reaches.
inline NodeIndex leaf_of(const Tree& tree, const double* values) {
    NodeIndex node = 0;
    while (!tree.is_leaf(node)) node = tree.left[node] + !goes_left(tree, node, values[tree.feature[node]]);
    return node;
}

class PreparedTree {
public:
    /// `for_pairs`: with the paths of the leaves, for interactions.
    PreparedTree(std::shared_ptr<const Tree> tree, std::size_t first_output, bool for_pairs);

    const Tree& tree() const { return *tree_; }
    std::size_t first_output() const { return first_output_; }
    std::size_t n_bytes() const;
    std::size_t n_points() const { return points_.n; }
    std::span<const FeatureIndex> features() const { return features_; }
    std::span<const double> expected() const { return expected_; }  // by output
    ShapTree view() const;

    /// The way of a row at each node; `values` by feature.
    void find_ways(const double* values, std::uint8_t* ways) const;

private:
    void find_shares();
    void find_paths();

    struct Split {
        double threshold;
        std::uint32_t node;
        std::uint32_t feature;
        std::uint32_t left;
        std::uint32_t before;  // the node of the last split on the same feature above, 0 if there is none
        bool missing_left;
        bool by_levels;
    };

    std::shared_ptr<const Tree> tree_;
    std::size_t first_output_;
    std::vector<Split> splits_;
    ShapPoints points_;
    std::vector<FeatureIndex> features_;
    std::vector<std::uint32_t> parent_;
    std::vector<std::uint32_t> feature_;
    std::vector<double> share_;
    std::vector<double> share_before_;
    std::vector<double> value_;
    std::vector<double> expected_;
    std::vector<double> ratio_;
    std::vector<double> factor_;
    std::vector<std::uint32_t> leaf_;
    std::vector<std::uint32_t> path_;
    std::vector<std::size_t> first_of_path_;
};

}  // namespace coterie
