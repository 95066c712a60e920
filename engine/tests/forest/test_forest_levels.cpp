// Levels of nominal features: how a tree ranks them, and what becomes of those that it does not know.
#include <numeric>

#include "forests.hpp"

namespace coterie::tests {
namespace {

const Test level_order("levels are ranked by their mean target, drawn to the mean of all", [] {
    // Means: level 0: 3, level 1: none, level 2: 1 (four rows), level 3: 0.5 (one row); of all: 1.5.
    const TrainingSet data{.table = {.values = {{0, 0, 2, 2, 2, 2, 3, kMissing}}, .n_levels = {4}},
                           .target = {3, 3, 1, 1, 1, 1, 0.5, 1.5}};
    StopRequest stop;
    const ForestRows rows =
        make_forest_rows(data.table.view(), data.view(), CodeLayout::by_row, CodeSpacing::by_rank, 1, stop);
    Bag bag;
    bag.in.resize(8);
    std::iota(bag.in.begin(), bag.in.end(), 0u);
    bag.weight.assign(8, 1.0);
    // With the mean of all as one more row: 2.5, 1.5, 1.1 and 1.0. Levels this rare stay as they are in half of the
    // trees.
    const std::vector<std::uint16_t> by_target = {0, 4, 3, 2, 1};
    const std::vector<std::uint16_t> as_given = {0, 1, 2, 3, 4};
    int n_by_target = 0;
    for (bag.seed = 0; bag.seed < 100; ++bag.seed) {
        const std::vector<std::uint16_t> ranks = rank_levels(rows, bag, PackedForest({4}, 1));
        check(ranks == by_target || ranks == as_given, "levels are ranked one way or the other");
        n_by_target += ranks == by_target;
    }
    check(n_by_target > 30 && n_by_target < 70, "about half of the trees look at the targets");
});

const Test common_levels("levels of many rows are always ranked by their targets", [] {
    TrainingSet data{.table = {.values = {{}}, .n_levels = {2}}, .target = {}};
    for (int row = 0; row < 200; ++row) {
        data.table.values[0].push_back(row % 2);
        data.target.push_back(row % 2 == 0 ? 5.0 : 1.0);
    }
    StopRequest stop;
    const ForestRows rows =
        make_forest_rows(data.table.view(), data.view(), CodeLayout::by_row, CodeSpacing::by_rank, 1, stop);
    Bag bag;
    bag.in.resize(200);
    std::iota(bag.in.begin(), bag.in.end(), 0u);
    bag.weight.assign(200, 1.0);
    for (bag.seed = 0; bag.seed < 20; ++bag.seed)
        check_equal(rank_levels(rows, bag, PackedForest({2}, 1)), std::vector<std::uint16_t>{0, 2, 1});
});

const Test every_rank("the ranks of a tree number the levels of each feature", [] {
    const Grown grown = grow(random_training_set(85, 150, 8, 2), {});
    check_equal(grown.forest.n_ranks(), 26u);
    for (std::size_t index = 0; index < grown.forest.n_trees(); ++index)
        for (const std::size_t feature : {3u, 7u}) {
            const auto first = grown.forest.tree(index).ranks.begin() + grown.forest.first_rank[feature];
            std::vector<std::uint16_t> ranks(first, first + 13);
            check_equal(ranks[0], 0);
            std::ranges::sort(ranks);
            for (std::uint16_t i = 0; i < 13; ++i) check_equal(ranks[i], i);
        }
});

const Test unseen("a level that the forest does not know goes the way of missing values", [] {
    for (const std::int32_t n_classes : {0, 2, 3}) {
        ForestOptions options;
        options.tree.tree.criterion = n_classes > 0 ? Criterion::gini : Criterion::squared_error;
        const TrainingSet data = random_training_set(86, 200, 5, n_classes);
        const Grown grown = grow(data, options);
        const auto leaves_with = [&](double level) {
            Columns table = data.table;
            std::ranges::fill(table.values[3], level);
            std::vector<std::uint32_t> leaves(200 * grown.forest.n_trees());
            find_leaves(grown.forest, table.view(), leaves, 1);
            return leaves;
        };
        const std::vector<std::uint32_t> missing = leaves_with(kMissing);
        for (const double level : {12.0, 1e9, -1.0}) check_equal(leaves_with(level), missing);
        check(leaves_with(1.0) != missing, "a known level goes its own way");
    }
});

}  // namespace
}  // namespace coterie::tests
