// benchmarks/speed/kernels.cpp: each kernel on one thread, in cycles per unit, beside its target.
//
//   make bench                 builds and runs this
//   bench_kernels 1000000 28   rows and features; "small" for the small table alone
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <random>

#include "coterie/binning/bin_edges.hpp"
#include "coterie/boosting/grow_tree.hpp"
#include "coterie/boosting/rounded_pairs.hpp"
#include "coterie/boosting/stump_rounds.hpp"
#include "coterie/loss/derivatives.hpp"
#include "stopwatch.hpp"

namespace {

using namespace coterie;
using namespace coterie::bench;

struct Data {
    std::size_t n_rows;
    std::size_t n_features;
    std::vector<float> values;  // row-major
    std::vector<float> y;
    TableView table;
};

// Normal columns, half of them coarse, and a target with interactions: what real nodes look like.
Data make_data(std::size_t n_rows, std::size_t n_features) {
    Data data{n_rows, n_features, std::vector<float>(n_rows * n_features), std::vector<float>(n_rows), {}};
    std::mt19937_64 generator(0);
    std::normal_distribution<float> normal;
    for (std::size_t row = 0; row < n_rows; ++row) {
        float* x = &data.values[row * n_features];
        for (std::size_t j = 0; j < n_features; ++j) {
            x[j] = normal(generator);
            if (2 * j >= n_features) x[j] = std::round(x[j] * 8) / 8;
        }
        const float signal = std::sin(2 * x[0]) + x[1] * x[2] + std::fabs(x[3] - x[n_features - 1]) - 1 +
                             (x[n_features / 2] > 0.3f && x[4] > 0 ? 1.0f : 0.0f);
        data.y[row] = signal + normal(generator) > 0 ? 1.0f : 0.0f;
    }
    data.table.n_rows = n_rows;
    data.table.n_levels.assign(n_features, 0);
    for (std::size_t j = 0; j < n_features; ++j)
        data.table.columns.push_back({.data = reinterpret_cast<const std::byte*>(data.values.data() + j),
                                      .stride = static_cast<std::ptrdiff_t>(n_features * sizeof(float)),
                                      .type = ValueType::float32});
    return data;
}

void bench_partition(const BinnedMatrix& matrix, const Buffer<Pair>& pairs) {
    const std::size_t n = matrix.n_rows();
    RowPartition partition(matrix, 1);
    Marks marks;
    const BinRule rule{.last = 128, .shift = 1, .table = nullptr};
    const RowRange root = partition.start(pairs, {});
    report("partition, root", best_seconds(5, [&] { partition.split(root, 0, rule, marks, 1); }),
           static_cast<double>(n), "row", 2.7);
    const auto children = partition.split(root, 0, rule, marks, 1);
    const double seconds = best_seconds(5, [&] { partition.split(children[0], 1, rule, marks, 1); });
    report("partition, node", seconds, static_cast<double>(children[0].n), "row", 2.7);
}

void bench_histogram(const BinnedMatrix& matrix, const Buffer<Pair>& pairs) {
    const HistogramLayout layout(matrix);
    HistogramBuilder builder(matrix, layout, 1);
    Buffer<Cell> cells(layout.n_cells() + 8);
    RowPartition partition(matrix, 1);
    Marks marks;
    const RowRange root = partition.start(pairs, {});
    const auto features = static_cast<double>(matrix.n_features());
    report("histogram, root", best_seconds(5, [&] { builder.build(partition.rows(root, false), cells.data()); }),
           static_cast<double>(root.n) * features, "update", 1.3);
    RowRange node = root;
    const BinRule rule{.last = 128, .shift = 1, .table = nullptr};
    for (FeatureIndex depth = 0; depth < 4; ++depth) {
        node = partition.split(node, depth, rule, marks, 1)[0];
        const double seconds = best_seconds(5, [&] { builder.build(partition.rows(node, false), cells.data()); });
        char name[64];
        std::snprintf(name, sizeof(name), "histogram, node of 1/%d of the rows", 2 << depth);
        report(name, seconds, static_cast<double>(node.n) * features, "update", 2.0);
    }
    builder.build(partition.rows(root, false), cells.data());
    Cell total = 0;
    for (int bin = 0; bin < matrix.feature(0).n_bins; ++bin)
        total += cells[layout.bundle_offset(layout.bundle_of(0)) + static_cast<std::size_t>(bin)];
    double bins = 0;
    for (FeatureIndex f = 0; f < matrix.n_features(); ++f) bins += matrix.feature(f).n_bins;
    volatile float sink = 0;
    report("scan",
           best_seconds(200,
                        [&] {
                            for (FeatureIndex f = 0; f < matrix.n_features(); ++f)
                                sink = kernels()
                                           .split
                                           .scan(cells.data() + layout.bundle_offset(layout.bundle_of(f)),
                                                 matrix.feature(f).n_bins,
                                                 {.total = total,
                                                  .l2 = 0,
                                                  .min_hessian = 1,
                                                  .counted = false,
                                                  .min_rows = 0,
                                                  .beat = -1})
                                           .gain;
                        }),
           bins, "bin", 3.0);
    std::vector<float> sums(kMaxBins + 8);
    report("gains added",
           best_seconds(
               200,
               [&] {
                   for (FeatureIndex f = 0; f < matrix.n_features(); ++f)
                       kernels().split.add_gains(
                           cells.data() + layout.bundle_offset(layout.bundle_of(f)), matrix.feature(f).n_bins,
                           {.total = total, .l2 = 0, .min_hessian = 1, .counted = false, .min_rows = 0, .beat = -1},
                           0.0f, false, sums.data());
               }),
           bins, "bin", 3.0);
    Buffer<Cell> other(cells);
    report("subtract",
           best_seconds(200, [&] { kernels().split.subtract(cells.data(), other.data(), layout.n_cells()); }),
           static_cast<double>(layout.n_cells()), "cell", 1.1);
}

// Nine values in ten are zero in every column: equal bins of all bundles must not meet in one set of the cache.
void bench_zero_inflated(Data data) {
    std::mt19937_64 generator(1);
    for (float& value : data.values)
        if (generator() % 10 != 0) value = 0;
    const auto mapper = std::make_shared<BinMapper>(BinMapper::fit(data.table, {}, 255, 0, 1));
    const BinnedMatrix matrix(data.table, mapper, 1);
    const HistogramLayout layout(matrix);
    HistogramBuilder builder(matrix, layout, 1);
    Buffer<Cell> cells(layout.n_cells() + 8);
    const Buffer<Pair> pairs(data.n_rows, make_gradient_pair(-3, 7));
    RowPartition partition(matrix, 1);
    const RowRange root = partition.start(pairs, {});
    report("histogram, root, nine in ten are zero",
           best_seconds(5, [&] { builder.build(partition.rows(root, false), cells.data()); }),
           static_cast<double>(data.n_rows * data.n_features), "update", 1.3);
}

struct Phases {
    double loss = 0;
    double grow = 0;
    double add = 0;
};

void bench_boosting(const Data& data, const std::shared_ptr<const BinnedMatrix>& matrix, int n_trees, int n_threads) {
    GrowOptions options;
    options.learning_rate = 0.1;
    TreeGrower grower(matrix, options, n_threads);
    Buffer<float> score(data.n_rows, 0.0f);
    Buffer<float> gradient(data.n_rows);
    Buffer<float> hessian(data.n_rows);
    Phases phases;
    const auto timed = [](double& phase, auto&& work) {
        const double begin = cpu_seconds();
        work();
        phase += cpu_seconds() - begin;
    };
    for (int tree = 0; tree < n_trees; ++tree) {
        timed(phases.loss, [&] {
            log_loss_derivatives({.score = score, .y = data.y, .weight = {}, .n_threads = n_threads}, gradient,
                                 hessian);
        });
        timed(phases.grow, [&] {
            grower.grow({.gradient = gradient, .hessian = hessian, .rows = {}}, static_cast<std::uint64_t>(tree));
        });
        timed(phases.add, [&] { grower.add_predictions(score); });
    }
    const double ms = 1e3 / n_trees;
    const double whole = (phases.loss + phases.grow + phases.add) * ms;
    std::printf(
        "boosting tree of 31 leaves: %.1f ms (loss %.1f, growth %.1f, scores %.1f); target 60 ms for 1M x 28: %s\n",
        whole, phases.loss * ms, phases.grow * ms, phases.add * ms, whole <= 60 ? "ok" : "above");
}

// Rounds of AdaBoost: the histogram of all rows, and a round, which touches those that were wrong.
void bench_stumps(const Data& data, const std::shared_ptr<const BinnedMatrix>& matrix) {
    const std::vector<std::int32_t> classes(data.y.begin(), data.y.end());
    const std::vector<double> ones(data.n_rows, 1.0);
    StumpRounds rounds(matrix, classes, 2, {}, StumpScore::error, 1);
    report("stump of given weights", best_seconds(5, [&] { rounds.find_for(ones); }),
           static_cast<double>(data.n_rows * data.n_features), "update", 2.5);
    const double begin = cpu_seconds();
    constexpr int kRounds = 50;
    for (int round = 0; round < kRounds; ++round) {
        const Stump stump = rounds.find();
        const std::vector<double> sums = rounds.sums(stump);
        const std::size_t left = sums[1] > sums[0], right = sums[3] > sums[2];
        const double wrong = sums[1 - left] + sums[3 - right], correct = sums[left] + sums[2 + right];
        double factors[4] = {correct / wrong, correct / wrong, correct / wrong, correct / wrong};
        factors[left] = factors[2 + right] = 1;
        const double vote = 0.5 * std::log(correct / wrong);
        const double votes[2] = {left == 1 ? vote : -vote, right == 1 ? vote : -vote};
        rounds.count(stump, {.factors = factors, .votes = votes});
    }
    report("round of AdaBoost", (cpu_seconds() - begin) / kRounds, static_cast<double>(data.n_rows * data.n_features),
           "value", 2.5);
}

void bench_small() {
    const Data data = make_data(1000, 20);
    const auto mapper = std::make_shared<BinMapper>(BinMapper::fit(data.table, {}, 125, 0, 1));
    const std::shared_ptr<const BinnedMatrix> matrix = std::make_shared<BinnedMatrix>(data.table, mapper, 1);
    GrowOptions options;
    options.learning_rate = 0.1;
    const double seconds = best_seconds(30, [&] {
        TreeGrower grower(matrix, options, 1);
        Buffer<float> score(data.n_rows, 0.0f);
        Buffer<float> gradient(data.n_rows);
        Buffer<float> hessian(data.n_rows);
        for (std::uint64_t tree = 0; tree < 100; ++tree) {
            log_loss_derivatives({.score = score, .y = data.y, .weight = {}, .n_threads = 1}, gradient, hessian);
            grower.grow({.gradient = gradient, .hessian = hessian, .rows = {}}, tree);
            grower.add_predictions(score);
        }
    });
    std::printf("100 trees on 1,000 x 20: %.1f ms; target 25 ms: %s\n", seconds * 1e3,
                seconds <= 0.025 ? "ok" : "above");
}

}  // namespace

