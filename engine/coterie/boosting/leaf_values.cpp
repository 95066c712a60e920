#include "coterie/boosting/leaf_values.hpp"

namespace coterie {

Bounds bounds_of(const GrowOptions& options) {
    return options.max_step > 0 ? Bounds{.low = -options.max_step, .high = options.max_step} : Bounds{};
}

double node_value(const NodeSums& sums, const GrowOptions& options) {
    const double weight = sums.hessian + options.l2;
    return weight > 0 ? sums.bounds.clip(-shrunk(sums.gradient, options.l1) / weight) : 0.0;
}

double smoothed(double own, double parent, double n_rows, double smoothing) {
    if (n_rows == 0) return parent;
    if (smoothing == 0) return own;
    const double r = n_rows / smoothing;
    return own * (r / (r + 1)) + parent * (1 / (r + 1));
}

void add_up(const Tree& tree, std::span<NodeSums> nodes) {
    for (auto node = static_cast<NodeIndex>(tree.n_nodes()); node-- > 0;) {  // children come after their parent
        if (tree.is_leaf(node)) continue;
        const NodeSums& left = nodes[tree.left[node]];
        const NodeSums& right = nodes[tree.left[node] + 1];
        nodes[node].gradient = left.gradient + right.gradient;
        nodes[node].hessian = left.hessian + right.hessian;
    }
}

std::vector<double> smoothed_values(const Tree& tree, std::span<const NodeSums> nodes, const GrowOptions& options) {
    std::vector<double> values(tree.n_nodes());
    values[0] = node_value(nodes[0], options);
    for (NodeIndex node = 0; node < tree.n_nodes(); ++node) {
        if (tree.is_leaf(node)) continue;
        for (const NodeIndex child : {tree.left[node], tree.left[node] + 1}) {
            const double value =
                smoothed(node_value(nodes[child], options), values[node], tree.n_rows[child], options.path_smoothing);
            values[child] = nodes[child].bounds.clip(value);
        }
    }
    return values;
}

}  // namespace coterie
