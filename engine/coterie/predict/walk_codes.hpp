// predict/walk_codes.hpp: answers of a packed forest. A block of rows is coded once for a grove, then walks its trees.
#pragma once

#include <span>

#include "coterie/base/column_view.hpp"
#include "coterie/base/progress.hpp"
#include "coterie/tree/packed_forest.hpp"

namespace coterie {

/// Adds the trees' answers to sums, row-major (n_rows, n_columns), in the order of the trees.
void add_answers(const PackedForest& forest, const TableView& table, std::span<double> sums, int n_threads,
                 StopRequest stop = {});

/// The leaf that each row reaches in each tree, row-major (n_rows, n_trees).
void find_leaves(const PackedForest& forest, const TableView& table, std::span<std::uint32_t> leaves, int n_threads,
                 StopRequest stop = {});

/// What each tree answers to each row, row-major (n_rows, n_trees, n_columns).
void list_answers(const PackedForest& forest, const TableView& table, std::span<double> answers, int n_threads,
                  StopRequest stop = {});

/// The leaf of each of n rows of codes in one tree; a row begins `row_stride` codes after the one before it.
void walk_rows(const PackedForest& forest, const PackedTree& tree, const std::uint16_t* codes, std::size_t row_stride,
               std::size_t n, std::uint32_t* leaves);

}  // namespace coterie
