// forest/isolation.hpp: trees that part rows at random until each is alone, or the tree is deep enough.
//
// A row that is unlike the others is alone after few splits, so the length of its path says how unusual it is (Liu,
// Ting and Zhou, Isolation forest, 2008). A node predicts the expected length of a path that ends in it: its depth,
// and what a tree of its rows would add on average. A score is thus a sum over trees, like any other prediction.
//
// Words
//   bag      the distinct rows that a tree sees
//   known    of a value: not missing
// Steps, for each node with more than one row
//   1. Draw features until one is not the same in all rows. What is constant in a node is constant below it.
//   2. Numbers: draw a threshold between the least and the greatest. Levels: draw a side for each.
//   3. Missing values go to a side that is drawn, if the node has some; else to the larger side.
//      Levels that the node does not have go to the smaller side, where unusual rows are.
// A feature with one known value and missing ones parts the two.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "coterie/base/column_view.hpp"
#include "coterie/base/progress.hpp"
#include "coterie/tree/tree.hpp"

namespace coterie {

struct IsolationOptions {
    std::size_t n_trees = 100;
    std::uint64_t first_tree = 0;  // trees before it were grown by another call
    std::size_t max_samples = 256;
    bool bootstrap = false;        // rows are drawn with replacement; a row drawn twice counts once
    std::size_t max_features = 0;  // of each tree; 0 for all
    std::uint32_t max_depth = 8;
    std::uint64_t seed = 0;
    int n_threads = 1;
};

/// The mean length of a path in a tree that isolates so many rows, which is that of a search without success in a
/// binary search tree.
double average_path_length(std::size_t n_rows);

/// The rows of each tree's bag, ascending. `weight` is empty, or how likely each row is drawn; rows of weight 0 never.
std::vector<std::vector<RowIndex>> isolation_bags(std::size_t n_rows, std::span<const double> weight,
                                                  const IsolationOptions& options);

/// The features that each tree may use, ascending.
std::vector<std::vector<FeatureIndex>> isolation_features(std::size_t n_features, const IsolationOptions& options);

/// The trees, the same for any number of threads.
std::vector<std::shared_ptr<const Tree>> grow_isolation_trees(const TableView& table, std::span<const double> weight,
                                                              const IsolationOptions& options, StopRequest& stop);

}  // namespace coterie
