// boosting/leaf_values.hpp: the values of a grown tree's nodes, before shrinkage.
//
// The value of a leaf of few rows has much noise. Path smoothing pulls each node towards its parent, which is itself
// pulled towards its own: a node of n rows keeps the share n / (n + s) of its own value. A node without rows has no
// value of its own and repeats its parent's.
#pragma once

#include <span>
#include <vector>

#include "coterie/boosting/options.hpp"
#include "coterie/split/split.hpp"
#include "coterie/tree/tree.hpp"

namespace coterie {

/// What a node's value is made of, in real units.
struct NodeSums {
    double gradient = 0;
    double hessian = 0;
    Bounds bounds;
};

/// The values that max_step allows.
Bounds bounds_of(const GrowOptions& options);

/// Newton's step inside the bounds; zero without any weight.
double node_value(const NodeSums& sums, const GrowOptions& options);

/// `own * n / (n + smoothing) + parent * smoothing / (n + smoothing)`; the parent's value if there are no rows.
double smoothed(double own, double parent, double n_rows, double smoothing);

/// Gives every inner node the sums of its children.
void add_up(const Tree& tree, std::span<NodeSums> nodes);

/// The values of all nodes, each smoothed with its parent's, then put inside its bounds. Numbers of rows are the
/// tree's.
std::vector<double> smoothed_values(const Tree& tree, std::span<const NodeSums> nodes, const GrowOptions& options);

}  // namespace coterie
