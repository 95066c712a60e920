// A forest keeps its promises: about threads, rows out of bag, limits on trees, and the predictions after finish.
#include <numeric>
#include <set>

#include "coterie/base/error.hpp"
#include "forests.hpp"

namespace coterie::tests {
namespace {

/// The fast grower by classes, numbers, counts and random thresholds; the general one by medians.
std::vector<std::pair<TrainingSet, ForestOptions>> every_kind() {
    std::vector<std::pair<TrainingSet, ForestOptions>> all;
    const auto add = [&](std::int32_t n_classes, Criterion criterion, bool random) {
        TrainingSet data = random_training_set(50 + all.size(), 240, 5, n_classes);
        if (criterion == Criterion::poisson)
            for (double& target : data.target) target = std::floor(std::max(0.0, 3 * target));
        ForestOptions options{.seed = all.size()};
        options.tree.tree.criterion = criterion;
        options.tree.tree.random_splits = random;
        options.tree.tree.max_features = 2;
        all.emplace_back(std::move(data), options);
    };
    for (const bool random : {false, true}) {
        add(2, Criterion::gini, random);
        add(2, Criterion::entropy, random);
        add(3, Criterion::gini, random);
        add(5, Criterion::entropy, random);
        add(0, Criterion::squared_error, random);
        add(0, Criterion::absolute_error, random);
        add(0, Criterion::poisson, random);
    }
    return all;
}

const Test threads("neither threads nor the division among calls change a bit", [] {
    for (auto& [data, options] : every_kind()) {
        const Grown once = grow(data, options, {7});
        ForestOptions threaded = options;
        threaded.n_threads = 2;
        check_same_forest(grow(data, threaded, {7}), once);
        check_same_forest(grow(data, options, {3, 4}), once);
        check(once.out_of_bag.errors() == grow(data, options, {3, 4}).out_of_bag.errors(), "errors are the same");
    }
});

const Test shuffled("the order of the table changes nothing but the order of the rows", [] {
    const TrainingSet data = random_training_set(71, 200, 5, 2);
    TrainingSet other = data;
    for (auto& column : other.table.values) std::ranges::reverse(column);
    std::ranges::reverse(other.target);
    check_same_forest(grow(other, {.seed = 3}), grow(data, {.seed = 3}));
});

const Test continued("trees of a later fit are those that one fit would have grown", [] {
    const TrainingSet data = random_training_set(72, 200, 5, 0);
    ForestOptions options{.seed = 4};
    options.tree.tree.criterion = Criterion::squared_error;
    const Grown all = grow(data, options, {6});
    options.first_tree = 4;
    const Grown late = grow(data, options, {2});
    for (std::size_t i = 0; i < 2; ++i) {
        check_equal(late.counts(i), all.counts(4 + i));
        check_equal(late.forest.tree(i).nodes.size(), all.forest.tree(4 + i).nodes.size());
        check(late.forest.tree(i).leaf_values == all.forest.tree(4 + i).leaf_values, "leaf values are the same");
    }
});

/// What a training that was ended would have to be given to go on: by row of the table, as files keep it.
struct Kept {
    PackedForest forest;
    std::vector<double> importances, out_importances, sums;
    std::vector<std::uint32_t> counts;
    std::vector<double> errors, totals;
};

Kept keep(const ForestTraining& training, std::size_t first) {
    const ForestRows& rows = training.rows();
    const std::size_t k = rows.n_columns();
    Kept kept{.forest = PackedForest(rows.n_levels, rows.n_columns()),
              .sums = std::vector<double>(rows.n_table_rows * k),
              .counts = std::vector<std::uint32_t>(rows.n_table_rows),
              .errors = training.out_of_bag().errors(),
              .totals = training.out_of_bag().totals()};
    kept.forest.groups.push_back(training.grown_since(first));
    validate(kept.forest);
    const auto from = static_cast<std::ptrdiff_t>(first * rows.n_features());
    kept.importances.assign(training.importances().begin() + from, training.importances().end());
    kept.out_importances.assign(training.out_of_bag_importances().begin() + from,
                                training.out_of_bag_importances().end());
    for (std::size_t place = 0; place < rows.n_places(); ++place) {
        kept.counts[rows.order[place]] = training.out_of_bag().counts()[place];
        for (std::size_t column = 0; column < k; ++column)
            kept.sums[rows.order[place] * k + column] = training.out_of_bag().sums()[place * k + column];
    }
    return kept;
}

const Test taken("a training that takes the trees of another ends with the bits of one that was never ended", [] {
    for (auto& [data, options] : every_kind()) {
        for (std::size_t row = 0; row < data.target.size(); ++row) data.weight.push_back(0.25 * (1 + row % 7));
        const Grown once = grow(data, options, {7});
        ForestTraining ended(data.table.view(), data.view(), options);
        ended.grow(2);
        const Kept early = keep(ended, 0);
        ended.grow(1);
        Kept kept = keep(ended, 2);
        kept.forest.groups.insert(kept.forest.groups.begin(), early.forest.groups[0]);
        kept.importances.insert(kept.importances.begin(), early.importances.begin(), early.importances.end());
        kept.out_importances.insert(kept.out_importances.begin(), early.out_importances.begin(),
                                    early.out_importances.end());
        ForestTraining resumed(data.table.view(), data.view(), options);
        resumed.take(kept.forest, kept.importances, kept.out_importances);
        resumed.out_of_bag().resume(resumed.rows(), kept.sums, kept.counts, kept.errors, kept.totals);
        resumed.grow(4);
        const Grown other = finished(resumed, data);
        check_same_forest(other, once);
        check(other.out_of_bag.errors() == once.out_of_bag.errors(), "errors are the same");
        check(other.rows().table.codes == once.rows().table.codes, "rows are recoded alike");
    }
});

const Test strange("trees of other rows are not taken", [] {
    const TrainingSet data = random_training_set(73, 200, 5, 2);
    ForestTraining training(data.table.view(), data.view(), {.seed = 1});
    training.grow(2);
    const Kept kept = keep(training, 0);
    TrainingSet moved = data;
    for (double& value : moved.table.values[0]) value += 0.01;
    ForestTraining other(moved.table.view(), moved.view(), {.seed = 1});
    check_throws<InvalidInput>([&] { other.take(kept.forest, kept.importances, kept.out_importances); },
                               "values that these rows do not have");
    ForestTraining grown(data.table.view(), data.view(), {.seed = 1});
    grown.grow(1);
    check_throws<InvalidInput>([&] { grown.take(kept.forest, kept.importances, kept.out_importances); },
                               "before the first that is grown");
    ForestTraining fresh(data.table.view(), data.view(), {.seed = 1});
    check_throws<InvalidInput>([&] { fresh.take(kept.forest, {}, {}); }, "an importance of each feature");
});

const Test out_of_bag("sums, counts and errors out of bag are what walking the finished trees gives", [] {
    for (auto& [data, options] : every_kind()) {
        const Grown grown = grow(data, options);
        const std::size_t k = grown.forest.n_columns;
        const std::size_t n = grown.rows().n_places();
        std::vector<double> sums(n * k, 0.0);
        std::vector<std::uint32_t> counts(n, 0);
        for (std::size_t index = 0; index < grown.forest.n_trees(); ++index) {
            const std::vector<std::uint32_t> leaves = leaves_of_rows(*grown.memory, grown.forest, index, 1);
            const std::vector<std::uint16_t> drawn = grown.counts(index);
            for (std::size_t place = 0; place < n; ++place) {
                if (drawn[place] > 0) continue;
                ++counts[place];
                const double* const leaf_value = grown.leaf_value(grown.forest.tree(index), leaves[place]);
                for (std::size_t column = 0; column < k; ++column) sums[place * k + column] += leaf_value[column];
            }
        }
        check(grown.out_of_bag.sums() == sums, "sums are those of the leaves");
        check(grown.out_of_bag.counts() == counts, "counts are those of the bags");
        double loss = 0.0;
        double weight = 0.0;
        for (std::size_t place = 0; place < n; ++place) {
            if (counts[place] == 0) continue;
            const double* const sum = sums.data() + place * k;
            const double target = grown.rows().targets.value[place];
            weight += 1.0;
            loss += data.n_classes.empty() ? std::pow(sum[0] / counts[place] - target, 2)
                                           : static_cast<double>(std::max_element(sum, sum + k) - sum) != target;
        }
        check_equal(grown.out_of_bag.errors().size(), 5u);
        check_near(grown.out_of_bag.errors().back(), loss / weight, 1e-9);
    }
});

const Test leaf_values("a leaf predicts the mean of its rows in the bag, by their weight", [] {
    for (const std::int32_t n_classes : {0, 2, 3})
        for (const bool weighted : {false, true}) {
            TrainingSet data = random_training_set(80, 200, 5, n_classes);
            for (std::size_t row = 0; weighted && row < 200; ++row) data.weight.push_back(0.3 + 1.1 * (row % 3));
            ForestOptions options;
            options.tree.tree.criterion = n_classes > 0 ? Criterion::gini : Criterion::squared_error;
            options.tree.tree.max_depth = 3;
            const Grown grown = grow(data, options);
            for (std::size_t index = 0; index < grown.forest.n_trees(); ++index) {
                const std::vector<std::uint16_t> counts = grown.counts(index);
                for_nodes(grown, index, [&](const PackedNode& node, const std::vector<RowIndex>& places) {
                    if (!node.is_leaf()) return;
                    std::vector<double> mean(grown.forest.n_columns, 0.0);
                    double all = 0.0;
                    for (const RowIndex place : places) {
                        const double weight = counts[place] * grown.memory->bags->unit(place);
                        const double target = grown.rows().targets.value[place];
                        if (n_classes > 0)
                            mean[static_cast<std::size_t>(target)] += weight;
                        else
                            mean[0] += weight * target;
                        all += weight;
                    }
                    const double* const leaf_value =
                        grown.forest.tree(index).leaf_values.data() + node.left * mean.size();
                    for (std::size_t k = 0; k < mean.size(); ++k) check_near(leaf_value[k], mean[k] / all, 1e-12);
                });
            }
        }
});

const Test finished("after finish the table's values lead to the leaves of the rows", [] {
    for (auto& [data, options] : every_kind()) {
        const Grown grown = grow(data, options);
        const std::size_t k = grown.forest.n_columns;
        const std::size_t n = data.table.n_rows();
        std::vector<double> sums(n * k, 0.0);
        add_predictions(grown.forest, data.table.view(), sums, 1);
        std::vector<double> expected(n * k, 0.0);
        for (std::size_t index = 0; index < grown.forest.n_trees(); ++index) {
            const std::vector<std::uint32_t> leaves = leaves_of_rows(*grown.memory, grown.forest, index, 2);
            for (std::size_t place = 0; place < n; ++place) {
                const double* const leaf_value = grown.leaf_value(grown.forest.tree(index), leaves[place]);
                for (std::size_t c = 0; c < k; ++c) expected[grown.rows().order[place] * k + c] += leaf_value[c];
            }
        }
        check(sums == expected, "predictions are those of the leaves");
        validate(*grown.memory);
    }
});

const Test nothing_out("a bag of all rows has none out, and no errors", [] {
    const Grown grown = grow(random_training_set(81, 90, 4, 2), {.bag = BagKind::all});
    for (const std::uint32_t count : grown.out_of_bag.counts()) check_equal(count, 0u);
    for (const double error : grown.out_of_bag.errors()) check(std::isnan(error), "there is no error yet");
});

const Test huge_price("where every split costs more than it gains, the root is left, with the value of its bag", [] {
    for (const std::int32_t n_classes : {0, 2, 3}) {
        ForestOptions options;
        options.tree.tree.criterion = n_classes > 0 ? Criterion::gini : Criterion::squared_error;
        options.tree.ccp_alpha = 1e9;
        const Grown grown = grow(random_training_set(82, 120, 4, n_classes), options);
        for (std::size_t index = 0; index < grown.forest.n_trees(); ++index) {
            check_equal(grown.forest.tree(index).nodes.size(), 1u);
            const std::vector<std::uint16_t> counts = grown.counts(index);
            double sum = 0.0;
            for (std::size_t place = 0; place < counts.size(); ++place) {
                const double target = grown.rows().targets.value[place];
                sum += counts[place] * (n_classes > 0 ? target == 0.0 : target);
            }
            check_near(grown.forest.tree(index).leaf_values[0], sum / 120, 1e-8);
        }
        for (const double importance : grown.importances) check_equal(importance, 0.0);
    }
});

const Test price("a weak split goes and its rows move up; one that is worth it with the splits below it stays", [] {
    //  0: gain 0.5
    //    1: gain 0.01
    //      3: leaf   4: leaf
    //    2: gain 0.05, below the price alone
    //      5: leaf   6: gain 0.4
    //                  7: leaf   8: leaf
    const auto split = [](std::uint32_t left) { return PackedNode{.left = left, .condition = 0, .code = 1}; };
    const PackedNode leaf{.left = 0, .condition = PackedNode::kLeafFlag};
    GrownTree grown_tree{.nodes = {split(1), split(3), split(5), leaf, leaf, leaf, split(7), leaf, leaf},
                         .value = {0, 1, 2, 3, 4, 5, 6, 7, 8},
                         .weight = {8, 4, 4, 2, 2, 1, 3, 2, 1},
                         .gain = {0.5, 0.01, 0.05, 0, 0, 0, 0.4, 0, 0},
                         .ranks = {},
                         .out_leaf = {3, 8, 4, 5, 7}};
    prune_by_cost(grown_tree, 0.1, 1);
    check_equal(grown_tree.nodes.size(), 7u);
    std::vector<double> reached;
    for (const NodeIndex node : grown_tree.out_leaf) {
        check(grown_tree.nodes[node].is_leaf(), "rows out of the bag are in leaves");
        reached.push_back(grown_tree.value[node]);
    }
    check_equal(reached, std::vector<double>{1, 8, 1, 5, 7});
    prune_by_cost(grown_tree, 0.48, 1);  // 0.4 and 0.05 do not pay for two leaves
    check_equal(grown_tree.value, std::vector<double>{0, 1, 2});
    check_equal(grown_tree.out_leaf, std::vector<NodeIndex>{1, 2, 1, 2, 2});
});

const Test interactions("every path stays inside one of the sets", [] {
    for (const std::int32_t n_classes : {0, 2, 3}) {
        ForestOptions options;
        options.tree.tree.criterion = n_classes > 0 ? Criterion::gini : Criterion::squared_error;
        options.tree.interaction_sets = {{0, 1}, {2, 3, 4}, {1, 4}};
        options.tree.tree.max_features = 1;
        const Grown grown = grow(random_training_set(83, 200, 6, n_classes), options);
        std::set<FeatureIndex> seen;
        for (std::size_t index = 0; index < grown.forest.n_trees(); ++index) {
            const PackedTree& tree = grown.forest.tree(index);
            std::vector<std::set<FeatureIndex>> path(tree.nodes.size());
            for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
                const bool fits = std::ranges::any_of(options.tree.interaction_sets, [&](const auto& set) {
                    return std::ranges::all_of(path[i], [&](FeatureIndex f) { return std::ranges::count(set, f) > 0; });
                });
                check(fits, "the features of a path share a set");
                const PackedNode& node = tree.nodes[i];
                if (node.is_leaf()) continue;
                path[i].insert(node.feature());
                seen.insert(node.feature());
                path[node.left] = path[node.left + 1] = path[i];
            }
        }
        check_equal(seen.count(5), 0u);
        check_equal(seen.size(), 5u);
    }
});

const Test few_features("a tree splits only on the features that were drawn for it", [] {
    for (const std::int32_t n_classes : {2, 3}) {
        ForestOptions options;
        options.tree.features_per_tree = 2;
        const Grown grown = grow(random_training_set(84, 200, 6, n_classes), options, {12});
        std::set<FeatureIndex> seen;
        for (std::size_t index = 0; index < 12; ++index) {
            std::set<FeatureIndex> own;
            for (const PackedNode& node : grown.forest.tree(index).nodes)
                if (!node.is_leaf()) own.insert(node.feature());
            check(own.size() <= 2, "there are at most two");
            seen.insert(own.begin(), own.end());
        }
        check_equal(seen.size(), 6u);
    }
});

const Test rows_of_a_leaf("a leaf keeps at least min_rows_leaf rows, and no node below min_rows_split is parted", [] {
    for (auto& [data, options] : every_kind()) {
        ForestOptions limited = options;
        limited.tree.tree.min_rows_leaf = 7;
        limited.tree.tree.min_rows_split = 30;
        limited.tree.tree.max_depth = 6;
        const Grown grown = grow(data, limited);
        bool parted = false;
        for (std::size_t index = 0; index < grown.forest.n_trees(); ++index)
            for_nodes(grown, index, [&](const PackedNode& node, const std::vector<RowIndex>& places) {
                check(places.size() >= 7, "there are seven rows");
                check(node.is_leaf() || places.size() >= 30, "what is parted has thirty");
                parted = parted || !node.is_leaf();
            });
        check(parted, "some node was parted");
    }
});

const Test permuted(
    "permuting a feature costs nothing where no tree splits on it, and most where the target follows it", [] {
        for (const std::int32_t n_classes : {0, 2, 3}) {
            TrainingSet data = random_training_set(87, 300, 4, n_classes);
            data.table.values[1].assign(300, 2.0);  // constant: no tree splits on it
            for (std::size_t row = 0; row < 300; ++row)
                data.target[row] = std::isnan(data.table.values[0][row]) || data.table.values[0][row] > 3 ? 1 : 0;
            ForestOptions options;
            options.tree.tree.criterion = n_classes > 0 ? Criterion::gini : Criterion::squared_error;
            const Grown grown = grow(data, options, {6});
            const std::vector<double> increases = permutation_increases(*grown.memory, grown.forest, 0, 6, 3, 1, 1);
            check_equal(permutation_increases(*grown.memory, grown.forest, 0, 6, 3, 1, 2), increases);
            for (std::size_t tree = 0; tree < 6; ++tree) {
                check_equal(increases[4 * tree + 1], 0.0);
                check(increases[4 * tree] > 0.2, "the feature says everything");
                check(increases[4 * tree] > increases[4 * tree + 2], "and more than another");
                check(increases[4 * tree] > increases[4 * tree + 3], "and more than a nominal one");
            }
        }
    });

const Test pruned(
    "rows out of bag that vote on the splits make trees smaller, and only the others count in the error", [] {
        ForestOptions options;
        options.tree.tree.criterion = Criterion::squared_error;
        const TrainingSet data = random_training_set(88, 300, 5, 0);
        const Grown whole = grow(data, options);
        options.tree.prune_out_of_bag = true;
        const Grown small = grow(data, options);
        const auto covered = [](const Grown& grown) {
            return std::accumulate(grown.out_of_bag.counts().begin(), grown.out_of_bag.counts().end(), 0u);
        };
        for (std::size_t index = 0; index < 5; ++index)
            check(small.forest.tree(index).nodes.size() < whole.forest.tree(index).nodes.size(), "trees are smaller");
        check_near(covered(small), covered(whole) / 2.0, 50);
    });

const Test balanced("classes weigh the same in a balanced bag", [] {
    TrainingSet data = random_training_set(89, 200, 4, 2);
    for (std::size_t row = 0; row < 200; ++row) data.target[row] = row % 10 == 0;
    for (const bool draws : {false, true}) {
        ForestOptions options{.bag = draws ? BagKind::balanced : BagKind::bootstrap};
        options.tree.balance_bag = !draws;
        options.tree.tree.max_depth = 0;
        const Grown grown = grow(data, options);
        for (std::size_t index = 0; index < 5; ++index) check_near(grown.forest.tree(index).leaf_values[0], 0.5, 1e-12);
    }
});

const Test refused("targets, weights and options that make no sense are refused", [] {
    const TrainingSet data = random_training_set(90, 20, 4, 2);
    const auto refuse = [&](auto damage, std::string_view phrase) {
        TrainingSet other = data;
        ForestOptions options;
        damage(other, options);
        check_throws<InvalidInput>([&] { grow(other, options); }, phrase);
    };
    refuse([](TrainingSet& it, ForestOptions&) { it.target.pop_back(); }, "20 rows but 19 targets");
    refuse([](TrainingSet& it, ForestOptions&) { it.target[3] = 2; }, "not one of the classes");
    refuse([](TrainingSet& it, ForestOptions&) { it.target[3] = std::nan(""); }, "not a finite number");
    refuse([](TrainingSet& it, ForestOptions&) { it.weight.assign(20, -1.0); }, "A weight is negative");
    refuse([](TrainingSet& it, ForestOptions&) { it.weight.assign(20, 0.0); }, "at least one row with weight");
    refuse([](TrainingSet&, ForestOptions& it) { it.tree.tree.min_rows_leaf = 0; }, "at least one row");
    refuse([](TrainingSet&, ForestOptions& it) { it.tree.interaction_sets = {{0, 4}}; }, "does not exist");
    refuse([](TrainingSet& it, ForestOptions& its) { it.n_classes.clear(), its.bag = BagKind::balanced; },
           "Balanced bags");
});

}  // namespace
}  // namespace coterie::tests
