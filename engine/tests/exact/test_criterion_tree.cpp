// Criterion trees: every split against a search of all partitions, every node against its definition.

#include <algorithm>
#include <numeric>
#include <set>

#include "check.hpp"
#include "coterie/base/error.hpp"
#include "coterie/exact/criterion_tree.hpp"
#include "tables_by_hand.hpp"

namespace coterie::tests {
namespace {

using Rows = std::vector<std::size_t>;

constexpr double kNone = -1.0;  // no partition is allowed

struct Problem {
    Columns table;
    std::vector<double> target;
    std::vector<std::int32_t> n_classes = {};
    std::vector<double> weight = {};
    CriterionOptions options = {};

    TargetView view() const { return {.value = target, .n_outputs = 1, .n_classes = n_classes, .weight = weight}; }
    Tree grow() const { return grow_criterion_tree(table.view(), view(), options); }
    double weight_of(std::size_t row) const { return weight.empty() ? 1.0 : weight[row]; }
    Rows all_rows() const {
        Rows rows;
        for (std::size_t row = 0; row < target.size(); ++row)
            if (weight_of(row) > 0.0) rows.push_back(row);
        return rows;
    }
};

struct Shape {
    std::size_t n_rows = 60;
    bool missing = false;
    bool nominal = false;
    bool weighted = false;
};

// Few distinct values, so that features tie and repeat; with a nominal feature of four levels.
Problem problem_of(Criterion criterion, std::int32_t n_classes, const Shape& shape, std::uint64_t seed) {
    Problem problem;
    const std::size_t n = shape.n_rows;
    for (std::size_t feature = 0; feature < 3; ++feature) {
        const bool nominal = shape.nominal && feature == 2;
        problem.table.n_levels.push_back(nominal ? 4 : 0);
        auto& column = problem.table.values.emplace_back(n);
        for (std::size_t row = 0; row < n; ++row) {
            const std::uint64_t position = feature * n + row;
            column[row] = std::floor(random_unit(seed, Purpose::threshold, position) * (nominal ? 4 : 15));
            if (shape.missing && random_below(seed, Purpose::split_noise, position, 8) == 0) column[row] = kMissing;
        }
    }
    for (std::size_t row = 0; row < n; ++row) {
        const double x = problem.table.values[0][row];
        const double y = (std::isnan(x) ? 3.0 : x / 3.0) + 2.0 * random_unit(seed, Purpose::bootstrap, row) +
                         (problem.table.values[2][row] == 1.0 ? 1.5 : 0.0);
        problem.target.push_back(n_classes > 0 ? std::min(std::floor(y * n_classes / 8.0), n_classes - 1.0)
                                 : criterion == Criterion::poisson ? std::floor(y)
                                                                   : y);
        if (shape.weighted)
            problem.weight.push_back(static_cast<double>(random_below(seed, Purpose::row_draw, row, 5)) / 2.0);
    }
    if (n_classes > 0) problem.n_classes = {n_classes};
    problem.options.criterion = criterion;
    return problem;
}

double total_weight(const Problem& problem, const Rows& rows) {
    double sum = 0.0;
    for (const std::size_t row : rows) sum += problem.weight_of(row);
    return sum;
}

// Shares of the classes, the mean, or the lower weighted median: half of the weight is at or below it.
std::vector<double> value_of(const Problem& problem, const Rows& rows) {
    const double all = total_weight(problem, rows);
    if (!problem.n_classes.empty()) {
        std::vector<double> share(static_cast<std::size_t>(problem.n_classes[0]), 0.0);
        for (const std::size_t row : rows)
            share[static_cast<std::size_t>(problem.target[row])] += problem.weight_of(row) / all;
        return share;
    }
    double mean = 0.0;
    for (const std::size_t row : rows) mean += problem.weight_of(row) * problem.target[row] / all;
    return {mean};
}

// The least sum of absolute distances is reached at one of the targets.
double absolute_loss(const Problem& problem, const Rows& rows) {
    double least = std::numeric_limits<double>::infinity();
    for (const std::size_t at : rows) {
        double loss = 0.0;
        for (const std::size_t row : rows)
            loss += problem.weight_of(row) * std::abs(problem.target[row] - problem.target[at]);
        least = std::min(least, loss);
    }
    return least;
}

double impurity_of(const Problem& problem, const Rows& rows) {
    const double all = total_weight(problem, rows);
    const std::vector<double> value = value_of(problem, rows);
    double sum = 0.0;
    switch (problem.options.criterion) {
        case Criterion::gini:
            for (const double share : value) sum += share * (1.0 - share);
            return sum;
        case Criterion::entropy:
            for (const double share : value) sum -= share > 0.0 ? share * std::log2(share) : 0.0;
            return sum;
        case Criterion::absolute_error: return absolute_loss(problem, rows) / all;
        default: break;
    }
    for (const std::size_t row : rows) {
        const double y = problem.target[row];
        if (problem.options.criterion == Criterion::squared_error)
            sum += problem.weight_of(row) * (y - value[0]) * (y - value[0]);
        else
            sum += y > 0.0 ? problem.weight_of(row) * y * std::log(y / value[0]) : 0.0;
    }
    return sum / all;
}

// The decrease of impurity, or kNone if the options forbid the partition.
double gain_of(const Problem& problem, const Rows& left, const Rows& right) {
    const CriterionOptions& options = problem.options;
    if (left.empty() || right.empty()) return kNone;
    if (left.size() < options.min_rows_leaf || right.size() < options.min_rows_leaf) return kNone;
    const double left_weight = total_weight(problem, left);
    const double right_weight = total_weight(problem, right);
    if (left_weight < options.min_weight_leaf || right_weight < options.min_weight_leaf) return kNone;
    if (options.criterion == Criterion::poisson &&
        (value_of(problem, left)[0] == 0.0 || value_of(problem, right)[0] == 0.0))
        return kNone;  // a mean of zero cannot be predicted
    Rows both = left;
    both.insert(both.end(), right.begin(), right.end());
    std::ranges::sort(both);
    const double lost = left_weight * impurity_of(problem, left) + right_weight * impurity_of(problem, right);
    return (total_weight(problem, both) * impurity_of(problem, both) - lost) /
           total_weight(problem, problem.all_rows());
}

template <class GoesLeft>
double gain_if(const Problem& problem, const Rows& rows, GoesLeft goes_left) {
    Rows left;
    Rows right;
    for (const std::size_t row : rows) (goes_left(row) ? left : right).push_back(row);
    return gain_of(problem, left, right);
}

double best_gain(const Problem& problem, const Rows& rows) {
    double best = kNone;
    for (std::size_t feature = 0; feature < problem.table.values.size(); ++feature) {
        const auto& column = problem.table.values[feature];
        std::set<double> known;
        bool has_missing = false;
        for (const std::size_t row : rows) {
            has_missing |= std::isnan(column[row]);
            if (!std::isnan(column[row])) known.insert(column[row]);
        }
        const std::vector<double> values(known.begin(), known.end());
        const bool nominal = problem.table.n_levels[feature] > 0;
        const std::size_t n_splits = nominal ? std::size_t{1} << values.size() : values.size();
        for (std::size_t number = 0; number < n_splits; ++number)
            for (const bool missing_left : {false, true}) {
                if (missing_left && !has_missing) continue;
                best = std::max(best, gain_if(problem, rows, [&](std::size_t row) {
                                    if (std::isnan(column[row])) return missing_left;
                                    if (!nominal) return column[row] <= values[number];
                                    const auto index = std::ranges::lower_bound(values, column[row]) - values.begin();
                                    return (number >> index & 1) != 0;
                                }));
            }
    }
    return best;
}

bool goes_left(const Tree& tree, NodeIndex node, double value) {
    if (std::isnan(value)) return tree.missing_left[node];
    if (tree.levels[node] < 0) return value <= tree.threshold[node];
    return tree.level_goes_left(tree.levels[node], static_cast<std::uint32_t>(value));
}

std::vector<Rows> rows_of_nodes(const Problem& problem, const Tree& tree) {
    std::vector<Rows> rows(tree.n_nodes());
    rows[0] = problem.all_rows();
    for (NodeIndex node = 0; node < tree.n_nodes(); ++node) {
        if (tree.is_leaf(node)) continue;
        const auto& column = problem.table.values[static_cast<std::size_t>(tree.feature[node])];
        for (const std::size_t row : rows[node])
            rows[tree.left[node] + (goes_left(tree, node, column[row]) ? 0 : 1)].push_back(row);
    }
    return rows;
}

std::vector<std::uint32_t> depths_of(const Tree& tree) {
    std::vector<std::uint32_t> depth(tree.n_nodes(), 0);
    for (NodeIndex node = 0; node < tree.n_nodes(); ++node)
        if (!tree.is_leaf(node)) depth[tree.left[node]] = depth[tree.left[node] + 1] = depth[node] + 1;
    return depth;
}

void check_nodes(const Problem& problem, const Tree& tree, const std::vector<Rows>& rows) {
    for (NodeIndex node = 0; node < tree.n_nodes(); ++node) {
        check_equal(std::size_t{tree.n_rows[node]}, rows[node].size());
        check_near(tree.cover[node], total_weight(problem, rows[node]), 1e-9);
        check_near(tree.impurity[node], impurity_of(problem, rows[node]), 1e-9);
        const std::vector<double> value = value_of(problem, rows[node]);
        for (std::size_t k = 0; k < value.size() && problem.options.criterion != Criterion::absolute_error; ++k)
            check_near(tree.value[node * value.size() + k], value[k], 1e-9);
        if (!tree.is_leaf(node))
            check_near(tree.gain[node], gain_of(problem, rows[tree.left[node]], rows[tree.left[node] + 1]), 1e-9);
    }
}

// Whether the limits on nodes leave it a leaf.
bool must_be_leaf(const Problem& problem, const Rows& rows, std::uint32_t depth) {
    const CriterionOptions& options = problem.options;
    return depth >= options.max_depth || rows.size() < options.min_rows_split ||
           rows.size() < 2 * options.min_rows_leaf || total_weight(problem, rows) < 2 * options.min_weight_leaf ||
           impurity_of(problem, rows) < 1e-12;
}

void check_best(const Problem& problem, const Tree& tree) {
    const std::vector<Rows> rows = rows_of_nodes(problem, tree);
    const std::vector<std::uint32_t> depth = depths_of(tree);
    check_nodes(problem, tree, rows);
    for (NodeIndex node = 0; node < tree.n_nodes(); ++node) {
        if (must_be_leaf(problem, rows[node], depth[node])) {
            check(tree.is_leaf(node), "a node beyond the limits is a leaf");
            continue;
        }
        const double best = best_gain(problem, rows[node]);
        const bool enough = best != kNone && best + 1e-12 >= problem.options.min_impurity_decrease;
        check_equal(tree.is_leaf(node), !enough);
        if (enough) check_near(tree.gain[node], best, 1e-9);
    }
}

struct Kind {
    Criterion criterion;
    std::int32_t n_classes;
};
const std::vector<Kind> kKinds{{Criterion::gini, 2},          {Criterion::gini, 3},          {Criterion::entropy, 2},
                               {Criterion::entropy, 3},       {Criterion::squared_error, 0}, {Criterion::poisson, 0},
                               {Criterion::absolute_error, 0}};

const Test every_criterion("every split is the best of all partitions, by every criterion", [] {
    for (const auto& [criterion, n_classes] : kKinds)
        for (const bool missing : {false, true})
            for (const bool weighted : {false, true}) {
                const Problem problem = problem_of(criterion, n_classes, {.missing = missing, .weighted = weighted}, 7);
                check_best(problem, problem.grow());
            }
});

const Test nominal("levels ordered by their mean reach the best of all partitions of levels", [] {
    for (const auto& [criterion, n_classes] : kKinds) {
        if (n_classes > 2 || criterion == Criterion::absolute_error) continue;  // no order of levels is the best there
        for (const bool missing : {false, true}) {
            const Problem problem =
                problem_of(criterion, n_classes, {.n_rows = 50, .missing = missing, .nominal = true}, 11);
            const Tree tree = problem.grow();
            check(std::ranges::any_of(tree.levels, [](std::int32_t set) { return set >= 0; }), "some split is nominal");
            check_best(problem, tree);
        }
    }
});

const Test several_classes("nominal splits of several classes, and of medians, keep every node true", [] {
    for (const Kind kind :
         {Kind{Criterion::gini, 3}, Kind{Criterion::entropy, 4}, Kind{Criterion::absolute_error, 0}}) {
        const Problem problem =
            problem_of(kind.criterion, kind.n_classes, {.missing = true, .nominal = true, .weighted = true}, 13);
        const Tree tree = problem.grow();
        check_nodes(problem, tree, rows_of_nodes(problem, tree));
    }
});

const Test limits("limits on depth, rows, weight and gain hold, and nothing else stops growth", [] {
    for (const auto& [criterion, n_classes] : kKinds) {
        Problem problem = problem_of(criterion, n_classes, {.missing = true, .weighted = true}, 17);
        const CriterionOptions plain = problem.options;
        problem.options.max_depth = 3;
        check_best(problem, problem.grow());
        problem.options = plain;
        problem.options.min_rows_leaf = 6;
        check_best(problem, problem.grow());
        problem.options = plain;
        problem.options.min_rows_split = 15;
        check_best(problem, problem.grow());
        problem.options = plain;
        problem.options.min_weight_leaf = 5.0;
        check_best(problem, problem.grow());
        problem.options = plain;
        problem.options.min_impurity_decrease = 0.02;
        check_best(problem, problem.grow());
    }
});

const Test best_first("with a limit on leaves, the node that gains most is split next", [] {
    for (const auto& [criterion, n_classes] : kKinds) {
        Problem problem = problem_of(criterion, n_classes, {.n_rows = 70, .missing = true}, 19);
        problem.options.max_leaves = 9;
        const Tree tree = problem.grow();
        const std::vector<Rows> rows = rows_of_nodes(problem, tree);
        check_nodes(problem, tree, rows);
        check_equal(tree.n_nodes(), std::size_t{17});
        for (NodeIndex waiting = 0; waiting < tree.n_nodes(); ++waiting) {
            if (must_be_leaf(problem, rows[waiting], 0)) continue;
            const double gain = best_gain(problem, rows[waiting]);
            if (!tree.is_leaf(waiting)) check_near(tree.gain[waiting], gain, 1e-9);
            // A node is split when its left child is made; while one waits, none that gains less is.
            const NodeIndex until = tree.is_leaf(waiting) ? std::numeric_limits<NodeIndex>::max() : tree.left[waiting];
            for (NodeIndex other = 0; other < tree.n_nodes(); ++other)
                if (!tree.is_leaf(other) && tree.left[other] > waiting && tree.left[other] < until)
                    check(tree.gain[other] >= gain - 1e-9, "no node that gains less is split before");
        }
    }
});

const Test random("random thresholds part every node that can be parted, and every node is true", [] {
    for (const auto& [criterion, n_classes] : kKinds)
        for (const bool is_nominal : {false, true}) {
            Problem problem = problem_of(criterion, n_classes,
                                         {.n_rows = 120, .missing = true, .nominal = is_nominal, .weighted = true}, 23);
            problem.options.random_splits = true;
            problem.options.seed = 5;
            const Tree tree = problem.grow();
            const std::vector<Rows> rows = rows_of_nodes(problem, tree);
            check_nodes(problem, tree, rows);
            for (NodeIndex node = 0; node < tree.n_nodes(); ++node) {
                check(!rows[node].empty(), "no side is empty");
                if (tree.is_leaf(node) && !must_be_leaf(problem, rows[node], 0) && criterion != Criterion::poisson)
                    check_equal(best_gain(problem, rows[node]), kNone);
            }
            problem.options.min_rows_leaf = 4;
            for (const Rows& own : rows_of_nodes(problem, problem.grow())) check(own.size() >= 4, "leaves keep rows");
        }
});

bool same(const Tree& one, const Tree& other) {
    return one.feature == other.feature && one.threshold == other.threshold && one.left == other.left &&
           one.missing_left == other.missing_left && one.level_bits == other.level_bits && one.value == other.value &&
           one.gain == other.gain;
}

const Test threads("neither threads nor the order of rows change a tree", [] {
    for (const auto& [criterion, n_classes] : kKinds)
        for (const bool is_random : {false, true}) {
            // More rows than one thread takes as a subtree, except for medians, whose search is slow.
            const std::size_t n = criterion == Criterion::absolute_error ? 600 : 50'000;
            Problem problem = problem_of(criterion, n_classes, {.n_rows = n, .missing = true, .nominal = true}, 29);
            problem.options.random_splits = is_random;
            problem.options.max_features = 2;
            problem.options.max_depth = 9;
            const Tree tree = problem.grow();
            problem.options.n_threads = 3;
            check(same(problem.grow(), tree), "three threads grow the same tree");
            for (auto& column : problem.table.values) std::ranges::reverse(column);
            std::ranges::reverse(problem.target);
            check(same(problem.grow(), tree), "rows in another order grow the same tree");
        }
});

double first_value(const Problem& problem, const Tree& tree, std::size_t row, double of_first_feature) {
    NodeIndex node = 0;
    while (!tree.is_leaf(node)) {
        const auto feature = static_cast<std::size_t>(tree.feature[node]);
        const double value = feature == 0 ? of_first_feature : problem.table.values[feature][row];
        node = tree.left[node] + (goes_left(tree, node, value) ? 0 : 1);
    }
    return tree.value[node * tree.n_outputs];
}

const Test monotone("a prediction never falls, or never rises, with a feature that is constrained", [] {
    for (const Kind kind : {Kind{Criterion::gini, 2}, Kind{Criterion::entropy, 2}, Kind{Criterion::squared_error, 0},
                            Kind{Criterion::poisson, 0}, Kind{Criterion::absolute_error, 0}})
        for (const std::int8_t sign : {std::int8_t{1}, std::int8_t{-1}}) {
            Problem problem = problem_of(kind.criterion, kind.n_classes, {.n_rows = 90, .missing = true}, 31);
            problem.options.monotone = {sign, 0, 0};
            const Tree tree = problem.grow();
            check(tree.n_nodes() > 1, "there are splits");
            for (std::size_t row = 0; row < problem.target.size(); ++row)
                for (double value = 0.0; value < 15.0; value += 1.0)
                    check(sign * (first_value(problem, tree, row, value + 1.0) -
                                  first_value(problem, tree, row, value)) >=
                              0.0,
                          "the first value follows the feature");
        }
});

const Test refusals("targets, weights and limits that make no sense are refused", [] {
    Problem problem = problem_of(Criterion::gini, 2, {}, 37);
    problem.target[3] = 2.0;
    check_throws<InvalidInput>([&] { problem.grow(); }, "which is not one of 2 classes");
    problem.target[3] = 0.0;
    problem.weight.assign(problem.target.size(), 0.0);
    check_throws<InvalidInput>([&] { problem.grow(); }, "at least one row with weight");
    problem.weight.assign(problem.target.size(), -1.0);
    check_throws<InvalidInput>([&] { problem.grow(); }, "negative");
    problem.weight.clear();
    problem.options.min_rows_leaf = 0;
    check_throws<InvalidInput>([&] { problem.grow(); }, "at least one row");
});

}  // namespace
}  // namespace coterie::tests
