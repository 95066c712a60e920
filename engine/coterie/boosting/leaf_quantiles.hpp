// boosting/leaf_quantiles.hpp: leaves that predict a quantile of their rows' residuals instead of Newton's step.
//
// Weights are added as whole numbers. One worker sorts its residuals; several find the same quantile digit by digit, by
// the weight that all of them have below each value of the digit, and no residual leaves its worker.
#pragma once

#include <span>
#include <vector>

#include "coterie/base/communicator.hpp"
#include "coterie/base/fixed_point.hpp"
#include "coterie/boosting/options.hpp"
#include "coterie/tree/tree.hpp"

namespace coterie {

/// A residual and what it counts.
struct Weighed {
    float value;
    float weight;
};

/// The least value with at least `level` of the weight at or below it; where the weight is met exactly, the middle
/// between it and the next. Zero if there is none. `weights` makes weights whole; null: all are the same. The order of
/// values changes.
double quantile_of(std::span<Weighed> values, double level, const FixedPoint* weights);

/// The same for the values that all workers have at each index.
std::vector<double> shared_quantiles(std::span<const std::vector<Weighed>> values, double level,
                                     const FixedPoint* weights, Communicator& communicator);

struct LeafResiduals {
    std::vector<std::vector<Weighed>> by_node;  // of leaves; inner nodes are empty
    bool equal = false;                         // all weights are the same
};

/// The value of every node, before shrinkage; those of leaves count. The options are kept as growth keeps them for its
/// own values: paths are smoothed, and each side of a monotone split stays on its side of the middle.
std::vector<double> leaf_quantiles(const Tree& tree, LeafResiduals residuals, double level, const GrowOptions& options,
                                   const Slice& slice, int n_threads);

}  // namespace coterie
