// exact/criterion_tree.hpp: a decision tree grown by a criterion, looking at every distinct value.
//
// Steps
//   1. Rows with weight are put into an order that depends only on targets and weights, so that sums, and with
//      them trees, do not depend on the order of the table. Columns become ranks in that order (ranks.hpp).
//   2. A node draws features and searches each for its split (criterion_search.hpp); the best one parts the
//      node's rows. Its children wait in a frontier: depth first, or best first under max_leaves.
//   3. Below a few thousand rows, subtrees grow side by side on different threads and are then grafted in order.
// Randomness is keyed by the path from the root, so neither threads nor the order of growth can change it.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "coterie/base/column_view.hpp"
#include "coterie/base/progress.hpp"
#include "coterie/split/criterion.hpp"
#include "coterie/tree/tree.hpp"

namespace coterie {

struct CriterionOptions {
    Criterion criterion = Criterion::gini;
    bool random_splits = false;
    std::uint32_t max_depth = std::numeric_limits<std::uint32_t>::max();
    std::size_t min_rows_split = 2;
    std::size_t min_rows_leaf = 1;
    double min_weight_leaf = 0.0;
    double min_impurity_decrease = 0.0;
    std::size_t max_features = 0;                             // per split; 0: all
    std::size_t max_leaves = 0;                               // 0: as many as it takes, depth first
    std::vector<std::int8_t> monotone;                        // per feature, -1, 0 or 1; empty: none
    std::vector<FeatureIndex> features;                       // that the tree may split on; empty: all
    std::vector<std::vector<FeatureIndex>> interaction_sets;  // a path stays inside one of them; empty: no limit
    std::uint64_t seed = 0;
    int n_threads = 1;
};

/// The caller's targets: n_outputs per row, class codes if n_classes is not empty; no weights means ones.
struct TargetView {
    std::span<const double> value;
    std::uint32_t n_outputs = 1;
    std::span<const std::int32_t> n_classes;
    std::span<const double> weight;
};

Tree grow_criterion_tree(const TableView& table, const TargetView& targets, const CriterionOptions& options,
                         StopRequest stop = {});

}  // namespace coterie
