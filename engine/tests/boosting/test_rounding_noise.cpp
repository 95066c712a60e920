// Trees do not grow on the noise of rounding: where gradients are equal there is nothing to split.
#include <cmath>

#include "boosting/problems.hpp"
#include "check.hpp"
#include "coterie/boosting/grow_joint.hpp"
#include "coterie/boosting/rounding_noise.hpp"

namespace coterie::tests {
namespace {

std::vector<GrowOptions> growth_policies() {
    std::vector<GrowOptions> policies(4);
    policies[1].growth = Growth::level;
    policies[2].growth = Growth::oblivious;
    policies[3].split_noise = 1;
    return policies;
}

// Hessians that are no multiples of a unit, or none.
void set_hessian(Problem& problem, bool flat) {
    problem.hessian.clear();
    if (!flat) problem.hessian.assign(problem.gradient.size(), 0.1234567f);
}

const Test constant("equal gradients give a tree of one leaf, whatever they are rounded to", [] {
    for (const std::size_t n_rows : {2'000u, 20'000u, 70'000u})
        for (const bool flat : {true, false})
            for (const float gradient : {0.7f, -1.0f, 1e-3f}) {
                Problem problem = random_problem(n_rows, n_rows, 6);
                problem.gradient.assign(n_rows, gradient);
                set_hessian(problem, flat);
                for (const GrowOptions& options : growth_policies())
                    check_equal(grow(problem, options).n_nodes(), std::size_t{1});
            }
});

const Test joint("equal gradients of several outputs give a tree of one leaf", [] {
    Problem problem = random_problem(1, 5'000, 6);
    problem.gradient.assign(5'000, 0.7f);
    const std::vector<float> other(5'000, -0.3f);
    JointGrower grower(binned(problem.table, 1), {}, {1.0, 1.0}, 1);
    check_equal(grower.grow({.gradients = {problem.gradient, other}, .hessian = {}, .rows = {}}, 1)[0].n_nodes(),
                std::size_t{1});
});

const Test step("two values of the gradient give two leaves", [] {
    for (const std::size_t n_rows : {2'000u, 20'000u, 70'000u})
        for (const bool flat : {true, false}) {
            Problem problem = random_problem(2, n_rows, 6);
            for (std::size_t row = 0; row < n_rows; ++row) {
                double& value = problem.table.values[1][row];
                value = static_cast<double>(row % 5);
                problem.gradient[row] = value > 3 ? -0.8f : 0.2f;
            }
            set_hessian(problem, flat);
            for (const GrowOptions& options : growth_policies())
                check_equal(grow(problem, options).n_nodes(), std::size_t{3});
        }
});

const Test small_signal("what is a twentieth of a unit a row is found if there are rows enough", [] {
    // The first two rows set the unit; the others are about half of it, and a little more where the feature is 1.
    constexpr std::size_t kRows = 60'000;
    for (const bool enough : {true, false}) {
        Problem problem{.table = {.values = {{}}, .n_levels = {0}}, .gradient = std::vector<float>(kRows)};
        for (std::size_t row = 0; row < kRows; ++row) {
            problem.table.values[0].push_back(static_cast<double>(row % 2));
            problem.gradient[row] = row < 2 ? 32'766.0f : row % 2 == 0 ? 0.5f : enough ? 0.55f : 0.5005f;
        }
        check_equal(grow(problem, {}).n_nodes(), std::size_t{enough ? 3u : 1u});
    }
});

const Test by_hand("a limit as one computes it by hand", [] {
    const TreeFacts facts{.units = {}, .seed = 0, .noise = 0, .counted = true, .flat_hessian = true};
    OpenLeaf leaf;
    leaf.n_rows = 8;
    for (int row = 0; row < 8; ++row) leaf.total += widen<true>((static_cast<Pair>(row < 4 ? 3 : 5) << 16) | 1u);
    Cell left = 0;
    for (int row = 0; row < 4; ++row) left += widen<true>((Pair{3} << 16) | 1u);
    RoundingNoise noise(facts, 1000, 1);
    noise.add(leaf, left);
    const double t = 10 * std::log(2.0) + 7;  // 1000 has ten binary digits
    check_near(noise.limit(), 0.25 * (1 + 2 * std::sqrt(t) + 2 * t), 1e-9);
    check(!noise.exceeded(), "four rows of 3 and four of 5 gain 8");
});

}  // namespace
}  // namespace coterie::tests