int main(int argc, char** argv) {
    if (argc > 1 && std::strcmp(argv[1], "small") == 0) {
        bench_small();
        return 0;
    }
    const std::size_t n_rows = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1'000'000;
    const std::size_t n_features = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 28;
    const int n_trees = argc > 3 ? std::atoi(argv[3]) : 10;
    const auto n = static_cast<double>(n_rows);
    const auto values = n * static_cast<double>(n_features);
    std::printf("%zu rows, %zu features, %s kernels, %.2f GHz\n", n_rows, n_features, kernels().name, clock_ghz());
    const Data data = make_data(n_rows, n_features);

    std::shared_ptr<const BinMapper> mapper;
    const double cuts =
        best_seconds(3, [&] { mapper = std::make_shared<BinMapper>(BinMapper::fit(data.table, {}, 255, 0, 1)); });
    const double sampled =
        static_cast<double>(sample_rows({.n_rows = n_rows, .first_row = 0, .n_total = n_rows}, {}, 0).size()) *
        static_cast<double>(n_features);
    report("choose cuts, per sampled value", cuts, sampled, "value", 60);
    std::shared_ptr<const BinnedMatrix> matrix;
    report("map values to bins, both layouts",
           best_seconds(3, [&] { matrix = std::make_shared<BinnedMatrix>(data.table, mapper, 1); }), values, "value",
           10);

    Buffer<float> score(n_rows, 0.1f);
    Buffer<float> gradient(n_rows);
    Buffer<float> hessian(n_rows);
    report("log loss derivatives",
           best_seconds(5,
                        [&] {
                            log_loss_derivatives({.score = score, .y = data.y, .weight = {}, .n_threads = 1}, gradient,
                                                 hessian);
                        }),
           n, "row", 3.5);
    Buffer<Pair> pairs;
    const std::span<const float> gradients[] = {gradient};
    const auto round = [&] {
        const DerivativeSizes sizes = sizes_of(see_sizes(gradients, hessian, 1), {});
        round_pairs({.gradients = gradients, .hessian = hessian, .rows = {}}, sizes, 1, {}, 1, {&pairs, 1});
    };
    report("round to pairs", best_seconds(5, round), n, "row", 3.5);
    bench_partition(*matrix, pairs);
    bench_histogram(*matrix, pairs);
    bench_zero_inflated(data);
    bench_boosting(data, matrix, n_trees, 1);
    bench_stumps(data, matrix);
    bench_small();
    return 0;
}
