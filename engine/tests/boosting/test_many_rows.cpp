// Trees on 65,536 rows and more, where cells no longer count rows: limits hold all the same, to the row.
#include "boosting/problems.hpp"
#include "check.hpp"
#include "coterie/predict/walk.hpp"

namespace coterie::tests {
namespace {

constexpr std::size_t kManyRows = 70'000;

/// Hessians from a billionth to a quarter, as confident scores of a log loss have them.
Problem with_tiny_hessians(std::uint64_t seed, std::size_t n_rows, std::size_t n_features) {
    Problem problem = random_problem(seed, n_rows, n_features);
    problem.hessian.resize(n_rows);
    for (std::size_t row = 0; row < n_rows; ++row) {
        const double size = std::pow(10.0, -9 * random_unit(seed, Purpose::rounding, row)) / 4;
        problem.hessian[row] = static_cast<float>(size);
        problem.gradient[row] *= static_cast<float>(std::sqrt(size));
    }
    return problem;
}

void check_rows(const Tree& tree, std::uint32_t least) {
    for (NodeIndex node = 0; node < tree.n_nodes(); ++node) {
        check(tree.n_rows[node] >= least, "every node keeps its rows");
        if (tree.is_leaf(node)) continue;
        check_equal(tree.n_rows[tree.left[node]] + tree.n_rows[tree.left[node] + 1], tree.n_rows[node]);
    }
}

const Test tiny_hessians("a leaf keeps at least min_samples_leaf rows, however light they are", [] {
    for (const std::size_t n_rows : {65'535u, 65'536u, 70'000u})
        for (const std::uint32_t least : {1u, 20u, 1500u}) {
            const Problem problem = with_tiny_hessians(n_rows + least, n_rows, 6);
            const GrowOptions options{.max_leaf_nodes = 31, .min_samples_leaf = least, .min_child_weight = 0};
            const Tree tree = grow(problem, options);
            validate(tree, 6);
            check(tree.n_nodes() > 9, "the tree is worth looking at");
            check_equal(tree.n_rows[0], static_cast<std::uint32_t>(n_rows));
            check_rows(tree, least);
        }
});

const Test threads("the number of threads does not change one bit of a tree on many rows", [] {
    const Problem problem = with_tiny_hessians(1, kManyRows, 12);
    const GrowOptions options{.max_leaf_nodes = 31, .min_samples_leaf = 25, .min_child_weight = 0};
    const Tree one = grow(problem, options, 1);
    for (const int n_threads : {2, 3, 8})
        check(same(grow(problem, options, n_threads), one), "both trees are the same");
});

const Test scores_follow("the scores of many rows advance by what the tree predicts, for any number of threads", [] {
    constexpr std::size_t n_rows = 150'000;  // more than two blocks of scores
    const Problem problem = random_problem(5, n_rows, 4);
    for (const int n_threads : {1, 2, 3}) {
        TreeGrower grower(binned(problem.table, n_threads), {.max_leaf_nodes = 31}, n_threads);
        const Tree tree = grower.grow({.gradient = problem.gradient, .hessian = problem.hessian, .rows = {}}, 0);
        check(tree.n_nodes() > 9, "the tree is worth looking at");
        Buffer<float> scores(n_rows, 1.0f);
        grower.add_predictions(scores);
        Forest forest{.n_features = 4};
        forest.add(std::make_shared<const Tree>(tree), 0);
        std::vector<double> walked(n_rows, 0.0);
        add_scores(forest, problem.table.view(), walked, 1);
        for (std::size_t row = 0; row < n_rows; ++row) check_equal(scores[row], 1.0f + static_cast<float>(walked[row]));
    }
});

/// One column: most rows say 1, five say 2 and pull hard, and a thousand rows of no weight are `idle`.
Problem five_that_pull(double idle, std::int32_t n_levels) {
    Problem problem;
    problem.table = {.values = {std::vector<double>(kManyRows, 0.0)}, .n_levels = {n_levels}};
    problem.gradient.assign(kManyRows, 0.001f);
    problem.hessian.assign(kManyRows, 1.0f);
    for (std::size_t row = 0; row < 1000; ++row) {
        problem.table.values[0][70 * row] = idle;
        problem.gradient[70 * row] = problem.hessian[70 * row] = 0;
    }
    for (std::size_t row = 1; row <= 5; ++row) {
        problem.table.values[0][70 * row + 1] = 1;
        problem.gradient[70 * row + 1] = 50;
    }
    return problem;
}

const Test weightless_missing("missing rows without weight are counted on the side they really go to", [] {
    const GrowOptions options{.max_leaf_nodes = 4, .min_samples_leaf = 20, .min_child_weight = 0};
    check_rows(grow(five_that_pull(kMissing, 0), options), 20);
});

const Test weightless_level("a level without weight is counted on the side it really goes to", [] {
    const GrowOptions options{.max_leaf_nodes = 4, .min_samples_leaf = 20, .min_child_weight = 0};
    check_rows(grow(five_that_pull(2, 3), options), 20);
});

const Test both_sides("missing rows may go right on many rows as on few", [] {
    // Missing rows have the prediction of the high values; only the low ones differ.
    for (const std::size_t n_rows : {std::size_t{1000}, kManyRows}) {
        Problem problem;
        problem.table = {.values = {std::vector<double>(n_rows)}, .n_levels = {0}};
        problem.gradient.resize(n_rows);
        problem.hessian.assign(n_rows, 0.25f);
        for (std::size_t row = 0; row < n_rows; ++row) {
            const bool low = row % 3 == 0;
            problem.table.values[0][row] = low ? 1.0 : row % 3 == 1 ? 2.0 : kMissing;
            problem.gradient[row] = low ? -1.0f : 1.0f;
        }
        const Tree tree = grow(problem, {.max_leaf_nodes = 2});
        check_equal(tree.n_nodes(), std::size_t{3});
        check_equal(tree.missing_left[0], std::uint8_t{0});
        check(tree.threshold[0] >= 1 && tree.threshold[0] < 2, "the low values stand alone");
    }
});

}  // namespace
}  // namespace coterie::tests
