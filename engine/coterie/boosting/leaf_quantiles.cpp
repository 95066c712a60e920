#include "coterie/boosting/leaf_quantiles.hpp"

#include <algorithm>
#include <cmath>

#include "coterie/base/parallel.hpp"
#include "coterie/boosting/leaf_values.hpp"

namespace coterie {
namespace {

constexpr std::size_t kRowsPerThread = 20'000;

double quantile_of_equals(std::span<Weighed> values, double level) {
    const auto n = static_cast<double>(values.size());
    const double wanted = level * n;
    const auto rank = static_cast<std::size_t>(std::clamp(std::ceil(wanted), 1.0, n)) - 1;
    const auto place = values.begin() + static_cast<std::ptrdiff_t>(rank);
    std::ranges::nth_element(values, place, {}, &Weighed::value);
    const auto here = static_cast<double>(place->value);
    if (static_cast<double>(rank + 1) != wanted || rank + 1 == values.size()) return here;
    const auto next = std::ranges::min_element(place + 1, values.end(), {}, &Weighed::value);
    return (here + static_cast<double>(next->value)) / 2;
}

// Every inner node gets the residuals of its children.
void fill_inner_nodes(const Tree& tree, std::vector<std::vector<Weighed>>& residuals) {
    for (auto node = static_cast<NodeIndex>(tree.n_nodes()); node-- > 0;) {
        if (tree.is_leaf(node)) continue;
        for (const NodeIndex child : {tree.left[node], tree.left[node] + 1})
            residuals[node].insert(residuals[node].end(), residuals[child].begin(), residuals[child].end());
    }
}

// Parents come first, so a node is smoothed with an answer that is final.
void keep_options(const Tree& tree, const GrowOptions& options, std::vector<double>& answers) {
    std::vector<Bounds> bounds(tree.n_nodes());
    bounds[0] = bounds_of(options);
    answers[0] = bounds[0].clip(answers[0]);
    for (NodeIndex node = 0; node < tree.n_nodes(); ++node) {
        if (tree.is_leaf(node)) continue;
        const NodeIndex left = tree.left[node];
        bounds[left] = bounds[left + 1] = bounds[node];
        const int direction =
            options.monotone.empty() ? 0 : options.monotone[static_cast<std::size_t>(tree.feature[node])];
        if (direction != 0) {
            const double middle = (bounds[node].clip(answers[left]) + bounds[node].clip(answers[left + 1])) / 2;
            (direction > 0 ? bounds[left].high : bounds[left].low) = middle;
            (direction > 0 ? bounds[left + 1].low : bounds[left + 1].high) = middle;
        }
        for (const NodeIndex child : {left, left + 1})
            answers[child] =
                bounds[child].clip(smoothed(answers[child], answers[node], tree.n_rows[child], options.path_smoothing));
    }
}

}  // namespace

double quantile_of(std::span<Weighed> values, double level, bool equal) {
    if (values.empty()) return 0;
    if (equal) return quantile_of_equals(values, level);
    std::ranges::sort(values, [](const Weighed& a, const Weighed& b) {
        return a.value < b.value || (a.value == b.value && a.weight < b.weight);
    });
    double total = 0;
    for (const Weighed& each : values) total += static_cast<double>(each.weight);
    double below = 0;
    for (std::size_t i = 0; i + 1 < values.size(); ++i) {
        below += static_cast<double>(values[i].weight);
        if (below < level * total) continue;
        const auto here = static_cast<double>(values[i].value);
        return below == level * total ? (here + static_cast<double>(values[i + 1].value)) / 2 : here;
    }
    return static_cast<double>(values.back().value);
}

std::vector<double> answer_quantiles(const Tree& tree, LeafResiduals residuals, double level,
                                     const GrowOptions& options, int n_threads) {
    const bool related = !options.monotone.empty() || options.path_smoothing > 0 || options.growth == Growth::oblivious;
    if (related) fill_inner_nodes(tree, residuals.by_node);
    std::size_t n_rows = 0;
    for (const auto& own : residuals.by_node) n_rows += own.size();
    std::vector<double> answers(tree.n_nodes(), 0.0);
    parallel_for(tree.n_nodes(), n_rows < kRowsPerThread ? 1 : n_threads, [&](std::size_t node) {
        answers[node] = quantile_of(residuals.by_node[node], level, residuals.equal);
    });
    if (related || options.max_step > 0) keep_options(tree, options, answers);
    return answers;
}

}  // namespace coterie
