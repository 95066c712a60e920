// Trees of several outputs: shared splits, own values, threads, samples.
#include <algorithm>
#include <cmath>

#include "boosting/problems.hpp"
#include "check.hpp"
#include "coterie/base/error.hpp"
#include "coterie/boosting/grow_joint.hpp"

namespace coterie::tests {
namespace {

std::vector<Tree> grow_joint(const Problem& problem, const std::vector<std::vector<float>>& gradients,
                             const GrowOptions& options, int n_threads = 1, RowSampling sampling = {}) {
    JointGrower grower(binned(problem.table, n_threads), options, std::vector<double>(gradients.size(), 1.0),
                       n_threads);
    return grower.grow({.gradients = {gradients.begin(), gradients.end()}, .hessian = problem.hessian, .rows = {}}, 42,
                       {}, sampling);
}

// The gradient of a problem, and one that column 1 explains.
std::vector<std::vector<float>> two_gradients(const Problem& problem) {
    std::vector<float> other;
    for (const double value : problem.table.values[1]) other.push_back(std::isnan(value) || value < 0.3 ? -1.0f : 1.0f);
    return {problem.gradient, other};
}

const Test own_values("outputs share splits, and each has its own values", [] {
    const Problem problem = random_problem(1, 3000, 6);
    const std::vector<Tree> trees = grow_joint(problem, two_gradients(problem), {});
    check_equal(trees.size(), std::size_t{2});
    for (const Tree& tree : trees) validate(tree, 6);
    check_equal(trees[0].feature, trees[1].feature);
    check_equal(trees[0].left, trees[1].left);
    check_equal(trees[0].n_rows[0], 3000u);
    check(trees[0].value != trees[1].value, "values differ");
    for (const std::int32_t feature : {0, 1})
        check(std::ranges::count(trees[0].feature, feature) > 0, "what explains one output is used");
});

const Test units("leaf values are multiplied by the unit of the output", [] {
    const Problem problem = random_problem(2, 1000, 5);
    const std::vector<std::vector<float>> gradients{problem.gradient, problem.gradient};
    JointGrower grower(binned(problem.table, 1), {}, {1.0, 8.0}, 1);
    const std::vector<Tree> trees =
        grower.grow({.gradients = {gradients.begin(), gradients.end()}, .hessian = {}, .rows = {}}, 1);
    for (NodeIndex node = 0; node < trees[0].n_nodes(); ++node)
        check_equal(trees[1].value[node], 8 * trees[0].value[node]);
    std::vector<float> first(1000, 0.0f), second(1000, 0.0f);
    grower.add_predictions(0, first);
    grower.add_predictions(1, second);
    check_equal(first, second);
});

const Test any_threads("the number of threads does not change one bit of a joint tree", [] {
    for (const std::size_t n_rows : {std::size_t{30'000}, std::size_t{90'000}})  // counted, and not
        for (const SamplingMethod method : {SamplingMethod::none, SamplingMethod::minimal_variance}) {
            Problem problem = random_problem(3, n_rows, 20);
            for (std::size_t row = 0; row < n_rows; ++row)
                problem.hessian.push_back(0.1f + static_cast<float>(row % 7) / 5);
            const RowSampling sampling{.method = method, .share = 0.5};
            const auto gradients = two_gradients(problem);
            const std::vector<Tree> one = grow_joint(problem, gradients, {}, 1, sampling);
            check(one[0].n_nodes() > 20, "the tree has grown");
            for (const int n_threads : {2, 3, 8}) {
                const std::vector<Tree> other = grow_joint(problem, gradients, {}, n_threads, sampling);
                for (std::size_t k = 0; k < 2; ++k) check(same(one[k], other[k]), "both trees are the same");
            }
        }
});

const Test refused("what a joint tree cannot be is refused", [] {
    const Problem problem = random_problem(4, 100, 4);
    const auto gradients = two_gradients(problem);
    check_throws<InvalidInput>([&] { grow_joint(problem, gradients, {.growth = Growth::oblivious}); },
                               "cannot be oblivious");
    check_throws<InvalidInput>([&] { grow_joint(problem, gradients, {.monotone = {1, 0, 0, 0}}); },
                               "no monotone constraints");
    check_throws<InvalidInput>([&] { grow_joint(problem, {problem.gradient, {1.0f}}, {}); },
                               "one gradient for each row");
});

}  // namespace
}  // namespace coterie::tests
