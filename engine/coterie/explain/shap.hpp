// explain/shap.hpp: what each feature contributes to the prediction of a row: Shapley values of trees, exact.
//
// Two games are played. In the *path-dependent* one a feature that does not take part lets a row go both ways, in the
// shares of the training rows. In the *interventional* one it takes the value of a row of the background, each of them
// in turn. Values of linear leaves count as their constant ones; what the row's own leaf adds to its constant goes to
// the features of its terms.
//
// The Shapley value of a feature of a leaf's path is an integral over [0, 1] of the product, over the other features,
// of share * (1 - t) + (takes the path) * t. That is a polynomial in t, so a few points give it exactly, and the sums
// over all leaves are one pass down and one pass up the tree.
#pragma once

#include <functional>
#include <memory>
#include <span>

#include "coterie/base/column_view.hpp"
#include "coterie/base/progress.hpp"
#include "coterie/tree/forest.hpp"
#include "coterie/tree/packed_forest.hpp"

namespace coterie {

/// Trees of any kind of forest, one at a time: `get(i)` may make it.
struct TreeSource {
    std::size_t n_trees = 0;
    std::size_t n_features = 0;
    std::size_t n_outputs = 1;
    std::function<std::shared_ptr<const Tree>(std::size_t)> get;
    std::function<std::size_t(std::size_t)> first_output;

    static TreeSource of(const Forest& forest);
    static TreeSource of(const PackedForest& forest);
};

/// Adds to `out`, row-major (n_rows, n_outputs, n_features + 1): the values, then what is expected of any row.
void add_shap_values(const TreeSource& trees, const TableView& table, std::span<double> out, int n_threads,
                     StopRequest stop = {});

/// Adds to `out`, row-major (n_rows, n_outputs, n_features + 1, n_features + 1): symmetric, the rows of a matrix add up
/// to the values, and the last entry is what is expected.
void add_shap_interactions(const TreeSource& trees, const TableView& table, std::span<double> out, int n_threads,
                           StopRequest stop = {});

/// The values of the interventional game, in the layout of add_shap_values.
void add_interventional_values(const TreeSource& trees, const TableView& table, const TableView& background,
                               std::span<double> out, int n_threads, StopRequest stop = {});

}  // namespace coterie
