// One tree from a table and a target: squared error, so gradient = -y, hessian = 1, and a leaf predicts its mean.
#include <cmath>
#include <thread>

#include "boosting/problems.hpp"
#include "check.hpp"
#include "coterie/base/error.hpp"
#include "coterie/predict/walk.hpp"

namespace coterie::tests {
namespace {

const Test drawn("a tree that one can draw has the splits and the means that one draws", [] {
    Problem problem;
    problem.table = {.values = {{0, 0, 1, 1, 2, 2}, {0, 1, 0, 1, 0, 1}}, .n_levels = {0, 0}};
    problem.gradient = {1, 1, 1, 1, 1, -7};  // y = -1 but for the last row, which is 7
    const Tree tree = grow(problem, {.max_leaf_nodes = 3, .min_samples_leaf = 1});
    validate(tree, 2);
    check_equal(tree.n_nodes(), std::size_t{5});
    check_equal(tree.feature[0], 0);
    check(tree.threshold[0] >= 1 && tree.threshold[0] < 2, "the first threshold lies between 1 and 2");
    check_equal(tree.n_rows[1], 4u);
    check_equal(tree.feature[2], 1);
    check(tree.threshold[2] >= 0 && tree.threshold[2] < 1, "the second threshold lies between 0 and 1");
    check_near(tree.value[1], -1, 0.01);
    check_near(tree.value[3], -1, 0.01);
    check_near(tree.value[4], 7, 0.01);
});

const Test any_threads("the number of threads does not change one bit of a tree", [] {
    const Problem problem = random_problem(1, 30'000, 20);
    const GrowOptions options{.max_leaf_nodes = 63, .min_samples_leaf = 5, .max_features = 0.6};
    const Tree one = grow(problem, options, 1);
    check(one.n_nodes() > 60, "the tree is worth comparing");
    for (const int n_threads : {2, 3, 8})
        check(same(grow(problem, options, n_threads), one), "both trees are the same");
});

const Test noisy("noise of gains changes trees with the seed, and not with the threads", [] {
    for (const std::size_t n_rows : {std::size_t{20'000}, std::size_t{70'000}}) {  // counted, and not
        const Problem problem = random_problem(14, n_rows, 20);
        const GrowOptions quiet{.max_leaf_nodes = 31, .min_samples_leaf = 5};
        const GrowOptions options{.max_leaf_nodes = 31, .min_samples_leaf = 5, .split_noise = 10};
        const Tree one = grow(problem, options, 1);
        check(one.feature != grow(problem, quiet, 1).feature, "noise decides about some splits");
        for (const int n_threads : {2, 3, 8})
            check(same(grow(problem, options, n_threads), one), "both trees are the same");
        TreeGrower grower(binned(problem.table, 1), options, 1);
        const Tree other = grower.grow({.gradient = problem.gradient, .hessian = {}, .rows = {}}, 43);
        check(other.feature != one.feature, "another seed draws other noise");
    }
});

const Test least_gain("a split that noise prefers has to gain by itself", [] {
    const Problem problem = random_problem(15, 2000, 12);
    const GrowOptions options{.max_leaf_nodes = 31, .min_gain = 2, .split_noise = 1000};
    const Tree tree = grow(problem, options);
    check(tree.n_nodes() > 3, "there are splits");
    for (NodeIndex node = 0; node < tree.n_nodes(); ++node)
        check(tree.is_leaf(node) || tree.gain[node] > 2, "every split gains enough");
});

const Test limits("leaves, depth and rows per leaf keep their limits", [] {
    const Problem problem = random_problem(2, 3000, 8);
    const Tree tree = grow(problem, {.max_leaf_nodes = 20, .max_depth = 5, .min_samples_leaf = 40});
    validate(tree, 8);
    std::size_t n_leaves = 0;
    for (NodeIndex node = 0; node < tree.n_nodes(); ++node) {
        check(depths(tree)[node] <= 5, "no node is deeper than five");
        check(tree.n_rows[node] >= 40, "every node keeps forty rows");
        n_leaves += tree.is_leaf(node);
    }
    check(n_leaves > 5 && n_leaves <= 20, "there are at most twenty leaves");
});

const Test counted("children share the rows of their parent", [] {
    const Tree tree = grow(random_problem(3, 3000, 8), {.max_leaf_nodes = 31});
    check_equal(tree.n_rows[0], 3000u);
    for (NodeIndex node = 0; node < tree.n_nodes(); ++node)
        if (!tree.is_leaf(node))
            check_equal(tree.n_rows[tree.left[node]] + tree.n_rows[tree.left[node] + 1], tree.n_rows[node]);
});

const Test means("a leaf predicts about the mean of its rows, and the walk finds the rows that the grower put there",
                 [] {
                     const Problem problem = random_problem(4, 4000, 8);
                     TreeGrower grower(binned(problem.table, 2), {.max_leaf_nodes = 31}, 2);
                     Forest forest{.n_features = 8, .n_outputs = 1, .trees = {}, .first_output = {}};
                     forest.add(std::make_shared<const Tree>(
                                    grower.grow({.gradient = problem.gradient, .hessian = {}, .rows = {}}, 7)),
                                0);
                     const Tree& tree = *forest.trees[0];

                     std::vector<std::uint32_t> leaf_of(4000);
                     find_leaves(forest, problem.table.view(), leaf_of, 2);
                     std::vector<double> sum(tree.n_nodes());
                     std::vector<std::uint32_t> count(tree.n_nodes());
                     for (std::size_t row = 0; row < 4000; ++row) {
                         sum[leaf_of[row]] -= static_cast<double>(problem.gradient[row]);
                         ++count[leaf_of[row]];
                     }
                     for (NodeIndex node = 0; node < tree.n_nodes(); ++node) {
                         if (!tree.is_leaf(node)) continue;
                         check_equal(count[node], tree.n_rows[node]);
                         check_near(tree.value[node], sum[node] / count[node], 0.002);
                     }

                     std::vector<float> scores(4000, 1.0f);
                     grower.add_predictions(scores);
                     for (std::size_t row = 0; row < 4000; ++row)
                         check_near(scores[row], 1 + tree.value[leaf_of[row]], 1e-6);
                 });

const Test some_rows("only the rows that take part are counted", [] {
    Problem problem = random_problem(5, 1000, 8);
    std::vector<RowIndex> even;
    for (RowIndex row = 0; row < 1000; ++row)
        if (row % 2 == 0)
            even.push_back(row);
        else
            problem.gradient[row] = 0;
    TreeGrower grower(binned(problem.table, 1), {.max_leaf_nodes = 8}, 1);
    const Tree tree = grower.grow({.gradient = problem.gradient, .hessian = {}, .rows = even}, 7);
    check_equal(tree.n_rows[0], 500u);
});

const Test monotone("an increasing feature never lowers the prediction", [] {
    const Problem problem = random_problem(6, 3000, 4);
    GrowOptions options{.max_leaf_nodes = 31, .min_samples_leaf = 5};
    options.monotone = {1, 0, 0, 0};
    Forest forest{.n_features = 4, .n_outputs = 1, .trees = {}, .first_output = {}};
    forest.add(std::make_shared<const Tree>(grow(problem, options)), 0);
    Columns line{.values = {{}, {}, {}, {}}, .n_levels = {0, 0, 0, 12}};
    for (int step = 0; step <= 100; ++step)
        for (std::size_t feature = 0; feature < 4; ++feature)
            line.values[feature].push_back(feature == 0 ? step / 100.0 : 0.4 + 0.6 * double(feature == 3));
    std::vector<double> scores(101);
    add_scores(forest, line.view(), scores, 1);
    for (std::size_t step = 1; step <= 100; ++step)
        check(scores[step] >= scores[step - 1], "the prediction does not fall");
});

const Test constant("a target without differences grows a single leaf", [] {
    Problem problem = random_problem(7, 200, 4);
    problem.gradient.assign(200, 0.0f);
    check_equal(grow(problem, {}).n_nodes(), std::size_t{1});
});

const Test kept_buffers("a grower that has grown before grows the tree that a new one grows", [] {
    const Problem first = random_problem(8, 2000, 6);
    Problem second = random_problem(9, 2000, 6);
    second.table = first.table;
    const GrowOptions options{.max_leaf_nodes = 15};
    TreeGrower grower(binned(first.table, 2), options, 2);
    grower.grow({.gradient = first.gradient, .hessian = {}, .rows = {}}, 1);
    const Tree again = grower.grow({.gradient = second.gradient, .hessian = {}, .rows = {}}, 42);
    check(same(again, grow(second, options, 2)), "nothing of the first tree is left");
});

int n_checks = 0;

// Takes longer than the pause between two calls, so that every check calls it; true in the middle of the tree.
bool after_some_splits() {
    std::this_thread::sleep_for(std::chrono::milliseconds(25));
    return ++n_checks == 5;
}

const Test interrupted("growth that is interrupted leaves the grower as good as new", [] {
    const Problem problem = random_problem(10, 5000, 12);
    const GrowOptions options{.max_leaf_nodes = 31};
    TreeGrower grower(binned(problem.table, 1), options, 1);
    const Derivatives derivatives{.gradient = problem.gradient, .hessian = {}, .rows = {}};
    n_checks = 0;
    const StopRequest stop(&after_some_splits);
    std::this_thread::sleep_for(std::chrono::milliseconds(25));
    check_throws<Interrupted>([&] { grower.grow(derivatives, 7, stop); }, "interrupted");
    check_equal(n_checks, 5);
    check(same(grower.grow(derivatives, 42), grow(problem, options)), "the next tree is sound");
});

const Test interactions("a path stays inside one set of features", [] {
    const Problem problem = random_problem(11, 4000, 6);
    GrowOptions options{.max_leaf_nodes = 31, .min_samples_leaf = 5};
    options.interaction_sets = {{0, 1}, {3, 4, 5}};
    const Tree tree = grow(problem, options);
    std::vector<int> used(tree.n_nodes(), 0);  // bit per set of the path so far
    for (NodeIndex node = 0; node < tree.n_nodes(); ++node) {
        if (tree.is_leaf(node)) continue;
        check(tree.feature[node] != 2, "a feature of no set is never used");
        used[node] |= tree.feature[node] <= 1 ? 1 : 2;
        check(used[node] != 3, "no path mixes both sets");
        used[tree.left[node]] = used[tree.left[node] + 1] = used[node];
    }
});

const Test refused("options and derivatives that do not fit the table are refused", [] {
    const Problem problem = random_problem(12, 100, 4);
    const auto refuses = [&](const GrowOptions& options, std::string_view phrase) {
        check_throws<InvalidInput>([&] { grow(problem, options); }, phrase);
    };
    GrowOptions options;
    options.monotone = {1, 0};
    refuses(options, "2 monotone constraints for 4 features");
    options = {};
    options.interaction_sets = {{0, 9}};
    refuses(options, "names feature 9; there are 4 features");
    refuses({.l2 = -1}, "must not be negative");
    refuses({.l2 = kMissing}, "must not be negative");
    refuses({.min_gain = -1}, "must not be negative");
    refuses({.split_noise = -1}, "must not be negative");
    refuses({.path_smoothing = -1}, "must not be negative");
    Problem shorter = problem;
    shorter.gradient.pop_back();
    check_throws<InvalidInput>([&] { grow(shorter, {}); }, "one gradient for each row");
});

}  // namespace
}  // namespace coterie::tests
