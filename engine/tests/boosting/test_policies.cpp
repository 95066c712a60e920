// Which leaf comes next, what a split must earn, and how far a leaf value may go.
#include <algorithm>
#include <cmath>
#include <set>

#include "boosting/problems.hpp"
#include "check.hpp"
#include "coterie/predict/walk.hpp"
#include "coterie/tree/prune.hpp"

namespace coterie::tests {
namespace {

const Test level_by_level("by level, no leaf is split before all leaves above it that gain", [] {
    const Problem problem = random_problem(1, 4000, 8);
    const Tree tree = grow(problem, {.growth = Growth::level, .max_leaf_nodes = 20});
    const std::vector<std::uint32_t> depth_of = depths(tree);
    // Children are numbered when their parent is split, so numbers tell the order of splitting.
    check(std::ranges::is_sorted(depth_of), "depths come one after the other");
    const std::uint32_t last = *std::ranges::max_element(depth_of) - 1;
    std::vector<double> gains;
    for (NodeIndex node = 1; node < tree.n_nodes(); node += 2)
        for (NodeIndex parent = 0; parent < node; ++parent)
            if (tree.left[parent] == node && depth_of[parent] == last) gains.push_back(tree.gain[parent]);
    check(gains.size() > 1 && std::ranges::is_sorted(gains, std::greater<>{}), "of one depth the best come first");
    const Tree best_first = grow(problem, {.max_leaf_nodes = 20});
    check(best_first.feature != tree.feature, "best first is another tree");
    for (const int n_threads : {2, 3, 8})
        check(same(grow(problem, {.growth = Growth::level, .max_leaf_nodes = 20}, n_threads), tree),
              "threads change nothing");
});

const Test beginning("a tree of few leaves is the beginning of one of many: what is never split is not missed", [] {
    for (const std::size_t n_rows : {1200u, 70'000u}) {  // cells that count rows, and cells that do not
        const Problem problem = random_problem(3, n_rows, 8);
        const Tree many = grow(problem, {.max_leaf_nodes = 60, .min_samples_leaf = 2});
        for (const std::uint32_t n_leaves : {2u, 3u, 9u, 30u, 59u})
            for (const int n_threads : {1, 2, 3}) {
                const Tree few = grow(problem, {.max_leaf_nodes = n_leaves, .min_samples_leaf = 2}, n_threads);
                check_equal(few.n_nodes(), std::size_t{2 * n_leaves - 1});
                for (NodeIndex node = 0; node < few.n_nodes(); ++node) {
                    check_equal(few.n_rows[node], many.n_rows[node]);
                    if (few.is_leaf(node)) continue;
                    check_equal(few.left[node], many.left[node]);
                    check_equal(few.feature[node], many.feature[node]);
                    check_equal(few.gain[node], many.gain[node]);
                }
            }
    }
});

const Test no_limit("without a limit of leaves, growth by level and best first make the same leaves", [] {
    const Problem problem = random_problem(2, 2000, 6);
    const Tree one = grow(problem, {.max_leaf_nodes = 0, .max_depth = 4});
    const Tree two = grow(problem, {.growth = Growth::level, .max_leaf_nodes = 0, .max_depth = 4});
    const auto values = [](const Tree& tree) { return std::multiset<double>(tree.value.begin(), tree.value.end()); };
    check(values(one) == values(two), "values are the same");
});

Problem two_groups() {
    Problem problem;
    problem.table = {.values = {{0, 0, 1, 1}}, .n_levels = {0}};
    problem.gradient = {2, 2, -6, -6};
    return problem;
}

const Test shrunk_sums("l1 is taken off the sums of gradients, in the gain and in the values", [] {
    const Tree tree = grow(two_groups(), {.min_samples_leaf = 1, .l1 = 3});
    check_near(tree.value[1], -(4.0 - 3) / 2, 1e-3);
    check_near(tree.value[2], (12.0 - 3) / 2, 1e-3);
    // Children: 1^2 / 2 + 9^2 / 2; the root: (8 - 3)^2 / 4.
    check_near(tree.gain[0], 0.5 + 40.5 - 6.25, 0.05);
    check_equal(grow(two_groups(), {.min_samples_leaf = 1, .l1 = 13}).n_nodes(), std::size_t{1});
});

const Test short_steps("no leaf value goes further than max_step, and gains know it", [] {
    const Tree tree = grow(two_groups(), {.min_samples_leaf = 1, .max_step = 1.5});
    check_equal(tree.value[1], -1.5);
    check_equal(tree.value[2], 1.5);
    // The value v gains -(2 g v + h v^2), for the sums 4, -12 and, of the root, -8.
    check_near(tree.gain[0], (2 * 4 * 1.5 - 2 * 2.25) + (2 * 12 * 1.5 - 2 * 2.25) - (2 * 8 * 1.5 - 4 * 2.25), 0.05);
    const Problem problem = random_problem(3, 3000, 8);
    TreeGrower grower(binned(problem.table, 1), {.max_leaf_nodes = 31, .max_step = 0.2}, 1);
    Tree many = grower.grow({.gradient = problem.gradient, .hessian = {}, .rows = {}}, 1);
    std::vector<float> residual;
    for (const float gradient : problem.gradient) residual.push_back(-10 * gradient);
    const auto longest = [&] {
        double most = 0;
        for (NodeIndex node = 0; node < many.n_nodes(); ++node)
            if (many.is_leaf(node)) most = std::max(most, std::abs(many.value[node]));
        return most;
    };
    check_equal(longest(), 0.2);
    grower.set_quantile_values(many, residual, {}, 0.5);
    check_equal(longest(), 0.2);
});

const Test kept_branches("a branch is kept if it gains more than its leaves cost, from the bottom up", [] {
    //        0: gain 1
    //   1: leaf    2: gain 5
    //           3: leaf   4: gain 2
    Tree tree;
    tree.feature = {0, kLeaf, 0, kLeaf, 0, kLeaf, kLeaf};
    tree.left = {1, 0, 3, 0, 5, 0, 0};
    tree.gain = {1, 0, 5, 0, 2, 0, 0};
    const auto kept = [&](double penalty, bool by_level) { return splits_to_keep(tree, penalty, by_level); };
    const std::vector<std::uint8_t> all = {1, 0, 1, 0, 1, 0, 0}, no_last = {1, 0, 1, 0, 0, 0, 0}, none(7, 0);
    check_equal(kept(1.5, false), all);
    check_equal(kept(2, false), no_last);
    check_equal(kept(2.9, false), no_last);  // 1 + 5 - 2 * 2.9 is left
    const std::vector<std::uint8_t> root_gone = {0, 0, 1, 0, 0, 0, 0};
    check_equal(kept(3.0, false), root_gone);  // the branch below an undone split goes with it
    check_equal(kept(6, false), none);
    check_equal(kept(2, true), no_last);
});

// Of the splits, or of the depths for each of their splits.
double middle_gain(const Tree& tree, bool by_level) {
    std::vector<double> gains;
    const std::vector<std::uint32_t> depth_of = depths(tree);
    std::vector<double> of_level(*std::ranges::max_element(depth_of) + 1, 0.0);
    for (NodeIndex node = 0; node < tree.n_nodes(); ++node) {
        if (tree.is_leaf(node)) continue;
        if (!by_level) gains.push_back(tree.gain[node]);
        of_level[depth_of[node]] += tree.gain[node];
    }
    for (std::size_t depth = 0; by_level && depth + 1 < of_level.size(); ++depth)
        gains.push_back(of_level[depth] / static_cast<double>(std::size_t{1} << depth));
    std::ranges::sort(gains);
    return gains[gains.size() / 2];
}

const Test penalty("undone splits leave a tree whose rows are where the walk finds them", [] {
    const Problem problem = random_problem(4, 4000, 8);
    for (const Growth growth : {Growth::leaf, Growth::level, Growth::oblivious})
        for (const SamplingMethod method : {SamplingMethod::none, SamplingMethod::uniform}) {
            GrowOptions options{.growth = growth, .max_leaf_nodes = 32, .min_samples_leaf = 5};
            TreeGrower freely(binned(problem.table, 2), options, 2);
            const Derivatives derivatives{.gradient = problem.gradient, .hessian = {}, .rows = {}};
            const RowSampling sampling{.method = method, .share = 0.5};
            const Tree full = freely.grow(derivatives, 7, {}, sampling);
            options.leaf_penalty = middle_gain(full, growth == Growth::oblivious);
            TreeGrower grower(binned(problem.table, 2), options, 2);
            const Tree tree = grower.grow(derivatives, 7, {}, sampling);
            validate(tree, 8);
            check(tree.n_nodes() > 1 && tree.n_nodes() < full.n_nodes(), "some splits are undone");
            std::vector<float> scores(4000, 0.0f);
            grower.add_predictions(scores);
            std::vector<double> walked(4000, 0.0);
            Forest forest{.n_features = 8, .n_outputs = 1, .trees = {}, .first_output = {}};
            forest.add(std::make_shared<const Tree>(tree), 0);
            add_scores(forest, problem.table.view(), walked, 1);
            std::vector<double> sum(tree.n_nodes(), 0);
            std::vector<std::uint32_t> leaf_of(4000);
            find_leaves(forest, problem.table.view(), leaf_of, 1);
            for (std::size_t row = 0; row < 4000; ++row) {
                check_equal(scores[row], static_cast<float>(walked[row]));
                sum[leaf_of[row]] -= static_cast<double>(problem.gradient[row]);
            }
            for (NodeIndex node = 0; node < tree.n_nodes(); ++node)
                if (tree.is_leaf(node) && tree.n_rows[node] > 0)
                    check_near(tree.value[node], sum[node] / tree.n_rows[node], 1e-6);
        }
});

const Test nothing_left("if every split is undone, the tree says nothing", [] {
    const Problem problem = random_problem(5, 1000, 6);
    for (const SamplingMethod method : {SamplingMethod::none, SamplingMethod::uniform}) {
        TreeGrower grower(binned(problem.table, 1), {.max_leaf_nodes = 31, .leaf_penalty = 1e6}, 1);
        const Tree tree = grower.grow({.gradient = problem.gradient, .hessian = {}, .rows = {}}, 1, {},
                                      {.method = method, .share = 0.5});
        check_equal(tree.n_nodes(), std::size_t{1});
        check_equal(tree.value[0], 0.0);
        std::vector<float> scores(1000, 1.0f);
        grower.add_predictions(scores);
        check_equal(scores, std::vector<float>(1000, 1.0f));
    }
});

std::set<std::int32_t> features_of(const Tree& tree, std::uint32_t depth) {
    std::set<std::int32_t> used;
    for (NodeIndex node = 0; node < tree.n_nodes(); ++node)
        if (!tree.is_leaf(node) && depths(tree)[node] == depth) used.insert(tree.feature[node]);
    return used;
}

const Test drawn_features("a tree and its depths use no more features than they drew", [] {
    const Problem problem = random_problem(6, 5000, 10);
    const GrowOptions options{.growth = Growth::level,
                              .max_leaf_nodes = 0,
                              .max_depth = 5,
                              .max_features_per_level = 0.4,
                              .max_features_per_tree = 0.5};
    const Tree tree = grow(problem, options);
    std::set<std::int32_t> all;
    for (std::uint32_t depth = 0; depth < 5; ++depth) {
        const std::set<std::int32_t> used = features_of(tree, depth);
        check(used.size() <= 2, "a depth has two of the tree's five");
        all.insert(used.begin(), used.end());
    }
    check(all.size() > 2 && all.size() <= 5, "depths differ, and all are the tree's");
    const Tree least = grow(problem, {.max_features_per_level = 0.01, .max_features_per_tree = 0.01});
    check(least.n_nodes() > 1, "at least one feature remains");
});

}  // namespace
}  // namespace coterie::tests
