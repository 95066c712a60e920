// predict/walk_codes.hpp: predictions of a packed forest. A block of rows is coded once for a group, then walks its
// trees.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "coterie/base/column_view.hpp"
#include "coterie/base/progress.hpp"
#include "coterie/tree/forest.hpp"
#include "coterie/tree/packed_forest.hpp"

namespace coterie {

/// Adds the trees' predictions to sums, row-major (n_rows, n_columns), in the order of the trees.
void add_predictions(const PackedForest& forest, const TableView& table, std::span<double> sums, int n_threads,
                     StopRequest stop = {});

/// The leaf that each row reaches in each tree, row-major (n_rows, n_trees).
void find_leaves(const PackedForest& forest, const TableView& table, std::span<std::uint32_t> leaves, int n_threads,
                 StopRequest stop = {});

/// What each tree predicts for each row, row-major (n_rows, n_trees, n_columns).
void list_predictions(const PackedForest& forest, const TableView& table, std::span<double> leaf_values, int n_threads,
                      StopRequest stop = {});

/// Calls visit(tree, row, n, leaves) for blocks of n rows from `row` on and for the trees of the range, for each block
/// in the order of the trees, on several threads.
using VisitLeaves = std::function<void(std::size_t tree, std::size_t row, std::size_t n, const std::uint32_t* leaves)>;
void walk_forest(const PackedForest& forest, const TableView& table, TreeRange trees, int n_threads, StopRequest& stop,
                 const VisitLeaves& visit);

/// Trees as a packed forest with the same numbers of nodes and no leaf values: to be walked, and the leaves looked up
/// in the trees. Nothing if a tree has splits by levels, or too many thresholds.
std::optional<PackedForest> coded(const std::vector<std::shared_ptr<const Tree>>& trees, std::size_t n_features);

}  // namespace coterie
