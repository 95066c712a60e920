#include "coterie/predict/walk.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "coterie/base/buffer.hpp"
#include "coterie/base/error.hpp"
#include "coterie/base/parallel.hpp"

namespace coterie {
namespace {

constexpr std::size_t kBlockRows = 256;
constexpr std::size_t kLanes = 8;
constexpr std::size_t kRowFeaturesPerThread = 50'000;

// One node, packed so that a step reads one line. A leaf points to itself, so lanes may keep stepping.
struct Step {
    double threshold;
    std::uint32_t feature;
    std::uint32_t left;
    std::int32_t levels;
    std::uint8_t missing_left;
    std::uint8_t is_leaf;
};

struct CompiledTree {
    const Tree* tree;
    std::vector<Step> steps;
    std::uint32_t depth = 0;
    bool nominal = false;
};

CompiledTree compile(const Tree& tree) {
    CompiledTree compiled{.tree = &tree, .steps = std::vector<Step>(tree.n_nodes()), .depth = 0, .nominal = false};
    const std::vector<std::uint32_t> depth = depths(tree);
    for (NodeIndex node = 0; node < tree.n_nodes(); ++node) {
        compiled.depth = std::max(compiled.depth, depth[node]);
        const bool leaf = tree.is_leaf(node);
        compiled.nominal |= !leaf && tree.levels[node] >= 0;
        compiled.steps[node] = {.threshold = leaf ? INFINITY : tree.threshold[node],
                                .feature = leaf ? 0 : static_cast<std::uint32_t>(tree.feature[node]),
                                .left = leaf ? node : tree.left[node],
                                .levels = leaf ? -1 : tree.levels[node],
                                .missing_left = leaf ? std::uint8_t{1} : tree.missing_left[node],
                                .is_leaf = leaf};
    }
    return compiled;
}

bool goes_left(const Tree& tree, const Step& step, double value) {
    if (step.levels < 0) return std::isnan(value) ? step.missing_left != 0 : value <= step.threshold;
    // A code that is no level counts as missing.
    if (!(value >= 0 && value < kMaxBins - 1)) return step.missing_left;
    return tree.level_goes_left(step.levels, static_cast<std::uint32_t>(value));
}

std::uint32_t walk(const CompiledTree& compiled, const double* row) {
    std::uint32_t node = 0;
    while (!compiled.steps[node].is_leaf) {
        const Step& step = compiled.steps[node];
        node = step.left + !goes_left(*compiled.tree, step, row[step.feature]);
    }
    return node;
}

// Numeric splits only: no branch depends on the data, so eight rows overlap.
void walk_lanes(const CompiledTree& compiled, const double* rows, std::size_t width,
                std::array<std::uint32_t, kLanes>& nodes) {
    nodes.fill(0);
    const Step* steps = compiled.steps.data();
    for (std::uint32_t level = 0; level < compiled.depth; ++level) {
        for (std::size_t lane = 0; lane < kLanes; ++lane) {
            const Step& step = steps[nodes[lane]];
            const double value = rows[lane * width + step.feature];
            const bool left = (value <= step.threshold) | ((value != value) & (step.missing_left != 0));
            nodes[lane] = step.left + !left;
        }
    }
}

// Calls reach(tree index, row in block, leaf) for every row of the block and every tree, trees in order.
template <class Reach>
void walk_block(const std::vector<CompiledTree>& trees, const double* rows, std::size_t n_rows, std::size_t width,
                Reach reach) {
    std::array<std::uint32_t, kLanes> nodes;
    for (std::size_t t = 0; t < trees.size(); ++t) {
        std::size_t row = 0;
        if (!trees[t].nominal && trees[t].depth <= 64)
            for (; row + kLanes <= n_rows; row += kLanes) {
                walk_lanes(trees[t], rows + row * width, width, nodes);
                for (std::size_t lane = 0; lane < kLanes; ++lane) reach(t, row + lane, nodes[lane]);
            }
        for (; row < n_rows; ++row) reach(t, row, walk(trees[t], rows + row * width));
    }
}

template <class OnBlock>
void for_each_block(const Forest& forest, const TableView& table, int n_threads, StopRequest stop, OnBlock on_block) {
    require(table.columns.size() == forest.n_features, "The forest was grown on " + std::to_string(forest.n_features) +
                                                           " features; the table has " +
                                                           std::to_string(table.columns.size()) + ".");
    const std::size_t width = table.columns.size();
    const bool small = table.n_rows * (width + forest.trees.size()) < kRowFeaturesPerThread;
    std::vector<CompiledTree> trees;
    trees.reserve(forest.trees.size());
    for (const auto& tree : forest.trees) trees.push_back(compile(*tree));
    // A stripe of blocks at a time, so that Ctrl-C is answered on the calling thread.
    constexpr std::size_t kStripe = 64 * kBlockRows;
    for (std::size_t stripe = 0; stripe < table.n_rows; stripe += kStripe) {
        stop.check();
        const std::size_t stripe_rows = std::min(kStripe, table.n_rows - stripe);
        parallel_ranges(stripe_rows, kBlockRows, small ? 1 : n_threads, [&](std::size_t begin, std::size_t end) {
            thread_local Buffer<double> rows;
            const std::size_t n = end - begin;
            rows.resize(n * width);
            for (std::size_t feature = 0; feature < width; ++feature)
                table.columns[feature].read(stripe + begin, n, rows.data() + feature, width);
            on_block(trees, rows.data(), stripe + begin, n, width);
        });
    }
}

// The same for forests in which some trees have linear leaves.
void add_linear_scores(const Forest& forest, const TableView& table, std::span<double> scores, int n_threads,
                       StopRequest stop) {
    const std::size_t n_outputs = forest.n_outputs;
    for_each_block(forest, table, n_threads, stop,
                   [&](const std::vector<CompiledTree>& trees, const double* rows, std::size_t first, std::size_t n,
                       std::size_t width) {
                       walk_block(trees, rows, n, width, [&](std::size_t t, std::size_t row, std::uint32_t leaf) {
                           const Tree& tree = *trees[t].tree;
                           double* out = scores.data() + (first + row) * n_outputs + forest.first_output[t];
                           if (!tree.linear.empty()) {
                               const double* values = rows + row * width;
                               *out += linear_answer(tree, leaf, [&](FeatureIndex feature) { return values[feature]; });
                               return;
                           }
                           const auto answer = tree.answer(leaf);
                           for (std::size_t k = 0; k < answer.size(); ++k) out[k] += answer[k];
                       });
                   });
}

}  // namespace

void add_scores(const Forest& forest, const TableView& table, std::span<double> scores, int n_threads,
                StopRequest stop) {
    const std::size_t n_outputs = forest.n_outputs;
    require(scores.size() == table.n_rows * n_outputs, "The array of scores does not fit the table.");
    if (std::ranges::any_of(forest.trees, [](const auto& tree) { return !tree->linear.empty(); }))
        return add_linear_scores(forest, table, scores, n_threads, stop);
    for_each_block(forest, table, n_threads, stop,
                   [&](const std::vector<CompiledTree>& trees, const double* rows, std::size_t first, std::size_t n,
                       std::size_t width) {
                       walk_block(trees, rows, n, width, [&](std::size_t t, std::size_t row, std::uint32_t leaf) {
                           const auto answer = trees[t].tree->answer(leaf);
                           double* out = scores.data() + (first + row) * n_outputs + forest.first_output[t];
                           for (std::size_t k = 0; k < answer.size(); ++k) out[k] += answer[k];
                       });
                   });
}

void find_leaves(const Forest& forest, const TableView& table, std::span<std::uint32_t> leaves, int n_threads,
                 StopRequest stop) {
    const std::size_t n_trees = forest.trees.size();
    require(leaves.size() == table.n_rows * n_trees, "The array of leaves does not fit the table.");
    for_each_block(forest, table, n_threads, stop,
                   [&](const std::vector<CompiledTree>& trees, const double* rows, std::size_t first, std::size_t n,
                       std::size_t width) {
                       walk_block(trees, rows, n, width, [&](std::size_t t, std::size_t row, std::uint32_t leaf) {
                           leaves[(first + row) * n_trees + t] = leaf;
                       });
                   });
}

}  // namespace coterie
