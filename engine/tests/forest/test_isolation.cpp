// Isolation trees: what their bags hold, that paths part every row from the others, and where missing values go.
#include <algorithm>
#include <limits>
#include <set>

#include "check.hpp"
#include "coterie/forest/isolation.hpp"
#include "coterie/forest/row_numbers.hpp"
#include "reference/walk.hpp"

namespace coterie::tests {
namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

/// Columns of doubles, of which some hold levels.
struct Columns {
    std::vector<std::vector<double>> values;
    std::vector<std::int32_t> n_levels;

    TableView view() const {
        TableView table;
        for (const auto& column : values)
            table.columns.push_back({reinterpret_cast<const std::byte*>(column.data()), sizeof(double)});
        table.n_rows = values[0].size();
        table.n_levels = n_levels;
        return table;
    }
};

std::vector<std::shared_ptr<const Tree>> grown(const Columns& columns, const IsolationOptions& options,
                                               const std::vector<double>& weight = {}) {
    StopRequest stop;
    return grow_isolation_trees(columns.view(), weight, options, stop);
}

const Test path_lengths("the average path length is that of an unsuccessful search", [] {
    check_equal(average_path_length(0), 0.0);
    check_equal(average_path_length(1), 0.0);
    check_equal(average_path_length(2), 1.0);
    check_near(average_path_length(5), 2.0 * (std::log(4.0) + 0.5772156649015329) - 8.0 / 5.0, 1e-14);
    check_near(average_path_length(256), 2.0 * (std::log(255.0) + 0.5772156649015329) - 510.0 / 256.0, 1e-14);
});

const Test bag_sizes("bags hold different rows, as many as wanted, and each row about as often", [] {
    for (const std::size_t wanted : {1u, 10u, 40u, 60u, 100u, 200u}) {
        const IsolationOptions options{.n_trees = 400, .max_samples = wanted, .seed = 3};
        std::vector<double> times(100, 0.0);
        for (const auto& bag : isolation_bags(100, {}, options)) {
            check_equal(bag.size(), std::min<std::size_t>(wanted, 100));
            check(std::ranges::is_sorted(bag), "is sorted");
            check_equal(std::set<RowIndex>(bag.begin(), bag.end()).size(), bag.size());
            for (const RowIndex row : bag) times[row] += 1.0;
        }
        const double expected = 4.0 * static_cast<double>(std::min<std::size_t>(wanted, 100));
        for (const double own : times) check_near(own, expected, 55.0);
    }
});

const Test weights("rows are drawn as often as they weigh, and those of weight 0 never", [] {
    const std::vector<double> weight = {0.0, 1.0, 3.0, 0.0, 4.0};
    for (const bool bootstrap : {false, true}) {
        const IsolationOptions options{.n_trees = 8000, .max_samples = 1, .bootstrap = bootstrap, .seed = 8};
        std::vector<double> times(5, 0.0);
        for (const auto& bag : isolation_bags(5, weight, options)) times[bag.at(0)] += 1.0;
        for (std::size_t row = 0; row < 5; ++row) check_near(times[row], 1000.0 * weight[row], 250.0);
        check_equal(times[0] + times[3], 0.0);
    }
    const IsolationOptions all{.n_trees = 3, .max_samples = 5};
    for (const auto& bag : isolation_bags(5, weight, all)) check_equal(bag.size(), 3u);
});

const Test alone("without a limit of depth every row of the bag is alone in its leaf, and its path is its value", [] {
    Columns columns{.values = {{}, {}}, .n_levels = {0, 0}};
    for (int row = 0; row < 50; ++row) {
        columns.values[0].push_back(row % 7);
        columns.values[1].push_back(row % 11 == 0 ? kMissing : row);
    }
    columns.values[0][0] = std::numeric_limits<double>::infinity();
    columns.values[0][1] = -std::numeric_limits<double>::max();
    for (const auto& tree : grown(columns, {.n_trees = 20, .max_samples = 50, .max_depth = 60, .seed = 1})) {
        validate(*tree, 2);
        const std::vector<std::uint32_t> depth = depths(*tree);
        std::set<NodeIndex> leaves;
        for (std::size_t row = 0; row < 50; ++row) {
            const double values[2] = {columns.values[0][row], columns.values[1][row]};
            const NodeIndex leaf = reference::slow_leaf(*tree, values);
            leaves.insert(leaf);
            check_equal(tree->value[leaf], depth[leaf] + average_path_length(tree->n_rows[leaf]));
        }
        check_equal(leaves.size(), 50u);
        for (NodeIndex node = 0; node < tree->n_nodes(); ++node)
            if (!tree->is_leaf(node))
                check_equal(tree->n_rows[node], tree->n_rows[tree->left[node]] + tree->n_rows[tree->left[node] + 1]);
    }
});

const Test same_for_threads("trees are the same for any number of threads, and a second call goes on", [] {
    Columns columns{.values = {{}, {}}, .n_levels = {0, 5}};
    for (int row = 0; row < 300; ++row) {
        columns.values[0].push_back(row * row % 97);
        columns.values[1].push_back(row % 6 - 1);
    }
    const auto one = grown(columns, {.n_trees = 30, .max_samples = 64, .max_depth = 6, .seed = 4});
    const auto three = grown(columns, {.n_trees = 30, .max_samples = 64, .max_depth = 6, .seed = 4, .n_threads = 3});
    const auto later = grown(columns, {.n_trees = 10, .first_tree = 20, .max_samples = 64, .max_depth = 6, .seed = 4});
    for (std::size_t tree = 0; tree < 30; ++tree) {
        check(one[tree]->feature == three[tree]->feature && one[tree]->threshold == three[tree]->threshold,
              "is the same with three threads");
        if (tree >= 20) check(one[tree]->threshold == later[tree - 20]->threshold, "is the same when it goes on");
    }
});

const Test constant("rows that are all alike stay together", [] {
    const Columns columns{.values = {{2, 2, 2, 2}, {kMissing, kMissing, kMissing, kMissing}, {1, 1, 1, 1}},
                          .n_levels = {0, 0, 3}};
    for (const auto& tree : grown(columns, {.n_trees = 5, .max_samples = 4})) {
        check_equal(tree->n_nodes(), 1u);
        check_equal(tree->value[0], average_path_length(4));
    }
});

const Test missing("a value and missing ones are parted; levels that a node has not seen go to the smaller side", [] {
    const Columns numbers{.values = {{2, 2, kMissing, 2}}, .n_levels = {0}};
    for (const auto& tree : grown(numbers, {.n_trees = 5, .max_samples = 4})) {
        check_equal(tree->n_nodes(), 3u);
        check_equal(tree->n_rows[1], 3u);
        check_equal(static_cast<int>(tree->missing_left[0]), 0);
    }
    const Columns levels{.values = {{0, 0, 0, 1, 0}}, .n_levels = {5}};
    for (const auto& tree : grown(levels, {.n_trees = 20, .max_samples = 5})) {
        check_equal(tree->n_nodes(), 3u);
        const bool rare_left = tree->level_goes_left(0, 1);
        check_equal(tree->level_goes_left(0, 0), !rare_left);
        check_equal(tree->level_goes_left(0, 4), rare_left);
        check_equal(tree->missing_left[0] != 0, !rare_left);
    }
});

const Test few_features("a tree uses the features that it has drawn, and no others", [] {
    Columns columns{.values = {}, .n_levels = {0, 0, 0, 0, 0, 0}};
    for (int feature = 0; feature < 6; ++feature) {
        columns.values.emplace_back();
        for (int row = 0; row < 100; ++row) columns.values.back().push_back(row * (feature + 3) % 101);
    }
    const IsolationOptions options{.n_trees = 12, .max_samples = 64, .max_features = 2, .seed = 9};
    const auto features = isolation_features(6, options);
    const auto trees = grown(columns, options);
    std::set<std::int32_t> used;
    for (std::size_t tree = 0; tree < 12; ++tree) {
        check_equal(features[tree].size(), 2u);
        for (const std::int32_t feature : trees[tree]->feature) {
            if (feature == kLeaf) continue;
            used.insert(feature);
            check(std::ranges::count(features[tree], static_cast<FeatureIndex>(feature)) == 1, "was drawn");
        }
    }
    check_equal(used.size(), 6u);
});

const Test numbers("rows have random numbers of their own; those that are alike have the same", [] {
    Columns columns{.values = {{}, {}}, .n_levels = {0, 4}};
    for (int row = 0; row < 2000; ++row) {
        columns.values[0].push_back(row);
        columns.values[1].push_back(row % 3);
    }
    columns.values[0][10] = columns.values[0][1900] = kMissing;
    columns.values[0][11] = -0.0;
    columns.values[0][1901] = 0.0;
    columns.values[1][10] = columns.values[1][1900] = 2.0;
    columns.values[1][11] = -1.0;
    columns.values[1][1901] = kMissing;
    std::vector<double> one(2000), three(2000);
    row_numbers(columns.view(), one, 1);
    row_numbers(columns.view(), three, 3);
    check(one == three, "is the same for any number of threads");
    check_equal(one[10], one[1900]);
    check_equal(one[11], one[1901]);
    check_equal(std::set<double>(one.begin(), one.end()).size(), 1998u);
    double sum = 0.0;
    for (const double own : one) {
        check(own >= 0.0 && own < 1.0, "is in [0, 1)");
        sum += own;
    }
    check_near(sum / 2000.0, 0.5, 0.03);
});

}  // namespace
}  // namespace coterie::tests
