// Values of leaves: smoothed with their parents', from the rows that the tree saw or from all.
#include <algorithm>
#include <cmath>

#include "boosting/problems.hpp"
#include "check.hpp"

namespace coterie::tests {
namespace {

// y = -1 but for the last row, which is 7: the tree of three leaves that test_grow_tree draws.
Problem six_rows() {
    Problem problem;
    problem.table = {.values = {{0, 0, 1, 1, 2, 2}, {0, 1, 0, 1, 0, 1}}, .n_levels = {0, 0}};
    problem.gradient = {1, 1, 1, 1, 1, -7};
    return problem;
}

const Test by_hand("path smoothing mixes what one mixes by hand", [] {
    const Tree tree = grow(six_rows(), {.max_leaf_nodes = 3, .min_samples_leaf = 1, .path_smoothing = 2});
    check_equal(tree.n_nodes(), std::size_t{5});
    const double root = 2.0 / 6;                // the mean
    const double right = 3 * 0.5 + root * 0.5;  // two rows: half its own, half the root's
    check_near(tree.value[0], root, 1e-12);
    check_near(tree.value[1], -1 * 2.0 / 3 + root / 3, 1e-12);
    check_near(tree.value[2], right, 1e-12);
    check_near(tree.value[3], -1 / 3.0 + right * 2 / 3, 1e-12);
    check_near(tree.value[4], 7 / 3.0 + right * 2 / 3, 1e-12);
});

const Test same_splits("path smoothing changes values and no split", [] {
    const Problem problem = random_problem(1, 3000, 8);
    const Tree plain = grow(problem, {.max_leaf_nodes = 31});
    const Tree smooth = grow(problem, {.max_leaf_nodes = 31, .path_smoothing = 50});
    check_equal(smooth.feature, plain.feature);
    check_equal(smooth.gain, plain.gain);
    check(smooth.value != plain.value, "values differ");
});

const Test counts_all("with a sample, smoothing counts the rows of the whole table", [] {
    const Problem problem = random_problem(2, 4000, 8);
    const GrowOptions options{.max_leaf_nodes = 2, .min_samples_leaf = 30, .path_smoothing = 700};
    TreeGrower grower(binned(problem.table, 2), options, 2);
    const Tree tree = grower.grow({.gradient = problem.gradient, .hessian = {}, .rows = {}}, 3, {},
                                  {.method = SamplingMethod::uniform, .share = 0.3});
    check_equal(tree.n_rows[0], 4000u);
    std::vector<float> scores(4000, 0.0f);
    grower.add_predictions(scores);
    double total = 0;
    for (const float gradient : problem.gradient) total -= static_cast<double>(gradient);
    for (const NodeIndex leaf : {1u, 2u}) {
        const auto n = static_cast<double>(tree.n_rows[leaf]);
        double own = 0;
        for (std::size_t row = 0; row < 4000; ++row)
            if (scores[row] == static_cast<float>(tree.value[leaf])) own -= static_cast<double>(problem.gradient[row]);
        check_near(tree.value[leaf], own / n * (n / (n + 700)) + total / 4000 * (700 / (n + 700)), 1e-9);
    }
});

const Test kept_order("smoothed values keep the order of a monotone feature", [] {
    const Problem problem = random_problem(6, 3000, 4);
    GrowOptions options{.max_leaf_nodes = 31, .min_samples_leaf = 2, .path_smoothing = 20};
    options.monotone = {-1, 0, 0, 0};
    TreeGrower grower(binned(problem.table, 1), options, 1);
    Tree tree = grower.grow({.gradient = problem.gradient, .hessian = {}, .rows = {}}, 42);
    std::vector<float> residual;
    for (const float gradient : problem.gradient) residual.push_back(-gradient);
    const auto check_order = [&] {
        for (NodeIndex node = 0; node < tree.n_nodes(); ++node) {
            if (tree.is_leaf(node) || tree.feature[node] != 0) continue;
            std::vector<std::vector<NodeIndex>> sides = {{tree.left[node]}, {tree.left[node] + 1}};
            std::vector<double> most(2, -1e9), least(2, 1e9);
            for (std::size_t side = 0; side < 2; ++side)
                for (std::size_t i = 0; i < sides[side].size(); ++i) {
                    const NodeIndex below = sides[side][i];
                    if (tree.is_leaf(below)) {
                        most[side] = std::max(most[side], tree.value[below]);
                        least[side] = std::min(least[side], tree.value[below]);
                    } else {
                        sides[side].insert(sides[side].end(), {tree.left[below], tree.left[below] + 1});
                    }
                }
            check(least[0] >= most[1], "every value on the left is at least every one on the right");
        }
    };
    check(std::ranges::count(tree.feature, 0) > 2, "the feature is used");
    check_order();
    grower.set_quantile_values(tree, residual, {}, 0.5);
    check_order();
});

const Test smooth_quantiles("quantiles are smoothed with the quantile of the parent", [] {
    const Problem problem = six_rows();
    TreeGrower grower(binned(problem.table, 1), {.max_leaf_nodes = 3, .min_samples_leaf = 1, .path_smoothing = 2}, 1);
    Tree tree = grower.grow({.gradient = problem.gradient, .hessian = {}, .rows = {}}, 42);
    grower.set_quantile_values(tree, std::vector<float>{-1, -1, -1, -1, -1, 7}, {}, 0.5);
    const double right = 3 * 0.5 + -1 * 0.5;
    check_near(tree.value[1], -1, 1e-12);
    check_near(tree.value[3], -1 / 3.0 + right * 2 / 3, 1e-12);
    check_near(tree.value[4], 7 / 3.0 + right * 2 / 3, 1e-12);
});

const Test silent("a sampled tree without a split adds nothing, whatever the tree before it was", [] {
    const Problem problem = random_problem(3, 2000, 6);
    TreeGrower grower(binned(problem.table, 1), {.max_leaf_nodes = 31}, 1);
    const RowSampling sampling{.method = SamplingMethod::uniform, .share = 0.5};
    grower.grow({.gradient = problem.gradient, .hessian = {}, .rows = {}}, 1, {}, sampling);
    const std::vector<float> zeros(2000, 0.0f);
    const Tree tree = grower.grow({.gradient = zeros, .hessian = {}, .rows = {}}, 2, {}, sampling);
    check_equal(tree.n_nodes(), std::size_t{1});
    std::vector<float> scores(2000, 1.0f);
    grower.add_predictions(scores);
    check_equal(scores, std::vector<float>(2000, 1.0f));
});

}  // namespace
}  // namespace coterie::tests
