// Targets in leaves: quantiles one finds by hand, those of the definition, and input that cannot be.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <thread>

#include "check.hpp"
#include "coterie/base/error.hpp"
#include "coterie/base/random.hpp"
#include "coterie/predict/leaf_targets.hpp"

namespace coterie::tests {
namespace {

using Leaves = std::vector<NodeIndex>;
using Counts = std::vector<std::uint16_t>;

std::vector<double> quantiles_of(const LeafTargets& targets, const QuantileQuery& query, int n_threads = 1) {
    const std::size_t n_rows = query.leaves.size() / targets.trees().size();
    std::vector<double> out(n_rows * query.levels.size());
    targets.quantiles(query, out, n_threads);
    return out;
}

/// Ten targets, 1 to 10, all of them once in one leaf.
LeafTargets ten_in_one_leaf() {
    std::vector<double> y(10);
    for (std::size_t i = 0; i < 10; ++i) y[i] = static_cast<double>(10 - i);
    LeafTargets targets(y, {});
    targets.add(Leaves(10, 0), Counts(10, 1), 1);
    return targets;
}

const Test by_hand("three of ten equal rows reach the level 0.3, whatever 0.1 is in floats", [] {
    const LeafTargets targets = ten_in_one_leaf();
    const std::vector<double> levels = {0.3, 0, 0.1, 0.31, 1, 0.7, 0.1 + 0.2};
    check_equal(quantiles_of(targets, {.leaves = Leaves{0}, .use = {}, .levels = levels}),
                std::vector<double>{3, 1, 1, 4, 10, 7, 3});
});

const Test two_trees("trees count alike, and rows count as often as they were drawn", [] {
    LeafTargets targets(std::vector<double>{5, 1, 3}, std::vector<double>{1, 2, 1});
    targets.add(Leaves{1, 2, 2, 2, 2, 2}, Counts{1, 1, 0, 0, 1, 2}, 1);  // {5} and {1}; all of {1, 3}, halves
    const std::vector<double> levels = {0.25, 0.26, 0.75, 0.76};
    check_equal(quantiles_of(targets, {.leaves = Leaves{1, 2, 2, 2}, .use = {}, .levels = levels}),
                std::vector<double>{1, 3, 5, 5, 1, 1, 1, 3});
});

const Test nothing("a row without any tree has no quantile", [] {
    LeafTargets targets(std::vector<double>{5, 1}, {});
    targets.add(Leaves{0, 1, 0, 1}, Counts{1, 0, 1, 1}, 1);
    const std::vector<std::uint8_t> use = {1, 0, 0, 1, 0, 0};
    const auto found =
        quantiles_of(targets, {.leaves = Leaves{1, 1, 1, 1, 0, 0}, .use = use, .levels = std::vector<double>{0.5}});
    check(std::isnan(found[0]), "the only tree that counts holds nothing in this leaf");
    check_equal(found[1], 1.0);
    check(std::isnan(found[2]), "no tree counts");
});

/// Trees that send rows to random leaves, and random draws of rows with weights.
struct RandomForest {
    std::size_t n_rows, n_trees;
    std::vector<double> y, weight;
    Leaves leaves;  // tree-major
    Counts counts;

    RandomForest(std::uint64_t seed, std::size_t n_rows, std::size_t n_trees, std::uint32_t n_leaves)
        : n_rows(n_rows), n_trees(n_trees) {
        for (std::size_t row = 0; row < n_rows; ++row) {
            y.push_back(random_below(seed, Purpose::rounding, row, 1 + static_cast<std::uint32_t>(n_rows / 2)));
            weight.push_back(random_below(seed, Purpose::row_draw, row, 4));
        }
        for (std::size_t i = 0; i < n_rows * n_trees; ++i) {
            leaves.push_back(random_below(seed, Purpose::threshold, i, n_leaves));
            counts.push_back(static_cast<std::uint16_t>(random_below(seed, Purpose::bootstrap, i, 3)));
        }
    }

    Leaves by_row() const {
        Leaves transposed(leaves.size());
        for (std::size_t i = 0; i < leaves.size(); ++i) transposed[i % n_rows * n_trees + i / n_rows] = leaves[i];
        return transposed;
    }

