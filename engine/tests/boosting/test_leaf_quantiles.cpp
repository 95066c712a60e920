// Leaves that predict quantiles: the middle of the residuals, weights as repetitions, monotone where requested.
#include <algorithm>
#include <cmath>

#include "boosting/problems.hpp"
#include "coterie/base/error.hpp"
#include "coterie/boosting/leaf_quantiles.hpp"
#include "random_inputs.hpp"

namespace coterie::tests {
namespace {

std::vector<Weighed> weighed(std::vector<float> values) {
    std::vector<Weighed> all;
    for (const float value : values) all.push_back({value, 1.0f});
    return all;
}

const FixedPoint kWeights(4, 1000);

const FixedPoint* weights(bool equal) { return equal ? nullptr : &kWeights; }

const Test by_hand("quantiles that one can find by hand", [] {
    for (const bool equal : {true, false}) {
        auto four = weighed({3, 1, 2, 4});
        check_equal(quantile_of(four, 0.5, weights(equal)), 2.5);
        check_equal(quantile_of(four, 0.25, weights(equal)), 1.5);
        check_equal(quantile_of(four, 0.3, weights(equal)), 2.0);
        check_equal(quantile_of(four, 0.99, weights(equal)), 4.0);
        auto one = weighed({7});
        check_equal(quantile_of(one, 0.5, weights(equal)), 7.0);
        check_equal(quantile_of({}, 0.5, weights(equal)), 0.0);
    }
    std::vector<Weighed> heavy = {{1, 1}, {2, 3}};
    check_equal(quantile_of(heavy, 0.5, &kWeights), 2.0);
    check_equal(quantile_of(heavy, 0.25, &kWeights), 1.5);
});

const Test repetition("a weight of k is k times the value", [] {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        std::vector<Weighed> few, many;
        for (std::size_t i = 0; i < 1 + seed; ++i) {
            const auto value = static_cast<float>(bits_at(seed, i) % 11);
            const std::size_t times = 1 + bits_at(seed + 100, i) % 3;
            few.push_back({value, static_cast<float>(times)});
            for (std::size_t k = 0; k < times; ++k) many.push_back({value, 1.0f});
        }
        for (const double level : {0.1, 0.25, 0.5, 0.9})
            check_equal(quantile_of(few, level, &kWeights), quantile_of(many, level, nullptr));
    }
});

void check_medians(const RowSampling& sampling) {
    const Problem problem = random_problem(4, 5000, 8);
    const auto matrix = binned(problem.table, 1);
    const GrowOptions options{.max_leaf_nodes = 12, .min_samples_leaf = 30, .learning_rate = 0.5};
    TreeGrower grower(matrix, options, 2);
    Tree tree = grower.grow({.gradient = problem.gradient, .hessian = {}, .rows = {}}, 1, {}, sampling);
    std::vector<float> residual(5000);
    for (std::size_t row = 0; row < 5000; ++row) residual[row] = -problem.gradient[row];
    grower.set_quantile_values(tree, residual, {}, 0.5);
    std::vector<float> scores(5000, 0.0f);
    grower.add_predictions(scores);
    std::vector<float> predictions = scores;
    std::ranges::sort(predictions);
    predictions.erase(std::unique(predictions.begin(), predictions.end()), predictions.end());
    check(predictions.size() > 6, "leaves differ");
    for (const float prediction : predictions) {
        std::vector<Weighed> own;
        for (std::size_t row = 0; row < 5000; ++row)
            if (scores[row] == prediction) own.push_back({residual[row], 1.0f});
        check_near(prediction, 0.5 * quantile_of(own, 0.5, nullptr), 1e-6);
    }
}

const Test medians("a leaf predicts the median of all its rows, sampled or not", [] {
    check_medians({});
    check_medians({.method = SamplingMethod::uniform, .share = 0.4});
});

const Test refused("levels and lengths that cannot be are refused", [] {
    const Problem problem = random_problem(5, 500, 4);
    TreeGrower grower(binned(problem.table, 1), {.max_leaf_nodes = 4}, 1);
    Tree tree = grower.grow({.gradient = problem.gradient, .hessian = {}, .rows = {}}, 1);
    const std::vector<float> few(3), enough(500);
    check_throws<InvalidInput>([&] { grower.set_quantile_values(tree, few, {}, 0.5); }, "one residual");
    check_throws<InvalidInput>([&] { grower.set_quantile_values(tree, enough, {}, 1.0); }, "between 0 and 1");
});

}  // namespace
}  // namespace coterie::tests
