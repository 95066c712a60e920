// Several workers, each with a slice of the rows, grow the trees of one worker that has all rows: bit for bit.
#include "workers.hpp"

#include <algorithm>
#include <cmath>

#include "boosting/problems.hpp"
#include "check.hpp"
#include "coterie/base/error.hpp"
#include "coterie/boosting/grow_joint.hpp"
#include "random_inputs.hpp"

namespace coterie::tests {
namespace {

constexpr std::size_t kTrees = 3;
constexpr double kQuantile = 0.3;

enum class Leaves : std::uint8_t { newton, quantile, weighted_quantile };

/// What a fit learns: the table, targets and weights, and which derivatives trees are grown by.
struct Task {
    Columns table;
    std::vector<float> y;
    std::vector<float> weight;  // empty: 1
    bool log_loss = false;
    std::vector<std::uint8_t> takes_part;  // empty: all rows
};

struct Fit {
    GrowOptions options;
    RowSampling sampling;
    Leaves leaves = Leaves::newton;
    bool joint = false;
    bool shared_splits = false;  // trees of two outputs on the splits of one
};

struct Result {
    std::vector<Tree> trees;
    std::vector<float> scores;  // of the rows of a worker
};

Columns slice_of(const Columns& table, std::size_t first, std::size_t n) {
    Columns own{.values = {}, .n_levels = table.n_levels};
    for (const auto& column : table.values) {
        const auto begin = column.begin() + static_cast<std::ptrdiff_t>(first);
        own.values.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(n));
    }
    return own;
}

template <class T>
std::vector<T> slice_of(const std::vector<T>& all, std::size_t first, std::size_t n) {
    if (all.empty()) return {};
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(first);
    return {begin, begin + static_cast<std::ptrdiff_t>(n)};
}

Task slice_of(const Task& task, std::size_t first, std::size_t n) {
    return {.table = slice_of(task.table, first, n),
            .y = slice_of(task.y, first, n),
            .weight = slice_of(task.weight, first, n),
            .log_loss = task.log_loss,
            .takes_part = slice_of(task.takes_part, first, n)};
}

/// A few trees, each on the derivatives of the scores so far. Bins are chosen by all workers together.
Result boosted(const Task& task, const Fit& fit, const Slice& slice, int n_threads) {
    const std::size_t n = task.y.size();
    const TableView view = task.table.view();
    auto mapper = std::make_shared<const BinMapper>(BinMapper::fit(view, {}, 63, 1, n_threads, {}, slice));
    const auto matrix = std::make_shared<const BinnedMatrix>(view, std::move(mapper), n_threads, StopRequest{}, slice);
    std::vector<RowIndex> rows;
    for (RowIndex row = 0; row < task.takes_part.size(); ++row)
        if (task.takes_part[row]) rows.push_back(row);
    const bool nobody = !task.takes_part.empty() && rows.empty();
    Result result;
    result.scores.assign(n, 0.0f);
    std::vector<float> gradient(n), other(n), hessian, residual(n);
    const auto weight = [&](std::size_t row) { return task.weight.empty() ? 1.0f : task.weight[row]; };
    const auto derive = [&] {
        hessian.clear();
        for (std::size_t row = 0; row < n; ++row) {
            residual[row] = task.y[row] - result.scores[row];
            const float p = 1.0f / (1.0f + std::exp(-result.scores[row]));
            gradient[row] = weight(row) * (task.log_loss ? p - (task.y[row] > 0.4f) : -residual[row]);
            other[row] = weight(row) * (task.y[row] > 0.2f ? -1.0f : 0.5f);
            if (task.log_loss)
                hessian.push_back(weight(row) * p * (1 - p));
            else if (!task.weight.empty())
                hessian.push_back(weight(row));
        }
    };
    if (fit.joint) {
        JointGrower grower(matrix, fit.options, {1.0, 2.0}, n_threads, slice);
        for (std::uint64_t tree = 0; tree < kTrees; ++tree) {
            derive();
            for (Tree& each :
                 grower.grow({.gradients = {gradient, other}, .hessian = hessian, .rows = rows, .nobody = nobody},
                             7 + tree, {}, fit.sampling))
                result.trees.push_back(std::move(each));
            grower.add_predictions(0, result.scores);
        }
        return result;
    }
    TreeGrower grower(matrix, fit.options, n_threads, slice);
    for (std::uint64_t tree = 0; tree < kTrees; ++tree) {
        derive();
        if (fit.shared_splits) {
            const Tree splits = grower.grow_splits(
                {.gradient = gradient, .hessian = hessian, .rows = rows, .nobody = nobody}, 7 + tree, {}, fit.sampling);
            const std::vector<float> flat(n, 1.0f);
            result.trees.push_back(grower.tree_for(splits, other, flat, &view));
            result.trees.push_back(grower.tree_for(splits, gradient, hessian.empty() ? flat : hessian, &view));
            grower.add_predictions(result.scores);
            continue;
        }
        Tree grown = grower.grow({.gradient = gradient, .hessian = hessian, .rows = rows, .nobody = nobody}, 7 + tree,
                                 {}, fit.sampling, &view);
        const std::span<const float> weights =
            fit.leaves == Leaves::weighted_quantile ? std::span<const float>(task.weight) : std::span<const float>();
        if (fit.leaves != Leaves::newton) grower.set_quantile_values(grown, residual, weights, kQuantile);
        grower.add_predictions(result.scores);
        result.trees.push_back(std::move(grown));
    }
    return result;
}

/// Slices of n rows for several workers: even, uneven, and with workers that have none.
std::vector<std::vector<std::size_t>> slicings(std::size_t n) {
    return {{n}, {n / 2, n - n / 2}, {7, 0, n - 7}, {0, n / 5, n - n / 5 - 1, 1}};
}

void check_same_fit(const Task& task, const Fit& fit) {
    const Result one = boosted(task, fit, {}, 1);
    std::size_t n_splits = 0;
    for (const Tree& tree : one.trees) n_splits += tree.n_nodes() / 2;
    check(n_splits >= kTrees, "there is something to be found");
    for (const std::vector<std::size_t>& n_rows : slicings(task.y.size())) {
        std::vector<Result> found(n_rows.size());
        run_workers(n_rows, [&](const Slice& slice, std::size_t worker) {
            const Task own = slice_of(task, slice.first_row, n_rows[worker]);
            found[worker] = boosted(own, fit, slice, static_cast<int>(1 + worker % 2));
        });
        std::vector<float> scores;
        for (const Result& each : found) {
            check_equal(each.trees.size(), one.trees.size());
            for (std::size_t tree = 0; tree < one.trees.size(); ++tree)
                check(same(each.trees[tree], one.trees[tree]),
                      std::to_string(n_rows.size()) + " workers grow the tree of one, number " + std::to_string(tree));
            scores.insert(scores.end(), each.scores.begin(), each.scores.end());
        }
        check_same_bits(scores, one.scores);
    }
}

/// Numbers, zeros in many rows, categories few and many, flags that share a bundle, and values missing in some slices.
Task task_of(std::size_t n, bool log_loss, bool weighted) {
    Task task{.table = random_columns(11, n, 8), .log_loss = log_loss};
    task.table.n_levels.push_back(200);
    task.table.values.emplace_back(n);
    for (std::size_t row = 0; row < n; ++row)
        task.table.values.back()[row] = static_cast<double>(random_below(3, Purpose::bootstrap, row, 200));
    for (std::uint64_t flag = 0; flag < 3; ++flag) {
        task.table.n_levels.push_back(0);
        auto& column = task.table.values.emplace_back(n);
        for (std::size_t row = 0; row < n; ++row)
            column[row] = static_cast<double>(random_below(4 + flag, Purpose::bootstrap, row, 2));
        if (flag == 1) column[3] = kMissing;  // one worker alone has it
    }
    for (std::size_t row = 0; row < n; ++row) {
        const double first = task.table.values[0][row], level = task.table.values[3][row];
        const double many = task.table.values[8][row];
        const double y = (std::isnan(first) ? 0.7 : std::sin(6 * first)) + (std::fmod(level, 3) == 1 ? 0.5 : 0.0) +
                         (std::fmod(many, 7) < 3 ? 0.3 : 0.0) + 0.3 * random_unit(9, Purpose::bootstrap, row);
        task.y.push_back(static_cast<float>(y));
        if (weighted) task.weight.push_back(static_cast<float>(0.1 + random_unit(8, Purpose::bootstrap, row)));
    }
    return task;
}

constexpr RowSampling kSamplings[] = {{.method = SamplingMethod::none, .share = 1.0},
                                      {.method = SamplingMethod::uniform, .share = 0.4},
                                      {.method = SamplingMethod::minimal_variance, .share = 0.4},
                                      {.method = SamplingMethod::bayesian, .share = 1.0}};
constexpr std::size_t kRows = 3'000;

GrowOptions options_for(Growth growth) {
    return {.growth = growth,
            .max_leaf_nodes = growth == Growth::oblivious ? 0u : 24u,
            .max_depth = growth == Growth::oblivious ? 4u : 0u,
            .min_samples_leaf = 9,
            .l2 = 0.5,
            .learning_rate = 0.5};
}

const Test policies("every policy of growth, loss and method of sampling", [] {
    for (const bool log_loss : {false, true})
        for (const bool weighted : {false, true}) {
            const Task task = task_of(kRows, log_loss, weighted);
            for (const RowSampling& sampling : kSamplings) {
                for (const Growth growth : {Growth::leaf, Growth::level, Growth::oblivious})
                    check_same_fit(task, {.options = options_for(growth), .sampling = sampling});
                check_same_fit(task, {.options = options_for(Growth::leaf), .sampling = sampling, .joint = true});
            }
        }
});

const Test many_rows("tables too large for cells that count rows", [] {
    const Task flat = task_of(70'000, false, false);
    Task light = task_of(70'000, true, true);
    for (std::size_t row = 0; row < light.weight.size(); ++row)
        if (row % 3 == 0) light.weight[row] *= 1e-6f;  // so rows have to be counted
    for (const Growth growth : {Growth::leaf, Growth::oblivious}) {
        GrowOptions options = options_for(growth);
        options.min_samples_leaf = 300;
        check_same_fit(flat, {.options = options, .sampling = kSamplings[0]});
        check_same_fit(light, {.options = options, .sampling = kSamplings[0]});
    }
    GrowOptions options = options_for(Growth::leaf);
    options.min_samples_leaf = 300;
    check_same_fit(light, {.options = options, .sampling = kSamplings[2]});
    check_same_fit(light, {.options = options, .sampling = kSamplings[0], .joint = true});
});

const Test quantiles("leaves whose values are quantiles, with and without weights", [] {
    const Task task = task_of(kRows, false, true);
    for (const Leaves leaves : {Leaves::quantile, Leaves::weighted_quantile})
        for (const Growth growth : {Growth::leaf, Growth::oblivious})
            for (const RowSampling& sampling : kSamplings)
                check_same_fit(task, {.options = options_for(growth), .sampling = sampling, .leaves = leaves});
});

const Test lines("linear leaves", [] {
    for (const bool log_loss : {false, true}) {
        const Task task = task_of(kRows, log_loss, log_loss);
        for (const RowSampling& sampling : kSamplings) {
            GrowOptions options = options_for(Growth::leaf);
            options.max_leaf_nodes = 6;
            options.linear_leaves = true;
            check_same_fit(task, {.options = options, .sampling = sampling});
        }
    }
});

const Test shared_splits("splits that serve several outputs, with constants and with lines", [] {
    Task task = task_of(kRows, true, true);
    for (const bool some : {false, true}) {
        if (some)
            for (std::size_t row = 0; row < kRows; ++row) task.takes_part.push_back(row % 5 != 0 || row < kRows / 3);
        for (const RowSampling& sampling : kSamplings)
            for (const Growth growth : {Growth::leaf, Growth::oblivious}) {
                GrowOptions options = options_for(growth);
                options.free_step = 0.1;
                check_same_fit(task, {.options = options, .sampling = sampling, .shared_splits = true});
                options.linear_leaves = true;
                check_same_fit(task, {.options = options, .sampling = sampling, .shared_splits = true});
            }
    }
});

const Test constraints("monotone features and sets of features that may interact", [] {
    const Task task = task_of(kRows, true, false);
    for (const Growth growth : {Growth::leaf, Growth::oblivious}) {
        GrowOptions options = options_for(growth);
        options.monotone = {1, -1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0};
        check_same_fit(task, {.options = options});
        options.monotone.clear();
        options.interaction_sets = {{0, 1, 3, 8}, {2, 4, 5, 6, 7, 8, 9, 10, 11}};
        check_same_fit(task, {.options = options});
    }
});

const Test more_options("draws of features, noise, smoothing, a penalty for leaves and limits of steps", [] {
    const Task task = task_of(kRows, true, true);
    for (const Growth growth : {Growth::leaf, Growth::level, Growth::oblivious}) {
        GrowOptions options = options_for(growth);
        options.max_features = 0.6;
        options.max_features_per_tree = 0.8;
        options.split_noise = 1.5;
        options.path_smoothing = 20;
        options.leaf_penalty = 0.8;
        options.max_step = 0.7;
        options.l1 = 0.2;
        for (const RowSampling& sampling : kSamplings) check_same_fit(task, {.options = options, .sampling = sampling});
    }
});

const Test little_memory("histograms that are dropped and built again", [] {
    const Task task = task_of(kRows, true, true);
    for (const Growth growth : {Growth::leaf, Growth::level, Growth::oblivious}) {
        GrowOptions options = options_for(growth);
        options.histogram_bytes = 1;  // as few as there can be
        check_same_fit(task, {.options = options});
        if (growth != Growth::oblivious) check_same_fit(task, {.options = options, .joint = true});
    }
});

const Test some_rows("rows that take no part", [] {
    Task task = task_of(kRows, true, false);
    for (std::size_t row = 0; row < kRows; ++row)
        task.takes_part.push_back(row < 20 || row % 5 != 0 || row + 9 > kRows);
    for (const RowSampling& sampling : kSamplings) {
        check_same_fit(task, {.options = options_for(Growth::leaf), .sampling = sampling});
        check_same_fit(task, {.options = options_for(Growth::level), .sampling = sampling, .joint = true});
    }
});

const Test last_rows_only("workers none of whose rows takes part", [] {
    Task task = task_of(kRows, true, true);
    for (std::size_t row = 0; row < kRows; ++row) task.takes_part.push_back(row > kRows / 2 + 100);
    GrowOptions lines = options_for(Growth::leaf);
    lines.linear_leaves = true;
    for (const RowSampling& sampling : kSamplings) {
        check_same_fit(task, {.options = options_for(Growth::leaf), .sampling = sampling});
        check_same_fit(task, {.options = options_for(Growth::leaf), .sampling = sampling, .joint = true});
        check_same_fit(task, {.options = lines, .sampling = sampling});
    }
    check_same_fit(task, {.options = options_for(Growth::leaf), .leaves = Leaves::weighted_quantile});
});

const Test tiny_share("a share that draws no row of any worker draws one of all", [] {
    const Task task = task_of(kRows, true, false);
    const Fit fit{.options = options_for(Growth::leaf),
                  .sampling = {.method = SamplingMethod::uniform, .share = 1e-12}};
    const Result one = boosted(task, fit, {}, 1);
    const std::size_t n_rows[] = {kRows / 3, kRows - kRows / 3};
    run_workers(n_rows, [&](const Slice& slice, std::size_t worker) {
        const Result found = boosted(slice_of(task, slice.first_row, n_rows[worker]), fit, slice, 1);
        for (std::size_t tree = 0; tree < kTrees; ++tree) check(same(found.trees[tree], one.trees[tree]), "the same");
    });
});

const Test together("what one worker may not have, all refuse", [] {
    const Task task = task_of(100, false, false);
    const std::size_t n_rows[] = {60, 40};
    std::size_t n_refused = 0;
    std::mutex lock;
    run_workers(n_rows, [&](const Slice& slice, std::size_t worker) {
        Task own = slice_of(task, slice.first_row, n_rows[worker]);
        if (worker == 1) own.y[5] = std::numeric_limits<float>::quiet_NaN();
        check_throws<InvalidInput>([&] { boosted(own, {}, slice, 1); }, "must be finite");
        const std::scoped_lock guard(lock);
        ++n_refused;
    });
    check_equal(n_refused, std::size_t{2});
});

}  // namespace
}  // namespace coterie::tests
