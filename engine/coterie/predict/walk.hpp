// predict/walk.hpp: predictions of a forest. What it is compiled to is kept with it (compiled_forest.hpp).
#pragma once

#include <span>

#include "coterie/base/column_view.hpp"
#include "coterie/base/progress.hpp"
#include "coterie/tree/forest.hpp"

namespace coterie {

/// Adds the predictions of some trees to scores, row-major (n_rows, forest.n_outputs), in the order of the trees.
void add_scores(const Forest& forest, const TableView& table, std::span<double> scores, int n_threads,
                StopRequest stop = {}, TreeRange trees = {});

/// The leaf reached by each row in each tree, row-major (n_rows, n_trees).
void find_leaves(const Forest& forest, const TableView& table, std::span<std::uint32_t> leaves, int n_threads,
                 StopRequest stop = {});

}  // namespace coterie