    /// The definition, in floats.
    double quantile(std::size_t row, double level) const {
        std::map<double, double> weight_of;
        double n_used = 0;
        for (std::size_t t = 0; t < n_trees; ++t) {
            const std::size_t tree = t * n_rows;
            double total = 0;
            for (std::size_t i = 0; i < n_rows; ++i)
                if (leaves[tree + i] == leaves[tree + row]) total += counts[tree + i] * weight[i];
            if (total == 0) continue;
            n_used += 1;
            for (std::size_t i = 0; i < n_rows; ++i)
                if (leaves[tree + i] == leaves[tree + row]) weight_of[y[i]] += counts[tree + i] * weight[i] / total;
        }
        double reached = 0;
        for (const auto& [target, own] : weight_of) {
            reached += own / n_used;
            if (own > 0 && reached >= level - 1e-10) return target;
        }
        return std::nan("");
    }
};

const Test definition(
    "quantiles are those of the definition, for few rows in a leaf and for many, and any threads", [] {
        const std::vector<double> levels = {0.9, 0.05, 0.5, 1, 0};
        for (const std::uint32_t n_leaves : {1u, 7u, 150u, 390u}) {
            const RandomForest forest(n_leaves, 400, 5, n_leaves);
            LeafTargets targets(forest.y, forest.weight);
            targets.add(forest.leaves, forest.counts, 2);
            const Leaves leaves = forest.by_row();
            const auto one = quantiles_of(targets, {.leaves = leaves, .use = {}, .levels = levels});
            for (std::size_t row = 0; row < 400; row += 7)
                for (std::size_t k = 0; k < levels.size(); ++k) {
                    const double expected = forest.quantile(row, levels[k]);
                    if (!std::isnan(expected)) check_equal(one[row * levels.size() + k], expected);
                }
            for (const int n_threads : {2, 3, 8}) {
                const auto more = quantiles_of(targets, {.leaves = leaves, .use = {}, .levels = levels}, n_threads);
                check(std::ranges::equal(one, more,
                                         [](double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }),
                      "threads change nothing");
            }
        }
    });

const Test refused("input that cannot be is refused, and nothing is kept of it", [] {
    check_throws<InvalidInput>([] { LeafTargets({}, {}); }, "0 rows");
    check_throws<InvalidInput>([] { LeafTargets(std::vector<double>{NAN}, {}); }, "not finite");
    check_throws<InvalidInput>([] { LeafTargets(std::vector<double>{1}, std::vector<double>{1, 1}); }, "2 weights");
    check_throws<InvalidInput>([] { LeafTargets(std::vector<double>{1}, std::vector<double>{-1}); }, "negative");
    check_throws<InvalidInput>([] { LeafTargets(std::vector<double>{1}, std::vector<double>{1e305}); }, "more than");
    LeafTargets targets = ten_in_one_leaf();
    check_throws<InvalidInput>([&] { targets.add(Leaves(9, 0), Counts(9, 1), 1); }, "9 leaves");
    check_throws<InvalidInput>([&] { targets.add(Leaves(10, 20), Counts(10, 1), 1); }, "fewer than 20 nodes");
    check_throws<InvalidInput>([&] { targets.add({.first = {0, 1}, .rank = {0}, .share = {5}}); }, "add up");
    check_throws<InvalidInput>([&] { targets.add({.first = {0, 1}, .rank = {10}, .share = {1u << 31}}); }, "order");
    check_throws<InvalidInput>([&] { targets.add({.first = {0, 2}, .rank = {0}, .share = {1u << 31}}); }, "fit");
    check_equal(targets.trees().size(), std::size_t{1});
    const std::vector<double> half = {0.5}, beyond = {1.5};
    const std::vector<std::uint8_t> two = {1, 1};
    std::vector<double> out(1);
    const auto refuse = [&](const QuantileQuery& query) { targets.quantiles(query, out, 1); };
    check_throws<InvalidInput>([&] { refuse({.leaves = Leaves{1}, .use = {}, .levels = half}); }, "leaf 1 of tree 0");
    check_throws<InvalidInput>([&] { refuse({.leaves = Leaves{0}, .use = {}, .levels = beyond}); }, "1.5");
    check_throws<InvalidInput>([&] { refuse({.leaves = Leaves{0}, .use = two, .levels = half}); }, "differ");
    check_throws<InvalidInput>([&] { refuse({.leaves = Leaves{0, 0}, .use = {}, .levels = half}); }, "does not fit");
    const LeafTargets none(std::vector<double>{1}, {});
    check_throws<InvalidInput>([&] { none.quantiles({}, {}, 1); }, "no tree");
});

const Test interrupted("a request to stop ends the search", [] {
    const LeafTargets targets = ten_in_one_leaf();
    const StopRequest stop(+[] { return true; });
    std::this_thread::sleep_for(std::chrono::milliseconds(25));
    std::vector<double> out(1);
    const std::vector<double> half = {0.5};
    check_throws<Interrupted>(
        [&] { targets.quantiles({.leaves = Leaves{0}, .use = {}, .levels = half}, out, 1, stop); }, "interrupted");
});

}  // namespace
}  // namespace coterie::tests
