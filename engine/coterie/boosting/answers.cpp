#include "coterie/boosting/answers.hpp"

namespace coterie {

Bounds bounds_of(const GrowOptions& options) {
    return options.max_step > 0 ? Bounds{.low = -options.max_step, .high = options.max_step} : Bounds{};
}

double answer_of(const NodeSums& sums, const GrowOptions& options) {
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

std::vector<double> smoothed_answers(const Tree& tree, std::span<const NodeSums> nodes, const GrowOptions& options) {
    std::vector<double> answers(tree.n_nodes());
    answers[0] = answer_of(nodes[0], options);
    for (NodeIndex node = 0; node < tree.n_nodes(); ++node) {
        if (tree.is_leaf(node)) continue;
        for (const NodeIndex child : {tree.left[node], tree.left[node] + 1}) {
            const double answer =
                smoothed(answer_of(nodes[child], options), answers[node], tree.n_rows[child], options.path_smoothing);
            answers[child] = nodes[child].bounds.clip(answer);
        }
    }
    return answers;
}

}  // namespace coterie
