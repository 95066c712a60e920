// SHAP values: what one pass down and up a tree gives is what the definition gives, subset by subset.
#include "coterie/explain/shap.hpp"

#include <bit>
#include <cmath>
#include <functional>
#include <limits>

#include "check.hpp"
#include "coterie/base/error.hpp"
#include "coterie/base/random.hpp"
#include "coterie/explain/shap_tree.hpp"
#include "coterie/predict/walk.hpp"
#include "trees_by_hand.hpp"

namespace coterie::tests {
namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t kWidth = 5;

struct Rows {
    std::vector<double> values;

    std::size_t size() const { return values.size() / kWidth; }
    const double* row(std::size_t i) const { return values.data() + i * kWidth; }
    TableView view() const {
        TableView table;
        table.n_rows = size();
        table.n_levels.assign(kWidth, 0);
        for (std::size_t feature = 0; feature < kWidth; ++feature)
            table.columns.push_back({.data = reinterpret_cast<const std::byte*>(values.data() + feature),
                                     .stride = static_cast<std::ptrdiff_t>(kWidth * sizeof(double)),
                                     .type = ValueType::float64});
        return table;
    }
};

Rows random_rows(std::uint64_t seed, std::size_t n_rows) {
    Rows rows{std::vector<double>(n_rows * kWidth)};
    for (std::size_t i = 0; i < rows.values.size(); ++i)
        rows.values[i] =
            random_below(seed, Purpose::split_noise, i, 10) == 0 ? kMissing : random_unit(seed, Purpose::rounding, i);
    return rows;
}

// Covers that add up, some of them zero; the first feature is split by sets of levels if `nominal`.
Tree random_tree(std::uint64_t seed, std::size_t n_splits, bool nominal) {
    Tree tree = leaf_only(0.5);
    tree.cover[0] = 64.0;
    for (std::uint64_t i = 0; i < n_splits; ++i) {
        const auto leaf = random_below(seed, Purpose::row_sample, i, static_cast<std::uint32_t>(tree.n_nodes()));
        const auto feature = static_cast<std::int32_t>(random_below(seed, Purpose::feature_draw, i, kWidth));
        if (!tree.is_leaf(leaf)) continue;
        split(tree, leaf, feature, random_unit(seed, Purpose::threshold, i),
              random_bits(seed, Purpose::bootstrap, i) & 1, random_unit(seed, Purpose::rounding, 2 * i),
              random_unit(seed, Purpose::rounding, 2 * i + 1) - 1.0);
        const double part = random_below(seed, Purpose::forest_tree, i, 5) / 4.0;
        tree.cover[tree.left[leaf]] = tree.cover[leaf] * part;
        tree.cover[tree.left[leaf] + 1] = tree.cover[leaf] * (1.0 - part);
        if (nominal && feature == 0) {
            tree.levels[leaf] = static_cast<std::int32_t>(tree.level_bits.size() / 4);
            tree.level_bits.insert(tree.level_bits.end(), {random_bits(seed, Purpose::row_draw, i), 0, 0, 0});
        }
    }
    return tree;
}

// What is expected of a row of which only the features of the subset are known.
double expected(const Tree& tree, NodeIndex node, const double* row, unsigned known) {
    if (tree.is_leaf(node)) return tree.value[node];
    const NodeIndex left = tree.left[node];
    const auto feature = static_cast<unsigned>(tree.feature[node]);
    if (known >> feature & 1) return expected(tree, left + !goes_left(tree, node, row[feature]), row, known);
    const double both = tree.cover[left] + tree.cover[left + 1];
    const double share = both > 0.0 ? tree.cover[left] / both : 0.5;
    return share * expected(tree, left, row, known) + (1.0 - share) * expected(tree, left + 1, row, known);
}

double prediction_of(const Tree& tree, const double* row) {
    NodeIndex node = 0;
    while (!tree.is_leaf(node)) node = tree.left[node] + !goes_left(tree, node, row[tree.feature[node]]);
    return tree.value[node];
}

using Game = std::function<double(unsigned)>;

double chance(int n_before, int n_players) {  // that so many of the others come before
    double ways = 1.0;
    for (int k = 0; k < n_before; ++k) ways *= static_cast<double>(n_players - 1 - k) / (k + 1);
    return 1.0 / (ways * n_players);
}

double shapley(const Game& game, unsigned player) {
    double value = 0.0;
    for (unsigned others = 0; others < 1u << kWidth; ++others)
        if (!(others >> player & 1))
            value += chance(std::popcount(others), kWidth) * (game(others | 1u << player) - game(others));
    return value;
}

double interaction(const Game& game, unsigned a, unsigned b) {
    double value = 0.0;
    for (unsigned others = 0; others < 1u << kWidth; ++others) {
        if (others >> a & 1 || others >> b & 1) continue;
        const double both = game(others | 1u << a | 1u << b) - game(others | 1u << a);
        value += chance(std::popcount(others), kWidth - 1) * (both - game(others | 1u << b) + game(others)) / 2.0;
    }
    return value;
}

Forest forest_of(const Tree& tree) {
    Forest forest{.n_features = kWidth, .n_outputs = 1, .trees = {}, .first_output = {}};
    forest.add(std::make_shared<const Tree>(tree), 0);
    return forest;
}

std::vector<double> values_of(const Forest& forest, const Rows& rows, int n_threads = 1) {
    std::vector<double> out(rows.size() * forest.n_outputs * (kWidth + 1));
    add_shap_values(TreeSource::of(forest), rows.view(), out, n_threads);
    return out;
}

void check_close(double received, double expected) { check_near(received, expected, 1e-12); }

const Test by_subsets("values are those of the definition", [] {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        const Tree tree = random_tree(seed, 4 + seed, seed % 2 == 0);
        Rows rows = random_rows(seed, 4);
        if (seed % 2 == 0)
            for (std::size_t i = 0; i < rows.size(); ++i)
                rows.values[i * kWidth] = std::floor(70 * rows.values[i * kWidth]);
        const std::vector<double> got = values_of(forest_of(tree), rows);
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const Game game = [&](unsigned known) { return expected(tree, 0, rows.row(i), known); };
            for (unsigned feature = 0; feature < kWidth; ++feature)
                check_close(got[i * (kWidth + 1) + feature], shapley(game, feature));
            check_close(got[i * (kWidth + 1) + kWidth], game(0));
        }
    }
});

