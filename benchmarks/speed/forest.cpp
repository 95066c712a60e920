// benchmarks/speed/forest.cpp: milliseconds of one thread for a tree of a forest, with and without its rows out of bag.
//
// usage: bench_forest [trees]
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "coterie/base/random.hpp"
#include "coterie/forest/grow_forest.hpp"
#include "stopwatch.hpp"

namespace coterie::bench {
namespace {

double normal(std::uint64_t seed, std::uint64_t position) {
    const auto share = [&](std::uint64_t side) {
        return (static_cast<double>(mix(seed ^ mix(2 * position + side)) >> 11) + 0.5) * 0x1.0p-53;
    };
    return std::sqrt(-2.0 * std::log(share(0))) * std::cos(2.0 * M_PI * share(1));
}

/// A table of normal values, every other column rounded to eighths if it has classes; targets that depend on a few.
struct Task {
    std::size_t n_rows;
    std::size_t n_features;
    bool classes;
    std::vector<float> values;  // by row
    std::vector<double> target;

    Task(std::size_t rows, std::size_t features, bool has_classes)
        : n_rows(rows), n_features(features), classes(has_classes), values(rows * features), target(rows) {
        for (std::size_t row = 0; row < rows; ++row) {
            float* const own = values.data() + row * features;
            for (std::size_t k = 0; k < features; ++k) {
                const double value = normal(7, row * features + k);
                own[k] = static_cast<float>(classes && k % 2 == 1 ? std::round(8.0 * value) / 8.0 : value);
            }
            double score = 0.5 * normal(8, row);
            for (std::size_t k = 0; k + 3 < features; k += 4)
                score += 0.4 * (std::sin(2.0 * own[k]) + (own[k + 1] > 0.3f) * (own[k + 2] < 0.5f) -
                                std::abs(own[k + 2] - own[k + 3]));
            target[row] = classes ? score > -1.0 : score;
        }
    }

    TableView table() const {
        TableView view{.columns = {}, .n_rows = n_rows, .n_levels = std::vector<std::int32_t>(n_features, 0)};
        for (std::size_t k = 0; k < n_features; ++k)
            view.columns.push_back({.data = reinterpret_cast<const std::byte*>(values.data() + k),
                                    .stride = static_cast<std::ptrdiff_t>(n_features * sizeof(float)),
                                    .type = ValueType::float32});
        return view;
    }
};

struct Forest {
    const char* name;
    const Task& task;
    bool random;
    std::size_t max_features;
};

void measure(const Forest& forest, std::size_t n_trees) {
    const std::int32_t two = 2;
    const TargetView targets{.value = forest.task.target,
                             .n_classes = forest.task.classes ? std::span(&two, 1) : std::span<const std::int32_t>()};
    ForestOptions options;
    options.tree.tree.criterion = forest.task.classes ? Criterion::gini : Criterion::squared_error;
    options.tree.tree.random_splits = forest.random;
    options.tree.tree.max_features = forest.max_features;
    options.bag = forest.random ? BagKind::all : BagKind::bootstrap;
    const double begin = cpu_seconds();
    ForestTraining with(forest.task.table(), targets, options);
    const double prepared = cpu_seconds() - begin;
    options.out_of_bag = false;
    ForestTraining without(forest.task.table(), targets, options);
    double least_with = 1e30;
    double least_without = 1e30;
    for (std::size_t tree = 0; tree < n_trees; ++tree) {
        least_with = std::min(least_with, best_seconds(1, [&] { with.grow(1); }));
        least_without = std::min(least_without, best_seconds(1, [&] { without.grow(1); }));
    }
    std::printf("%-34s prepared in %6.0f ms; a tree %6.1f ms, without rows out of bag %6.1f ms\n", forest.name,
                1e3 * prepared, 1e3 * least_with, 1e3 * least_without);
}

}  // namespace
}  // namespace coterie::bench

int main(int argc, char** argv) {
    using namespace coterie::bench;
    const std::size_t n_trees = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 12;
    const Task classes(200'000, 28, true);
    const Task numbers(200'000, 50, false);
    measure({"random forest, 200,000 x 28, classes", classes, false, 5}, n_trees);
    measure({"extra trees, 200,000 x 28, classes", classes, true, 5}, n_trees);
    measure({"random forest, 200,000 x 50, numbers", numbers, false, 16}, n_trees);
}
