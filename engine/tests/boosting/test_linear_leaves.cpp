// Lines in leaves: those that one can draw by hand, the same for any number of threads, and what scores are told is
// what predictions say.
#include <algorithm>
#include <cmath>

#include "boosting/problems.hpp"
#include "check.hpp"
#include "coterie/base/error.hpp"
#include "coterie/boosting/grow_joint.hpp"
#include "coterie/predict/walk.hpp"

namespace coterie::tests {
namespace {

std::vector<double> predictions_of(const Tree& tree, const Columns& table) {
    Forest forest{.n_features = table.values.size(), .n_outputs = 1, .trees = {}, .first_output = {}};
    forest.add(std::make_shared<const Tree>(tree), 0);
    std::vector<double> scores(table.n_rows(), 0.0);
    add_scores(forest, table.view(), scores, 1);
    return scores;
}

// One feature from 0 to 1 in steps of 1/200; the target is 3x up to 1/2 and 9 - x beyond.
Problem roof() {
    Problem problem{.table = {.values = {std::vector<double>(200)}, .n_levels = {0}}, .gradient = {}};
    for (std::size_t row = 0; row < 200; ++row) {
        const double x = static_cast<double>(row) / 200;
        problem.table.values[0][row] = x;
        problem.gradient.push_back(static_cast<float>(-(x < 0.5 ? 3 * x : 9 - x)));
    }
    return problem;
}

const Test by_hand("two lines are found where two lines are", [] {
    const Problem problem = roof();
    const Tree tree = grow(problem, {.max_leaf_nodes = 2, .linear_leaves = true, .linear_l2 = 0});
    check_equal(tree.linear.feature, std::vector<std::int32_t>{0, 0});
    check_near(tree.linear.slope[0], 3, 1e-5);
    check_near(tree.linear.slope[1], -1, 1e-5);
    check_near(tree.linear.centre[0], 49.5 / 200, 1e-12);
    check_equal(tree.linear.least[1], 0.5);
    check_equal(tree.linear.most[1], 199.0 / 200);
    const std::vector<double> predictions = predictions_of(tree, problem.table);
    for (std::size_t row = 0; row < 200; ++row) check_near(predictions[row], -problem.gradient[row], 1e-5);
});

const Test shrunk_slopes("linear_l2 = 1 halves the slope of a single feature", [] {
    const Tree free = grow(roof(), {.max_leaf_nodes = 2, .linear_leaves = true, .linear_l2 = 0});
    const Tree half = grow(roof(), {.max_leaf_nodes = 2, .linear_leaves = true, .linear_l2 = 1});
    for (std::size_t term = 0; term < 2; ++term) check_near(half.linear.slope[term], free.linear.slope[term] / 2, 1e-9);
});

const Test monotone("a slope that a constraint forbids is not there", [] {
    const GrowOptions options{.max_leaf_nodes = 2, .linear_leaves = true, .linear_l2 = 0, .monotone = {1}};
    const Tree tree = grow(roof(), options);
    check_equal(tree.linear.feature.size(), std::size_t{1});
    check(tree.linear.slope[0] > 0, "the slope that is left ascends");
});

const Test steps("no line goes further than max_step", [] {
    const Problem problem = roof();
    const Tree tree = grow(problem, {.max_leaf_nodes = 2, .max_step = 1, .linear_leaves = true});
    for (const double prediction : predictions_of(tree, problem.table))
        check(std::abs(prediction) <= 1, "steps are short");
});

const Test infinite("a feature with an infinite value in a leaf has no slope there", [] {
    Problem problem = roof();
    problem.table.values[0][199] = std::numeric_limits<double>::infinity();
    const Tree tree = grow(problem, {.max_leaf_nodes = 2, .linear_leaves = true});
    check_equal(tree.linear.feature.size(), std::size_t{1});
    for (const double prediction : predictions_of(tree, problem.table))
        check(std::isfinite(prediction), "predictions are finite");
});

const Test alike("rows with the same step have a constant, not a slope of rounding errors", [] {
    Problem problem = roof();
    for (std::size_t row = 0; row < 200; ++row) problem.gradient[row] = row < 100 ? 0.1f : -0.3f;
    problem.hessian.assign(200, 0.7f);
    check(grow(problem, {.max_leaf_nodes = 2, .linear_leaves = true}).linear.empty(), "there is no line");
});

const Test too_few("a line of two numbers needs twelve rows, or the leaf keeps its constant", [] {
    for (const std::size_t n_rows : {11u, 12u}) {
        Problem problem{.table = {.values = {{}}, .n_levels = {0}}, .gradient = {}};
        for (std::size_t row = 0; row < 2 * n_rows; ++row) {
            problem.table.values[0].push_back(static_cast<double>(row));
            problem.gradient.push_back(static_cast<float>(row) + (row < n_rows ? 0.0f : 900.0f));
        }
        const Tree tree = grow(problem, {.max_leaf_nodes = 2, .min_samples_leaf = 1, .linear_leaves = true});
        check_equal(tree.n_rows[1], n_rows);
        check_equal(tree.linear.empty(), n_rows == 11);
    }
});

const Test sorted("rows are sorted by leaf and stay in order", [] {
    const std::vector<NodeIndex> leaf_of_row{2, 1, 2, 1, 1};
    const std::vector<RowIndex> rows{0, 2, 3, 4};
    const LeafRows sorted = rows_by_leaf(3, leaf_of_row, rows);
    check_equal(sorted.first, std::vector<std::size_t>{0, 0, 2, 4});
    check_equal(sorted.rows, std::vector<RowIndex>{3, 4, 0, 2});
});

const Test threads("threads cannot change a line", [] {
    const Problem problem = random_problem(7, 40'000, 8);
    const GrowOptions options{.max_leaf_nodes = 12, .linear_leaves = true};
    const Tree alone = grow(problem, options, 1);
    check(!alone.linear.empty(), "there are lines");
    for (const int n_threads : {2, 3, 8}) check(same(grow(problem, options, n_threads), alone), "trees are the same");
});

const Test scores("scores advance by what the tree predicts, whoever took part", [] {
    const Problem problem = random_problem(8, 3000, 8);
    const TableView values = problem.table.view();
    std::vector<RowIndex> most;
    for (RowIndex row = 0; row < 3000; ++row)
        if (row % 5 != 0) most.push_back(row);
    for (const Growth growth : {Growth::leaf, Growth::level, Growth::oblivious})
        for (const bool all : {true, false})
            for (const SamplingMethod method : {SamplingMethod::none, SamplingMethod::uniform}) {
                TreeGrower grower(binned(problem.table, 1),
                                  {.growth = growth,
                                   .max_leaf_nodes = 16,
                                   .leaf_penalty = 1,
                                   .linear_leaves = true,
                                   .learning_rate = 0.3,
                                   .value_unit = 8},
                                  2);
                const Derivatives derivatives{
                    .gradient = problem.gradient, .hessian = {}, .rows = all ? std::span<const RowIndex>() : most};
                const Tree tree = grower.grow(derivatives, 3, {}, {.method = method, .share = 0.5}, &values);
                check(!tree.linear.empty(), "there are lines");
                std::vector<float> scores(3000, 0.0f);
                grower.add_predictions(scores);
                const std::vector<double> predictions = predictions_of(tree, problem.table);
                for (std::size_t row = 0; row < 3000; ++row)
                    check_equal(scores[row], static_cast<float>(predictions[row] / 8));
            }
});

const Test refused("what lines cannot do is refused", [] {
    const Problem problem = random_problem(9, 500, 4);
    const auto matrix = binned(problem.table, 1);
    const Derivatives derivatives{.gradient = problem.gradient, .hessian = {}, .rows = {}};
    TreeGrower grower(matrix, {.linear_leaves = true}, 1);
    check_throws<InvalidInput>([&] { grower.grow(derivatives, 1); }, "need the values");
    const Columns other = random_columns(1, 10, 4);
    const TableView short_table = other.view();
    check_throws<InvalidInput>([&] { grower.grow(derivatives, 1, {}, {}, &short_table); }, "rows and features");
    check_throws<InvalidInput>([&] { TreeGrower(matrix, {.l1 = 1, .linear_leaves = true}, 1); }, "do not go with l1");
    check_throws<InvalidInput>([&] { TreeGrower(matrix, {.path_smoothing = 1, .linear_leaves = true}, 1); },
                               "path smoothing");
    check_throws<InvalidInput>([&] { TreeGrower(matrix, {.linear_l2 = -1}, 1); }, "must not be negative");
    check_throws<InvalidInput>([&] { JointGrower(matrix, {.linear_leaves = true}, {1, 1}, 1); }, "linear leaves");
});

}  // namespace
}  // namespace coterie::tests
