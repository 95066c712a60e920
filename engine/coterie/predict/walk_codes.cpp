#include "coterie/predict/walk_codes.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "coterie/base/error.hpp"
#include "coterie/base/parallel.hpp"

namespace coterie {
namespace {

constexpr std::size_t kBlock = 256;
constexpr std::size_t kStripe = 64 * kBlock;  // rows between two questions whether to stop
constexpr std::size_t kLanes = 8;

void code_levels(const double* values, std::size_t n, std::int32_t n_levels, std::uint16_t* out, std::size_t stride) {
    for (std::size_t i = 0; i < n; ++i)
        out[i * stride] = values[i] >= 0 && values[i] < n_levels ? static_cast<std::uint16_t>(values[i] + 1) : 0;
}

// Branch-free binary search; NaN is missing.
void code_values(const double* values, std::size_t n, const std::vector<double>& thresholds, std::uint16_t* out,
                 std::size_t stride) {
    for (std::size_t i = 0; i < n; ++i) {
        const double value = values[i];
        const double* base = thresholds.data();
        for (std::size_t left = thresholds.size(); left > 1;) {
            const std::size_t half = left / 2;
            base += base[half - 1] < value ? half : 0;
            left -= half;
        }
        const std::size_t below =
            static_cast<std::size_t>(base - thresholds.data()) + (!thresholds.empty() && *base < value);
        out[i * stride] = std::isnan(value) ? 0 : static_cast<std::uint16_t>(below + 1);
    }
}

void check_table(const PackedForest& forest, const TableView& table) {
    require(table.columns.size() == forest.n_features, "The table has " + std::to_string(table.columns.size()) +
                                                           " columns; the forest was grown on " +
                                                           std::to_string(forest.n_features) + ".");
}

// Calls visit(tree number, tree, first row, n, leaves) for blocks of rows, trees in their order.
template <class Visit>
void for_blocks(const PackedForest& forest, const TableView& table, int n_threads, StopRequest& stop, Visit visit) {
    check_table(forest, table);
    const std::size_t d = forest.n_features;
    for (std::size_t stripe = 0; stripe < table.n_rows; stripe += kStripe) {
        stop.check();
        const std::size_t n_stripe = std::min(kStripe, table.n_rows - stripe);
        parallel_ranges(n_stripe, kBlock, n_threads, [&](std::size_t begin, std::size_t end) {
            std::vector<std::uint16_t> codes((end - begin) * d);
            std::vector<double> values(end - begin);
            std::vector<std::uint32_t> leaves(end - begin);
            const std::size_t first = stripe + begin;
            const std::size_t n = end - begin;
            std::size_t number = 0;
            for (const Grove& grove : forest.groves) {
                for (std::size_t feature = 0; feature < d; ++feature) {
                    table.columns[feature].read(first, n, values.data());
                    if (forest.n_levels[feature] > 0)
                        code_levels(values.data(), n, forest.n_levels[feature], codes.data() + feature, d);
                    else
                        code_values(values.data(), n, grove.thresholds[feature], codes.data() + feature, d);
                }
                for (const auto& tree : grove.trees) {
                    walk_rows(forest, *tree, codes.data(), d, n, leaves.data());
                    visit(number++, *tree, first, n, leaves.data());
                }
            }
        });
    }
}

}  // namespace

void walk_rows(const PackedForest& forest, const PackedTree& tree, const std::uint16_t* codes, std::size_t row_stride,
               std::size_t n, std::uint32_t* leaves) {
    const PackedNode* const nodes = tree.nodes.data();
    for (std::size_t first = 0; first < n; first += kLanes) {
        const std::size_t n_lanes = std::min(kLanes, n - first);
        std::array<std::uint32_t, kLanes> at{};
        for (bool moved = true; moved;) {
            moved = false;
            for (std::size_t lane = 0; lane < n_lanes; ++lane) {
                const PackedNode& node = nodes[at[lane]];
                if (node.is_leaf()) continue;
                moved = true;
                at[lane] = node.left + !node.goes_left(forest.compared(
                                           tree, node, codes[(first + lane) * row_stride + node.feature()]));
            }
        }
        std::copy_n(at.data(), n_lanes, leaves + first);
    }
}

void add_answers(const PackedForest& forest, const TableView& table, std::span<double> sums, int n_threads,
                 StopRequest stop) {
    const std::size_t k = forest.n_columns;
    require(sums.size() == table.n_rows * k, "The sums must have one number for each row and column.");
    for_blocks(forest, table, n_threads, stop,
               [&](std::size_t, const PackedTree& tree, std::size_t first, std::size_t n, const std::uint32_t* leaves) {
                   for (std::size_t i = 0; i < n; ++i) {
                       const double* const answer = tree.answers.data() + tree.nodes[leaves[i]].left * k;
                       double* const sum = sums.data() + (first + i) * k;
                       for (std::size_t column = 0; column < k; ++column) sum[column] += answer[column];
                   }
               });
}

void find_leaves(const PackedForest& forest, const TableView& table, std::span<std::uint32_t> out, int n_threads,
                 StopRequest stop) {
    const std::size_t n_trees = forest.n_trees();
    require(out.size() == table.n_rows * n_trees, "There must be room for one leaf for each row and tree.");
    for_blocks(
        forest, table, n_threads, stop,
        [&](std::size_t number, const PackedTree&, std::size_t first, std::size_t n, const std::uint32_t* leaves) {
            for (std::size_t i = 0; i < n; ++i) out[(first + i) * n_trees + number] = leaves[i];
        });
}

void list_answers(const PackedForest& forest, const TableView& table, std::span<double> answers, int n_threads,
                  StopRequest stop) {
    const std::size_t n_trees = forest.n_trees();
    const std::size_t k = forest.n_columns;
    require(answers.size() == table.n_rows * n_trees * k, "There must be room for every answer of every tree.");
    for_blocks(
        forest, table, n_threads, stop,
        [&](std::size_t number, const PackedTree& tree, std::size_t first, std::size_t n, const std::uint32_t* leaves) {
            for (std::size_t i = 0; i < n; ++i)
                std::copy_n(tree.answers.data() + tree.nodes[leaves[i]].left * k, k,
                            answers.data() + ((first + i) * n_trees + number) * k);
        });
}

}  // namespace coterie
