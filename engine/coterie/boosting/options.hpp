// boosting/options.hpp: how a tree may grow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "coterie/base/types.hpp"

namespace coterie {

/// Which leaf is split next.
enum class Growth : std::uint8_t {
    leaf,       // the one that gains most
    level,      // the one that gains most of those nearest to the root
    oblivious,  // all of a level at once, by one split that they share
};

struct GrowOptions {
    Growth growth = Growth::leaf;

    std::uint32_t max_leaf_nodes = 31;  // 0: no limit
    std::uint32_t max_depth = 0;        // 0: no limit
    std::uint32_t min_samples_leaf = 20;
    std::uint32_t min_samples_split = 2;  // a node of fewer rows stays a leaf
    double min_child_weight = 1e-3;       // least sum of hessians in a child
    double l1 = 0.0;                      // gradient sums come this much nearer to zero
    double l2 = 0.0;
    double max_step = 0;                  // no step is further from zero; 0: no limit
    double free_step = 0;                 // of outputs that share splits: longer ones are damped; 0: none is
    double min_gain = 0.0;                // a split must improve the objective by more than this
    double max_features = 1.0;            // share of the features drawn anew for each node,
    double max_features_per_level = 1.0;  // from the share drawn for each level,
    double max_features_per_tree = 1.0;   // from the share drawn for the tree
    double level_smoothing = 0;           // rows' worth of hessian that pull the order of rare levels towards zero
    double level_l2 = 0;                  // added to l2 when a nominal split is scored
    double leaf_penalty = 0;              // what each leaf beyond the first must gain in the finished tree
    double split_noise = 0;               // of gains, when features are compared; unit: what one split gains by chance
    double path_smoothing = 0;            // rows' worth of its parent's value in the value of a node
    bool linear_leaves = false;           // leaves have a line through the numeric features of their path,
    double linear_l2 = 0.01;              // whose slopes this makes less steep: unit, the variance of a feature
    double learning_rate = 1.0;           // every leaf takes this share of its step
    double value_unit = 1.0;              // values of the tree are steps times this; scores are not

    std::size_t histogram_bytes = 0;  // memory for histograms of open leaves; 0: see default_histogram_bytes()

    std::vector<std::int8_t> monotone;  // per feature: 1 increasing, -1 decreasing, 0 free; empty: all free
    std::vector<std::vector<FeatureIndex>> interaction_sets;  // a path stays inside one of them; empty: no limit
};

/// How many levels an oblivious tree may have.
std::uint32_t oblivious_depth(const GrowOptions& options);

/// Throws InvalidInput unless a tree on so many features can grow like this.
void check_options(const GrowOptions& options, std::size_t n_features);

}  // namespace coterie
