// A limit of the memory for histograms: the same trees with any limit, and no more memory than it allows.
#include "boosting/problems.hpp"
#include "check.hpp"
#include "coterie/base/error.hpp"
#include "coterie/boosting/grow_joint.hpp"
#include "coterie/boosting/leaf_queue.hpp"

namespace coterie::tests {
namespace {

constexpr std::size_t kNoLimit = std::size_t{1} << 40;

Problem with_hessian(std::uint64_t seed, std::size_t n_rows, std::size_t n_features) {
    Problem problem = random_problem(seed, n_rows, n_features);
    for (std::size_t row = 0; row < n_rows; ++row) problem.hessian.push_back(0.1f + static_cast<float>(row % 7) / 5);
    return problem;
}

std::size_t histogram_size(const Problem& problem) {
    return (HistogramLayout(*binned(problem.table, 1)).n_cells() + 8) * sizeof(Cell);
}

std::vector<GrowOptions> all_policies() {
    const GrowOptions common{.max_leaf_nodes = 0, .min_samples_leaf = 5};
    std::vector<GrowOptions> policies(7, common);
    policies[1].max_leaf_nodes = 40;
    policies[2].growth = Growth::level;
    policies[2].max_depth = 7;
    policies[3].max_features = 0.5;
    policies[3].l1 = 0.1;
    policies[4].monotone = {1, 0, 0, 0, -1, 0, 0, 0};
    policies[5].growth = Growth::oblivious;
    policies[5].max_depth = 6;
    policies[6] = policies[5];
    policies[6].monotone = policies[4].monotone;
    return policies;
}

const Test any_limit("trees are the same with any limit of memory, for every growth policy", [] {
    for (const std::size_t n_rows : {std::size_t{3'000}, std::size_t{70'000}})  // cells that count rows, and others
        for (const bool flat : {true, false}) {
            Problem problem = with_hessian(1, n_rows, 8);
            if (flat) problem.hessian.clear();
            const std::size_t size = histogram_size(problem);
            for (GrowOptions options : all_policies()) {
                options.histogram_bytes = kNoLimit;
                const Tree tree = grow(problem, options);
                check(tree.n_nodes() > 30, "there is something to forget");
                for (const std::size_t bytes : {std::size_t{1}, 4 * size, 11 * size})
                    for (const int n_threads : {1, 2, 3}) {
                        options.histogram_bytes = bytes;
                        check(same(grow(problem, options, n_threads), tree), "the same tree");
                    }
            }
        }
});

const Test joint("trees of several outputs are the same with any limit of memory", [] {
    for (const std::size_t n_rows : {std::size_t{3'000}, std::size_t{70'000}}) {
        const Problem problem = with_hessian(2, n_rows, 8);
        std::vector<float> other;
        for (const float gradient : problem.gradient) other.push_back(gradient * gradient - 1);
        const auto trees = [&](std::size_t bytes, Growth growth, int n_threads) {
            const GrowOptions options{
                .growth = growth, .max_leaf_nodes = 60, .min_samples_leaf = 5, .histogram_bytes = bytes};
            JointGrower grower(binned(problem.table, n_threads), options, {1.0, 1.0}, n_threads);
            return grower.grow({.gradients = {problem.gradient, other}, .hessian = problem.hessian, .rows = {}}, 42);
        };
        for (const Growth growth : {Growth::leaf, Growth::level}) {
            const std::vector<Tree> expected = trees(kNoLimit, growth, 1);
            check(expected[0].n_nodes() > 30, "there is something to forget");
            for (const std::size_t bytes : {std::size_t{1}, 10 * histogram_size(problem)})
                for (const int n_threads : {1, 2}) {
                    const std::vector<Tree> limited = trees(bytes, growth, n_threads);
                    for (std::size_t k = 0; k < 2; ++k) check(same(limited[k], expected[k]), "the same tree");
                }
        }
    }
});

const Test bounded("5,000 features and any number of leaves stay below the limit, tree after tree", [] {
    Problem problem{.table = {}, .gradient = std::vector<float>(400)};
    for (std::size_t feature = 0; feature < 5'000; ++feature) {
        std::vector<double> values;
        for (std::size_t row = 0; row < 400; ++row) values.push_back(random_unit(feature, Purpose::bootstrap, row));
        problem.table.values.push_back(std::move(values));
        problem.table.n_levels.push_back(0);
    }
    for (std::size_t row = 0; row < 400; ++row)
        problem.gradient[row] = static_cast<float>(random_unit(5'000, Purpose::bootstrap, row));
    constexpr std::size_t kBytes = std::size_t{48} << 20;
    check(histogram_size(problem) > kBytes / 6, "a few histograms fill the memory");
    TreeGrower limited(binned(problem.table, 1),
                       {.max_leaf_nodes = 0, .min_samples_leaf = 2, .histogram_bytes = kBytes}, 1);
    TreeGrower unlimited(binned(problem.table, 1),
                         {.max_leaf_nodes = 0, .min_samples_leaf = 2, .histogram_bytes = kNoLimit}, 1);
    for (const std::uint64_t seed : {1u, 2u}) {
        const Derivatives derivatives{.gradient = problem.gradient, .hessian = {}, .rows = {}};
        const Tree tree = limited.grow(derivatives, seed);
        check(tree.n_nodes() > 100, "many leaves");
        check(same(unlimited.grow(derivatives, seed), tree), "the same tree");
        check(limited.histogram_bytes() <= kBytes, "the limit holds");
        check(unlimited.histogram_bytes() > 2 * kBytes, "and is needed");
    }
});

const Test last_first("the leaf that comes last loses its histogram first, also one that waits for its parent", [] {
    LeafQueue queue({});
    const auto leaf = [](double gain, NodeIndex node, int slot) {
        OpenLeaf made;
        made.split.gain = gain;
        made.node = node;
        made.slot = slot;
        return made;
    };
    OpenLeaf prepared = leaf(9, 1, -1);
    prepared.children = std::make_unique<std::array<OpenLeaf, 2>>();
    (*prepared.children)[0] = leaf(4, 0, 10);
    (*prepared.children)[1] = leaf(1, 0, 11);
    queue.push(std::move(prepared));
    queue.push(leaf(3, 2, 12));
    queue.push(leaf(10, 3, 13));
    const OpenLeaf none;
    for (const int slot : {11, 12, 10, 13}) check_equal(queue.drop_last_histogram(none), slot);
    check_throws<InvalidInput>([&] { queue.drop_last_histogram(none); }, "could be dropped");
});

const Test deep_keys("children below depth 63 have keys of their own", [] {
    std::uint64_t left = 1, right = 1;
    for (int depth = 0; depth < 62; ++depth) left = child_draw_key(left, 0);
    check_equal(left, std::uint64_t{1} << 62);
    left = 1;
    for (int depth = 0; depth < 200; ++depth) {
        check(child_draw_key(left, 0) != child_draw_key(left, 1), "siblings differ");
        left = child_draw_key(left, 0);
        right = child_draw_key(right, 1);
        check(left != right && left != 0, "paths differ");
    }
});

const Test useless("leaves for which there are no splits left lose their histograms, those that come next keep them",
                   [] {
                       LeafQueue queue(GrowOptions{.max_leaf_nodes = 4});  // three splits
                       const auto push = [&](double gain, int slot, NodeIndex node) {
                           OpenLeaf leaf;
                           leaf.node = node;
                           leaf.split.gain = gain;
                           leaf.slot = slot;
                           queue.push(std::move(leaf));
                       };
                       push(5, 0, 1);
                       push(1, 1, 2);
                       push(3, 2, 3);
                       check(queue.drop_useless_histograms().empty(), "there is a split for each of three leaves");
                       push(3, 3, 4);
                       check_equal(queue.drop_useless_histograms(), std::vector<int>{1});
                       check(queue.drop_useless_histograms().empty(), "a histogram is dropped once");
                       queue.pop();
                       push(0.5, 4, 5);
                       check_equal(queue.drop_useless_histograms(), std::vector<int>{4});
                       queue.pop();
                       // Equal gains: the older leaf comes first.
                       check_equal(queue.drop_useless_histograms(), std::vector<int>{});
                       push(7, 5, 6);
                       check_equal(queue.drop_useless_histograms(), std::vector<int>{3});
                       check_equal(queue.front().slot, 5);
                   });

}  // namespace
}  // namespace coterie::tests
