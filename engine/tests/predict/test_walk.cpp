// Rows walk down trees: the fast walk over blocks and lanes gives what a walk by hand gives.
#include <cmath>
#include <numeric>

#include "check.hpp"
#include "coterie/base/error.hpp"
#include "coterie/base/random.hpp"
#include "coterie/predict/compiled_forest.hpp"
#include "coterie/predict/walk.hpp"
#include "reference/walk.hpp"
#include "trees_by_hand.hpp"

namespace coterie::tests {
namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

// A row-major table of doubles and the view the engine takes.
struct Rows {
    std::vector<double> values;
    std::size_t width;

    TableView view() const {
        TableView table;
        table.n_rows = values.size() / width;
        table.n_levels.assign(width, 0);
        for (std::size_t feature = 0; feature < width; ++feature)
            table.columns.push_back({.data = reinterpret_cast<const std::byte*>(values.data() + feature),
                                     .stride = static_cast<std::ptrdiff_t>(width * sizeof(double)),
                                     .type = ValueType::float64});
        return table;
    }
};

Forest forest_of(std::vector<Tree> trees, std::size_t n_features) {
    Forest forest{.n_features = n_features, .n_outputs = 1, .trees = {}, .first_output = {}};
    for (Tree& tree : trees) forest.add(std::make_shared<const Tree>(std::move(tree)), 0);
    return forest;
}

std::vector<double> scores_of(const Forest& forest, const Rows& rows, int n_threads = 1) {
    const TableView table = rows.view();
    std::vector<double> scores(table.n_rows * forest.n_outputs);
    add_scores(forest, table, scores, n_threads);
    return scores;
}

Tree random_tree(std::uint64_t seed, std::size_t n_splits, std::uint32_t n_features) {
    Tree tree = leaf_only(0);
    for (std::uint64_t i = 0; i < n_splits; ++i) {
        const auto leaf = random_below(seed, Purpose::row_sample, i, static_cast<std::uint32_t>(tree.n_nodes()));
        const auto feature = static_cast<std::int32_t>(random_below(seed, Purpose::feature_draw, i, n_features));
        const double threshold = random_unit(seed, Purpose::threshold, i);
        if (!tree.is_leaf(leaf)) continue;
        split(tree, leaf, feature, threshold, random_bits(seed, Purpose::bootstrap, i) & 1, 1.0 / (2 + double(i)),
              -double(i));
    }
    return tree;
}

Rows random_rows(std::uint64_t seed, std::size_t n_rows, std::size_t width) {
    Rows rows{.values = std::vector<double>(n_rows * width), .width = width};
    for (std::size_t i = 0; i < rows.values.size(); ++i)
        rows.values[i] =
            random_below(seed, Purpose::split_noise, i, 10) == 0 ? kMissing : random_unit(seed, Purpose::rounding, i);
    return rows;
}

const Test by_hand("rows reach the leaves one finds by hand", [] {
    const Rows rows{.values = {1.5, 9, 1.6, 0.5, 1.6, 0.6, kMissing, 9, 2, kMissing}, .width = 2};
    check_equal(scores_of(forest_of({two_splits()}, 2), rows), std::vector<double>{10, 20, 30, 10, 30});
});

const Test levels("levels of the set go left; missing and never seen ones where the node says", [] {
    const Rows rows{.values = {0, 1, 2, 70, 69, -1, kMissing, 300}, .width = 1};
    check_equal(scores_of(forest_of({one_set()}, 1), rows), std::vector<double>{1, 2, 1, 1, 2, 2, 2, 2});
});

const Test infinities("infinite values are ordered like all others", [] {
    const Rows rows{.values = {-INFINITY, 0, INFINITY, -INFINITY, INFINITY, INFINITY}, .width = 2};
    check_equal(scores_of(forest_of({two_splits()}, 2), rows), std::vector<double>{10, 20, 30});
});

const Test twins("the fast walk equals the slow one, bit for bit, for any number of rows and threads", [] {
    for (const std::size_t n_rows : {1u, 7u, 8u, 9u, 255u, 257u, 40'000u}) {
        const Rows rows = random_rows(n_rows, n_rows, 3);
        std::vector<Tree> trees;
        for (std::uint64_t seed = 0; seed < 5; ++seed) trees.push_back(random_tree(seed, 3 + 40 * seed, 3));
        std::vector<double> expected(n_rows);
        for (std::size_t row = 0; row < n_rows; ++row)
            for (const Tree& tree : trees)
                expected[row] += tree.value[reference::slow_leaf(tree, &rows.values[row * 3])];
        const Forest forest = forest_of(trees, 3);
        for (const int n_threads : {1, 2, 3, 8})
            check(scores_of(forest, rows, n_threads) == expected, "every score equals the slow walk's");
    }
});

/// The same values as floats, side by side in each row or, if not, column after column.
template <class Float>
TableView view_of(const std::vector<Float>& values, std::size_t n_rows, std::size_t width, bool by_row) {
    TableView table;
    table.n_rows = n_rows;
    table.n_levels.assign(width, 0);
    for (std::size_t feature = 0; feature < width; ++feature) {
        const std::size_t first = by_row ? feature : feature * n_rows;
        table.columns.push_back({.data = reinterpret_cast<const std::byte*>(values.data() + first),
                                 .stride = static_cast<std::ptrdiff_t>((by_row ? width : 1) * sizeof(Float)),
                                 .type = sizeof(Float) == 4 ? ValueType::float32 : ValueType::float64});
    }
    return table;
}

const Test wide_twins("tables of many features get the predictions of the slow walk, however they lie in memory", [] {
    constexpr std::size_t width = 70;  // four strips, and a rest
    std::vector<Tree> trees;
    for (std::uint64_t seed = 0; seed < 40; ++seed) trees.push_back(random_tree(seed, 10, width));
    for (std::uint64_t seed = 40; seed < 44; ++seed) trees.push_back(random_tree(seed, 60, 3));  // no strip for these
    const Forest forest = forest_of(trees, width);
    for (const std::size_t n_rows : {9u, 63u, 64u, 127u, 129u, 1003u}) {
        Rows rows = random_rows(n_rows, n_rows, width);
        for (std::size_t i = 0; i < rows.values.size(); i += 7) {  // some are a threshold
            const Tree& tree = trees[i % trees.size()];
            rows.values[i] = static_cast<double>(static_cast<float>(tree.threshold[i % tree.n_nodes()]));
        }
        for (double& value : rows.values) value = static_cast<double>(static_cast<float>(value));
        std::vector<double> expected(n_rows);
        for (std::size_t row = 0; row < n_rows; ++row)
            for (const Tree& tree : trees)
                expected[row] += tree.value[reference::slow_leaf(tree, &rows.values[row * width])];
        const std::vector<float> floats(rows.values.begin(), rows.values.end());
        std::vector<double> transposed(rows.values.size());
        for (std::size_t row = 0; row < n_rows; ++row)
            for (std::size_t feature = 0; feature < width; ++feature)
                transposed[feature * n_rows + row] = rows.values[row * width + feature];
        for (const TableView& table :
             {rows.view(), view_of(floats, n_rows, width, true), view_of(transposed, n_rows, width, false)}) {
            std::vector<double> scores(n_rows);
            add_scores(forest, table, scores, 2);
            check(scores == expected, "every score equals the slow walk's");
        }
    }
});

/// Every second split becomes a set of random levels of its feature.
void make_nominal(Tree& tree, std::uint64_t seed) {
    for (NodeIndex node = 0; node < tree.n_nodes(); node += 2) {
        if (tree.is_leaf(node)) continue;
        tree.levels[node] = static_cast<std::int32_t>(tree.level_bits.size() / 4);
        for (std::uint64_t word = 0; word < 4; ++word)
            tree.level_bits.push_back(random_bits(seed, Purpose::bootstrap, 4 * node + word));
    }
}

const Test nominal_twins("trees with sets of levels send every row to the leaf of the slow walk", [] {
    constexpr std::size_t n_rows = 1003;
    Rows rows = random_rows(5, n_rows, 3);
    for (std::size_t i = 0; i < rows.values.size(); ++i)
        if (i % 3 == 0) rows.values[i] = std::floor(rows.values[i] * 300) - 20;  // also below 0 and above 255
    std::vector<Tree> trees;
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
        trees.push_back(random_tree(seed, 30 * seed, 3));
        make_nominal(trees.back(), seed);
        validate(trees.back(), 3);
    }
    const Forest forest = forest_of(trees, 3);
    for (const int n_threads : {1, 2, 3, 8}) {
        std::vector<std::uint32_t> leaves(n_rows * trees.size());
        find_leaves(forest, rows.view(), leaves, n_threads);
        for (std::size_t i = 0; i < leaves.size(); ++i)
            check_equal(leaves[i], reference::slow_leaf(trees[i % trees.size()], &rows.values[i / trees.size() * 3]));
    }
});

/// One split per depth. `odd`: but for one node, which splits on something else.
Tree symmetric_tree(std::uint64_t seed, std::uint32_t depth, std::uint32_t n_features, bool odd) {
    Tree tree = leaf_only(0);
    std::vector<NodeIndex> nodes{0};
    for (std::uint32_t i = 0; i < depth; ++i) {
        const auto feature = static_cast<std::int32_t>(random_below(seed, Purpose::feature_draw, i, n_features));
        const double threshold = random_unit(seed, Purpose::threshold, i);
        std::vector<NodeIndex> below;
        for (const NodeIndex node : nodes) {
            const bool moved = odd && i + 1 == depth && node == nodes.back();
            split(tree, node, feature, moved ? threshold / 2 : threshold, i % 2 == 0, double(node) + 0.25,
                  -double(node));
            below.push_back(tree.left[node]);
            below.push_back(tree.left[node] + 1);
        }
        nodes = below;
    }
    return tree;
}

const Test symmetric_twins("symmetric trees, and those that nearly are, send every row to the leaf of the slow walk",
                           [] {
                               constexpr std::size_t n_rows = 1003;
                               const Rows rows = random_rows(9, n_rows, 3);
                               std::vector<Tree> trees;
                               for (std::uint32_t depth = 0; depth <= 8; ++depth) {
                                   trees.push_back(symmetric_tree(depth, depth, 3, false));
                                   trees.push_back(symmetric_tree(depth, depth, 3, true));
                               }
                               const Forest forest = forest_of(trees, 3);
                               std::vector<std::uint32_t> leaves(n_rows * trees.size());
                               find_leaves(forest, rows.view(), leaves, 2);
                               std::vector<double> expected(n_rows);
                               for (std::size_t i = 0; i < leaves.size(); ++i) {
                                   const Tree& tree = trees[i % trees.size()];
                                   const NodeIndex leaf =
                                       reference::slow_leaf(tree, &rows.values[i / trees.size() * 3]);
                                   check_equal(leaves[i], leaf);
                                   expected[i / trees.size()] += tree.value[leaf];
                               }
                               check(scores_of(forest, rows) == expected, "every score equals the slow walk's");
                           });

const Test many_thresholds("a feature may have more thresholds than a byte tells apart", [] {
    constexpr std::size_t n_rows = 700;
    const Rows rows = random_rows(8, n_rows, 2);
    std::vector<Tree> trees;
    for (std::uint64_t seed = 0; seed < 12; ++seed) trees.push_back(random_tree(40 + seed, 120, 2));
    const Forest forest = forest_of(trees, 2);
    std::vector<std::uint32_t> leaves(n_rows * trees.size());
    find_leaves(forest, rows.view(), leaves, 1);
    for (std::size_t i = 0; i < leaves.size(); ++i)
        check_equal(leaves[i], reference::slow_leaf(trees[i % trees.size()], &rows.values[i / trees.size() * 2]));
});

const Test at_thresholds(
    "values at thresholds, zeros of both signs and infinities go where a comparison sends them", [] {
        std::vector<Tree> trees;
        for (std::uint64_t seed = 0; seed < 4; ++seed) trees.push_back(random_tree(60 + seed, 30, 1));
        trees.push_back(leaf_only(0));
        split(trees.back(), 0, 0, -0.0, false, 1, 2);
        Rows rows{.values = {0.0, -0.0, INFINITY, -INFINITY, kMissing, 5e-324, -5e-324, 1e308}, .width = 1};
        for (const Tree& tree : trees)
            for (NodeIndex node = 0; node < tree.n_nodes(); ++node) {
                if (tree.is_leaf(node)) continue;
                rows.values.push_back(tree.threshold[node]);
                rows.values.push_back(std::nextafter(tree.threshold[node], INFINITY));
            }
        std::vector<float> floats(rows.values.begin(), rows.values.end());
        TableView narrow = rows.view();
        narrow.columns[0] = {.data = reinterpret_cast<const std::byte*>(floats.data()),
                             .stride = sizeof(float),
                             .type = ValueType::float32};
        const Forest forest = forest_of(trees, 1);
        std::vector<std::uint32_t> leaves(rows.values.size() * trees.size());
        std::vector<std::uint32_t> narrow_leaves(leaves.size());
        find_leaves(forest, rows.view(), leaves, 1);
        find_leaves(forest, narrow, narrow_leaves, 1);
        for (std::size_t i = 0; i < leaves.size(); ++i) {
            const std::size_t row = i / trees.size();
            const double narrow_value = static_cast<double>(floats[row]);
            check_equal(leaves[i], reference::slow_leaf(trees[i % trees.size()], &rows.values[row]));
            check_equal(narrow_leaves[i], reference::slow_leaf(trees[i % trees.size()], &narrow_value));
        }
    });

const Test large_trees("trees too large for a network are walked by codes, in bundles, to the leaves of the slow walk",
                       [] {
                           std::vector<Tree> trees;
                           for (std::uint64_t seed = 0; seed < 3; ++seed)
                               trees.push_back(random_tree(70 + seed, 30'000, 3));
                           trees.push_back(random_tree(80, 10, 3));
                           check(trees[0].n_nodes() > 10'000, "a tree is large");
                           const Forest forest = forest_of(trees, 3);
                           for (const std::size_t n_rows : {255u, 257u, 600u, 9001u}) {
                               const Rows rows = random_rows(n_rows, n_rows, 3);
                               std::vector<std::uint32_t> leaves(n_rows * trees.size());
                               find_leaves(forest, rows.view(), leaves, 2);
                               for (std::size_t i = 0; i < leaves.size(); ++i)
                                   check_equal(leaves[i], reference::slow_leaf(trees[i % trees.size()],
                                                                               &rows.values[i / trees.size() * 3]));
                           }
                       });

const Test ranges("some trees predict as a forest of them alone would, whichever way rows go", [] {
    for (const std::size_t n_splits : {20u, 4000u})
        for (const std::size_t n_rows : {1u, 9u, 30u, 700u}) {
            std::vector<Tree> trees;
            for (std::uint64_t seed = 0; seed < 21; ++seed) trees.push_back(random_tree(seed, n_splits, 3));
            const Forest forest = forest_of(trees, 3);
            const Rows rows = random_rows(n_rows, n_rows, 3);
            for (const TreeRange range : {TreeRange{0, 21}, TreeRange{0, 5}, TreeRange{3, 12}, TreeRange{20, 99}}) {
                std::vector<double> expected(n_rows);
                for (std::size_t row = 0; row < n_rows; ++row)
                    for (std::size_t t = range.begin; t < range.end_of(21); ++t)
                        expected[row] += trees[t].value[reference::slow_leaf(trees[t], &rows.values[row * 3])];
                std::vector<double> scores(n_rows);
                add_scores(forest, rows.view(), scores, 2, {}, range);
                check(scores == expected, "the sums are those of these trees");
            }
        }
});

const Test kept("what a forest was compiled to is kept until its trees change", [] {
    Forest forest = forest_of({two_splits(), leaf_only(1)}, 2);
    const auto compiled = CompiledForest::of(forest);
    check(CompiledForest::of(forest) == compiled, "the same is returned again");
    forest.add(std::make_shared<const Tree>(leaf_only(5)), 0);
    check(CompiledForest::of(forest) != compiled, "another tree, another form");
    const Rows rows{.values = std::vector<double>(64, 0.0), .width = 2};
    check_equal(scores_of(forest, rows), std::vector<double>(32, 16.0));
    check(CompiledForest::of(forest)->n_bytes() > 0, "its size is known");
});

const Test size("all compiled forms together take less than three times the trees", [] {
    for (const std::size_t n_splits : {60u, 400u, 4000u}) {
        std::vector<Tree> trees;
        std::size_t flat = 0;
        for (std::uint64_t seed = 0; seed < 100; ++seed) {
            trees.push_back(random_tree(seed, n_splits, 10));
            flat += trees.back().n_nodes() * (5 * sizeof(double) + 2 * sizeof(std::int32_t) + 1);
        }
        const Forest forest = forest_of(trees, 10);
        for (const std::size_t n_rows : {1u, 1000u})
            check_equal(scores_of(forest, random_rows(1, n_rows, 10)).size(), n_rows);
        const std::size_t compiled = CompiledForest::of(forest)->n_bytes();
        check(compiled > flat / 3 && compiled < 3 * flat, "it is counted, and bounded");
    }
});

const Test deep("a tree that is one long path is walked to its end", [] {
    Tree tree = leaf_only(0);
    NodeIndex node = 0;
    for (int level = 0; level < 300; ++level) {
        split(tree, node, 0, level, false, level, -1);
        node = static_cast<NodeIndex>(tree.n_nodes() - 1);
    }
    validate(tree, 1);
    Rows rows{.values = {}, .width = 1};
    for (int value = 0; value <= 300; ++value) rows.values.push_back(value);
    const std::vector<double> scores = scores_of(forest_of({tree}, 1), rows, 2);
    for (std::size_t value = 0; value < 300; ++value) check_equal(scores[value], static_cast<double>(value));
    check_equal(scores[300], -1.0);
});

const Test outputs("a tree adds to its own outputs and leaves the others alone", [] {
    Forest forest{.n_features = 2, .n_outputs = 3, .trees = {}, .first_output = {}};
    forest.add(std::make_shared<const Tree>(two_splits()), 1);
    const Rows rows{.values = {0, 0, 5, 5}, .width = 2};
    check_equal(scores_of(forest, rows), std::vector<double>{0, 10, 0, 0, 30, 0});
});

const Test leaves("the leaf of each row in each tree is known", [] {
    const Forest forest = forest_of({two_splits(), leaf_only(1)}, 2);
    const Rows rows{.values = {0, 0, 5, 5}, .width = 2};
    std::vector<std::uint32_t> found(4);
    find_leaves(forest, rows.view(), found, 1);
    check_equal(found, std::vector<std::uint32_t>{1, 0, 4, 0});
});

const Test wrong_width("a table of another width is refused with both widths", [] {
    const Rows rows{.values = {1, 2, 3}, .width = 3};
    check_throws<InvalidInput>([&] { scores_of(forest_of({two_splits()}, 2), rows); },
                               "grown on 2 features; the table has 3");
});

const Test line_by_hand("a line ends at its least and most value, at its bounds, and where a value is missing", [] {
    const double inf = std::numeric_limits<double>::infinity();
    const Rows rows{{0.5, 0, 1.2, 0, -7, 0, -inf, 0, 1.4, 0, kMissing, 0, 2, 0, inf, 1}, 2};
    // With a tree without lines before it, so that both kinds are walked.
    const Forest forest = forest_of({leaf_only(100), two_splits_and_a_line()}, 2);
    const std::vector<double> expected{109, 110.4, 108, 108, 110.5, 110, 120, 130};
    const std::vector<double> scores = scores_of(forest, rows);
    for (std::size_t row = 0; row < expected.size(); ++row) check_near(scores[row], expected[row], 1e-12);
});

}  // namespace
}  // namespace coterie::tests
