// Trees of random thresholds: where these lie, and that the ways to grow such trees agree.
#include "forests.hpp"

namespace coterie::tests {
namespace {

/// Numbers, none of them missing, of so many distinct values that codes are spaced or a few that are whole; the classes
/// follow the first feature, with noise.
TrainingSet even_training_set(std::uint64_t seed, std::size_t n_rows, std::size_t n_features, double n_values) {
    TrainingSet data{.table = {.values = std::vector<std::vector<double>>(n_features, std::vector<double>(n_rows)),
                               .n_levels = std::vector<std::int32_t>(n_features, 0)},
                     .target = std::vector<double>(n_rows),
                     .n_classes = {2}};
    for (std::size_t row = 0; row < n_rows; ++row) {
        for (std::size_t feature = 0; feature < n_features; ++feature) {
            const double unit = random_unit(seed, Purpose::row_sample, row * n_features + feature);
            data.table.values[feature][row] = n_values > 0 ? std::floor(unit * n_values) : unit;
        }
        const double first = data.table.values[0][row] / (n_values > 0 ? n_values : 1.0);
        data.target[row] = random_unit(seed, Purpose::bootstrap, row) < 0.2 + 0.6 * first;
    }
    return data;
}

ForestOptions random_splits(std::size_t max_features) {
    ForestOptions options{.bag = BagKind::all, .out_of_bag = false, .seed = 5};
    options.tree.tree.random_splits = true;
    options.tree.tree.max_features = max_features;
    return options;
}

const Test repeated("a weight is so many equal rows, in nodes of any size", [] {
    for (const double n_values : {0.0, 30.0}) {
        TrainingSet weighted = even_training_set(11, 500, 6, n_values);
        TrainingSet longer{
            .table = {.values = std::vector<std::vector<double>>(6), .n_levels = weighted.table.n_levels},
            .target = {},
            .n_classes = {2}};
        for (std::size_t row = 0; row < weighted.target.size(); ++row) {
            const std::size_t times = 1 + row % 3;
            weighted.weight.push_back(static_cast<double>(times));
            for (std::size_t i = 0; i < times; ++i) {
                for (std::size_t feature = 0; feature < 6; ++feature)
                    longer.table.values[feature].push_back(weighted.table.values[feature][row]);
                longer.target.push_back(weighted.target[row]);
            }
        }
        const Grown one = grow(weighted, random_splits(2));
        const Grown other = grow(longer, random_splits(2));
        check(one.forest.groups[0].thresholds == other.forest.groups[0].thresholds, "thresholds are the same");
        for (std::size_t tree = 0; tree < one.forest.n_trees(); ++tree) {
            check(one.forest.tree(tree).nodes == other.forest.tree(tree).nodes, "nodes are the same");
            check(one.forest.tree(tree).leaf_values == other.forest.tree(tree).leaf_values, "leaf values are the same");
        }
    }
});

const Test packed("trees that are packed while they grow are those that are packed when they are grown", [] {
    for (const Criterion criterion : {Criterion::gini, Criterion::entropy})
        for (const std::uint32_t min_rows_leaf : {1, 4}) {
            const TrainingSet data = even_training_set(12, 700, 5, 25);
            ForestOptions options = random_splits(2);
            options.tree.tree.criterion = criterion;
            options.tree.tree.min_rows_leaf = min_rows_leaf;
            options.bag = BagKind::bootstrap;
            const Grown one = grow(data, options);
            options.out_of_bag = true;  // which needs more than packed nodes
            const Grown other = grow(data, options);
            for (std::size_t index = 0; index < one.forest.n_trees(); ++index) {
                const PackedTree& a = one.forest.tree(index);
                const PackedTree& b = other.forest.tree(index);
                check_equal(a.nodes.size(), b.nodes.size());
                check_equal(a.weight, b.weight);
                check_equal(a.n_rows, b.n_rows);
                for (std::size_t i = 0; i < a.nodes.size(); ++i) {
                    if (!a.nodes[i].is_leaf()) {
                        check(a.nodes[i] == b.nodes[i], "splits are the same");
                        continue;
                    }
                    check(b.nodes[i].is_leaf(), "leaves are the same");
                    for (std::size_t k = 0; k < 2; ++k) check_equal(one.leaf_value(a, i)[k], other.leaf_value(b, i)[k]);
                }
            }
            for (std::size_t i = 0; i < one.importances.size(); ++i)
                check_near(one.importances[i], other.importances[i], 1e-12);
        }
});

const Test even("thresholds of the root lie evenly between the least and the greatest value", [] {
    constexpr std::size_t kTrees = 4000;
    for (const double n_values : {0.0, 1000.0}) {
        const TrainingSet data = even_training_set(13, 20'000, 1, n_values);
        ForestOptions options = random_splits(1);
        options.tree.tree.max_depth = 1;
        options.n_threads = 2;
        const Grown grown = grow(data, options, {kTrees});
        std::vector<std::size_t> count(10, 0);
        for (std::size_t index = 0; index < kTrees; ++index) {
            const PackedNode& root = grown.forest.tree(index).nodes[0];
            const double threshold = grown.forest.groups[0].thresholds[0][root.code - 1u];
            ++count[static_cast<std::size_t>(10.0 * threshold / (n_values > 0 ? n_values : 1.0))];
        }
        for (const std::size_t n : count)
            check_near(static_cast<double>(n), kTrees / 10.0, 4.5 * std::sqrt(kTrees / 10.0));
    }
});

const Test even_below("and so do those of a child that has lost its share of the range", [] {
    // The second feature only has high values where the first one is high.
    constexpr std::size_t kTrees = 6000;
    TrainingSet data = even_training_set(14, 400, 2, 1000);
    for (std::size_t row = 0; row < 400; ++row) {
        data.table.values[0][row] = row % 2 == 0 ? 0.0 : 1.0;
        if (row % 2 == 0) data.table.values[1][row] = std::floor(data.table.values[1][row] / 4.0);
        data.target[row] = row / 2 % 2;
    }
    data.table.values[1][0] = 0.0;
    data.table.values[1][2] = 249.0;
    ForestOptions options = random_splits(1);
    options.tree.tree.max_depth = 2;
    const Grown grown = grow(data, options, {kTrees});
    std::vector<double> count(5, 0.0);
    double all = 0.0;
    for (std::size_t index = 0; index < kTrees; ++index) {
        const PackedTree& tree = grown.forest.tree(index);
        if (tree.nodes[0].is_leaf() || tree.nodes[0].feature() != 0) continue;
        const PackedNode& left = tree.nodes[tree.nodes[0].left];
        if (left.is_leaf()) continue;
        check_equal(left.feature(), 1u);
        ++count[static_cast<std::size_t>(grown.forest.groups[0].thresholds[1][left.code - 1u] / 50.0)];
        ++all;
    }
    check(all > kTrees / 3.0, "half of the trees split on the first feature first");
    for (const double n : count) check_near(n, all / 5.0, 4.5 * std::sqrt(all / 5.0));
});

const Test kept_codes("in a forest of many nodes trees keep their codes, and values still lead to the leaves of rows",
                      [] {
                          for (const bool has_missing : {false, true}) {
                              TrainingSet data = even_training_set(15, 600, 3, 12);
                              if (has_missing)
                                  for (std::size_t row = 0; row < 600; row += 9) data.table.values[1][row] = kMissing;
                              const Grown few = grow(data, random_splits(2), {1});
                              const Grown many = grow(data, random_splits(2), {60});
                              check(many.forest.groups[0].thresholds[0].size() == 11, "every code has a threshold");
                              check(few.forest.groups[0].thresholds[0].size() <= 11,
                                    "or those that trees compare with");
                              const std::size_t n = data.table.n_rows();
                              std::vector<double> sums(n * 2, 0.0);
                              add_predictions(many.forest, data.table.view(), sums, 1);
                              std::vector<double> expected(n * 2, 0.0);
                              for (std::size_t index = 0; index < many.forest.n_trees(); ++index) {
                                  const std::vector<std::uint32_t> leaves =
                                      leaves_of_rows(*many.memory, many.forest, index, 2);
                                  for (std::size_t place = 0; place < n; ++place)
                                      for (std::size_t c = 0; c < 2; ++c)
                                          expected[many.rows().order[place] * 2 + c] +=
                                              many.leaf_value(many.forest.tree(index), leaves[place])[c];
                              }
                              check(sums == expected, "predictions are those of the leaves");
                          }
                      });

}  // namespace
}  // namespace coterie::tests
