// Symmetric trees: one split per depth, leaves without rows, constraints, threads.
#include <algorithm>
#include <cmath>
#include <set>

#include "boosting/problems.hpp"
#include "check.hpp"
#include "coterie/base/error.hpp"
#include "coterie/predict/walk.hpp"

namespace coterie::tests {
namespace {

GrowOptions symmetric(std::uint32_t depth, std::uint32_t min_samples_leaf = 20) {
    return {.growth = Growth::oblivious, .max_depth = depth, .min_samples_leaf = min_samples_leaf};
}

void check_symmetric(const Tree& tree, std::uint32_t depth) {
    const std::vector<std::uint32_t> depth_of = depths(tree);
    check_equal(tree.n_nodes(), (std::size_t{2} << depth) - 1);
    std::vector<NodeIndex> first(depth + 1, 0);
    std::vector<std::uint8_t> seen(depth + 1, 0);
    for (NodeIndex node = 0; node < tree.n_nodes(); ++node) {
        const std::uint32_t d = depth_of[node];
        if (!seen[d]) first[d] = node, seen[d] = 1;
        check_equal(tree.feature[node], tree.feature[first[d]]);
        check_equal(tree.missing_left[node], tree.missing_left[first[d]]);
        if (tree.is_leaf(node)) continue;
        if (tree.levels[node] < 0) check_equal(tree.threshold[node], tree.threshold[first[d]]);
        for (std::uint32_t level = 0; level < 12 && tree.levels[node] >= 0; ++level)
            check_equal(tree.level_goes_left(tree.levels[node], level),
                        tree.level_goes_left(tree.levels[first[d]], level));
    }
}

const Test one_split("all nodes of one depth have the same split", [] {
    const Tree tree = grow(random_problem(1, 4000, 8), symmetric(4));
    validate(tree, 8);
    check_symmetric(tree, 4);
    const Tree by_leaves = grow(random_problem(1, 4000, 8), {.growth = Growth::oblivious, .max_leaf_nodes = 31});
    check_symmetric(by_leaves, 4);
    check(same(tree, by_leaves), "31 leaves allow a depth of four");
});

const Test first_split("the root has the split that any tree would begin with", [] {
    const Problem problem = random_problem(2, 3000, 8);
    const Tree one = grow(problem, symmetric(1));
    const Tree other = grow(problem, {.max_leaf_nodes = 2});
    check_equal(one.feature, other.feature);
    check_equal(one.threshold, other.threshold);
    check_equal(one.n_rows, other.n_rows);
    for (const NodeIndex leaf : {1u, 2u}) check_equal(one.value[leaf], other.value[leaf]);
});

const Test any_threads("the number of threads does not change one bit of a symmetric tree", [] {
    for (const std::size_t n_rows : {std::size_t{30'000}, std::size_t{90'000}})  // counted, and not
        for (const bool weighed : {false, true}) {
            Problem problem = random_problem(3, n_rows, 30);
            if (weighed)
                for (std::size_t row = 0; row < n_rows; ++row)
                    problem.hessian.push_back(0.1f + static_cast<float>(row % 7) / 5);
            GrowOptions options = symmetric(6, 30);
            options.split_noise = 0.5;
            options.max_features = 0.7;
            const Tree one = grow(problem, options, 1);
            check_symmetric(one, 6);
            for (const int n_threads : {2, 3, 8})
                check(same(grow(problem, options, n_threads), one), "both trees are the same");
        }
});

const Test empty_leaves("a leaf without rows predicts as its parent does", [] {
    // Column 1 is 1 only where column 0 is, so below column 0 = 0 one child at depth 2 is empty.
    Problem problem;
    problem.table = {.values = {{0, 0, 0, 0, 1, 1, 1, 1}, {0, 0, 0, 0, 0, 0, 1, 1}}, .n_levels = {0, 0}};
    problem.gradient = {1, 1, 1, 1, -4, -4, -9, -9};
    const Tree tree = grow(problem, symmetric(2, 1));
    check_symmetric(tree, 2);
    check_equal(std::ranges::count(tree.n_rows, 0u), std::ptrdiff_t{1});
    for (NodeIndex node = 0; node < tree.n_nodes(); ++node)
        for (const NodeIndex child : {tree.left[node], tree.left[node] + 1})
            if (!tree.is_leaf(node) && tree.n_rows[child] == 0) check_equal(tree.value[child], tree.value[node]);
    check_near(tree.value[0], 22.0 / 8, 0.01);
});

const Test light_leaves("leaves that the shared split makes too small do not stop it", [] {
    const Tree tree = grow(random_problem(4, 600, 6), symmetric(5, 40));
    check_symmetric(tree, 5);
    check(std::ranges::any_of(tree.n_rows, [](std::uint32_t n) { return n < 40; }), "some leaves are small");
    for (NodeIndex node = 0; node < tree.n_nodes(); ++node)
        if (!tree.is_leaf(node) && std::min(tree.n_rows[tree.left[node]], tree.n_rows[tree.left[node] + 1]) < 40)
            check_equal(tree.gain[node], 0.0);
});

const Test stops("a depth that gains too little is not added", [] {
    const Problem problem = random_problem(5, 2000, 6);
    GrowOptions options = symmetric(6);
    const Tree full = grow(problem, options);
    const std::vector<std::uint32_t> depth_of = depths(full);
    std::vector<double> gains(7, 0.0);
    for (NodeIndex node = 0; node < full.n_nodes(); ++node) gains[depth_of[node]] += full.gain[node];
    std::uint32_t expected = 0;
    options.min_gain = gains[2] * 0.999;
    while (expected < 6 && gains[expected] > options.min_gain) ++expected;
    check(expected >= 3 && expected < 6, "some depths go");
    check_symmetric(grow(problem, options), expected);
});

const Test monotone("a symmetric tree keeps the order of a monotone feature", [] {
    const Problem problem = random_problem(6, 3000, 4);
    for (const int direction : {1, -1}) {
        GrowOptions options = symmetric(6, 5);
        options.monotone = {static_cast<std::int8_t>(direction), 0, 0, 0};
        Forest forest{.n_features = 4, .n_outputs = 1, .trees = {}, .first_output = {}};
        forest.add(std::make_shared<const Tree>(grow(problem, options)), 0);
        if (direction < 0) check(std::ranges::count(forest.trees[0]->feature, 0) > 0, "the feature is used");
        for (const double others : {0.1, 0.4, 0.8}) {
            Columns line{.values = {{}, {}, {}, {}}, .n_levels = {0, 0, 0, 12}};
            for (int step = 0; step <= 100; ++step)
                for (std::size_t feature = 0; feature < 4; ++feature)
                    line.values[feature].push_back(feature == 0   ? step / 100.0
                                                   : feature == 3 ? std::floor(others * 12)
                                                                  : others);
            std::vector<double> scores(101);
            add_scores(forest, line.view(), scores, 1);
            for (std::size_t step = 1; step <= 100; ++step)
                check(direction * (scores[step] - scores[step - 1]) >= 0, "the prediction keeps its direction");
        }
    }
});

const Test interactions("the features of a symmetric tree stay inside one set", [] {
    GrowOptions options = symmetric(5, 5);
    options.interaction_sets = {{0, 3}, {1, 4, 5}};
    const Tree tree = grow(random_problem(11, 4000, 6), options);
    std::set<std::int32_t> used(tree.feature.begin(), tree.feature.end());
    used.erase(kLeaf);
    check(used.size() > 1, "several features are used");
    check(!used.contains(2), "a feature of no set is never used");
    const bool first = used.contains(0) || used.contains(3);
    check(first != (used.contains(1) || used.contains(4) || used.contains(5)), "sets are not mixed");
});

const Test all_rows("a symmetric tree of a sample has values from all rows, and with quantiles", [] {
    const Problem problem = random_problem(8, 5000, 8);
    TreeGrower grower(binned(problem.table, 2), symmetric(5, 5), 2);
    Tree tree = grower.grow({.gradient = problem.gradient, .hessian = {}, .rows = {}}, 3, {},
                            {.method = SamplingMethod::uniform, .share = 0.1});
    check_equal(tree.n_rows[0], 5000u);
    std::vector<float> residual;
    for (const float gradient : problem.gradient) residual.push_back(-gradient);
    grower.set_quantile_values(tree, residual, {}, 0.5);
    std::vector<float> scores(5000, 0.0f);
    grower.add_predictions(scores);
    std::vector<double> walked(5000, 0.0);
    Forest forest{.n_features = 8, .n_outputs = 1, .trees = {}, .first_output = {}};
    forest.add(std::make_shared<const Tree>(tree), 0);
    add_scores(forest, problem.table.view(), walked, 1);
    for (std::size_t row = 0; row < 5000; ++row) check_equal(scores[row], static_cast<float>(walked[row]));
    for (NodeIndex node = 0; node < tree.n_nodes(); ++node)
        if (tree.is_leaf(node) && tree.n_rows[node] == 0) check(tree.value[node] != 0, "empty leaves have a value");
});

const Test refused("depths that cannot be are refused", [] {
    const Problem problem = random_problem(9, 100, 4);
    check_throws<InvalidInput>([&] { grow(problem, {.growth = Growth::oblivious, .max_leaf_nodes = 0}); },
                               "needs a limit of depth or of leaves");
    check_throws<InvalidInput>([&] { grow(problem, symmetric(17)); }, "at most 16 levels; it was requested to have 17");
});

}  // namespace
}  // namespace coterie::tests