const Test pairs("interactions are those of the definition, and add up to the values", [] {
    for (std::uint64_t seed = 0; seed < 30; ++seed) {
        const Tree tree = random_tree(seed, 30, false);
        const Rows rows = random_rows(seed, 3);
        const Forest forest = forest_of(tree);
        const std::vector<double> values = values_of(forest, rows);
        constexpr std::size_t w = kWidth + 1;
        std::vector<double> got(rows.size() * w * w);
        add_shap_interactions(TreeSource::of(forest), rows.view(), got, 1);
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const Game game = [&](unsigned known) { return expected(tree, 0, rows.row(i), known); };
            for (unsigned a = 0; a < kWidth; ++a) {
                double sum = 0.0;
                for (unsigned b = 0; b < kWidth; ++b) {
                    sum += got[(i * w + a) * w + b];
                    if (a != b) check_close(got[(i * w + a) * w + b], interaction(game, a, b));
                }
                check_close(sum, values[i * w + a]);
            }
            check_close(got[(i * w + kWidth) * w + kWidth], game(0));
        }
    }
});

const Test against("against a background, values are those of the definition", [] {
    for (std::uint64_t seed = 0; seed < 30; ++seed) {
        const Tree tree = random_tree(seed, 30, false);
        const Rows rows = random_rows(seed, 3);
        const Rows others = random_rows(seed + 1000, 7);
        const Forest forest = forest_of(tree);
        std::vector<double> got(rows.size() * (kWidth + 1));
        add_interventional_values(TreeSource::of(forest), rows.view(), others.view(), got, 1);
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const Game game = [&](unsigned known) {
                double sum = 0.0;
                for (std::size_t other = 0; other < others.size(); ++other) {
                    double mixed[kWidth];
                    for (std::size_t k = 0; k < kWidth; ++k)
                        mixed[k] = known >> k & 1 ? rows.row(i)[k] : others.row(other)[k];
                    sum += prediction_of(tree, mixed);
                }
                return sum / static_cast<double>(others.size());
            };
            for (unsigned feature = 0; feature < kWidth; ++feature)
                check_close(got[i * (kWidth + 1) + feature], shapley(game, feature));
            check_close(got[i * (kWidth + 1) + kWidth], game(0));
        }
    }
});

const Test large("large trees, which have no tables, and several threads add up to the same", [] {
    const Tree tree = random_tree(3, 40'000, false);
    check(tree.n_nodes() > 2000, "the tree is large");
    Forest forest = forest_of(tree);
    for (std::uint64_t seed = 10; seed < 14; ++seed)
        forest.add(std::make_shared<const Tree>(random_tree(seed, 20, false)), 0);
    const Rows rows = random_rows(5, 150);
    const std::vector<double> one = values_of(forest, rows);
    check_equal(values_of(forest, rows, 3), one);
    std::vector<double> scores(rows.size());
    add_scores(forest, rows.view(), scores, 1);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        double sum = 0.0;
        for (std::size_t k = 0; k <= kWidth; ++k) sum += one[i * (kWidth + 1) + k];
        check_near(sum, scores[i], 1e-9);
    }
});

const Test lines("what a linear leaf adds goes to the features of its terms", [] {
    const Tree tree = two_splits_and_a_line();
    Forest forest{.n_features = 2, .n_outputs = 1, .trees = {}, .first_output = {}};
    forest.add(std::make_shared<const Tree>(tree), 0);
    const std::vector<double> values = {1.1, 0.0, 3.0, 0.0};
    TableView table;
    table.n_rows = 2;
    table.n_levels.assign(2, 0);
    for (std::size_t feature = 0; feature < 2; ++feature)
        table.columns.push_back({.data = reinterpret_cast<const std::byte*>(values.data() + feature),
                                 .stride = 2 * sizeof(double),
                                 .type = ValueType::float64});
    std::vector<double> got(2 * 3);
    add_shap_values(TreeSource::of(forest), table, got, 1);
    std::vector<double> scores(2);
    add_scores(forest, table, scores, 1);
    check_close(scores[0], 10.2);
    check_close(got[0] + got[1] + got[2], scores[0]);
    check_close(got[3] + got[4] + got[5], scores[1]);
});

const Test wrong("tables and outputs that do not fit are refused", [] {
    const Forest forest = forest_of(random_tree(1, 5, false));
    const Rows rows = random_rows(1, 2);
    std::vector<double> small(3);
    check_throws<InvalidInput>([&] { add_shap_values(TreeSource::of(forest), rows.view(), small, 1); }, "room");
    TableView narrow = rows.view();
    narrow.columns.pop_back();
    std::vector<double> right(2 * (kWidth + 1));
    check_throws<InvalidInput>([&] { add_shap_values(TreeSource::of(forest), narrow, right, 1); }, "features");
});

}  // namespace
}  // namespace coterie::tests
