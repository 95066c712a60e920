// tests/forest/forests.hpp: small tables with targets, grown forests, and what their trees do with their rows.
#pragma once

#include <algorithm>
#include <cmath>

#include "check.hpp"
#include "coterie/forest/grow_forest.hpp"
#include "coterie/forest/permutation.hpp"
#include "coterie/predict/walk_codes.hpp"
#include "tables_by_hand.hpp"

namespace coterie {

/// Only tests compare arrays.
template <class T, class Owner>
bool operator==(const Array<T, Owner>& one, const Array<T, Owner>& other) {
    return std::ranges::equal(one, other);
}

}  // namespace coterie

namespace coterie::tests {

struct TrainingSet {
    Columns table;
    std::vector<double> target;
    std::vector<std::int32_t> n_classes = {};  // empty: numbers
    std::vector<double> weight = {};

    TargetView view() const { return {.value = target, .n_outputs = 1, .n_classes = n_classes, .weight = weight}; }
};

/// Numbers of at most `n_values` distinct values, every fourth feature nominal, a tenth of all values missing; the
/// target follows features 0 and 3, with noise. No classes: numbers.
inline TrainingSet random_training_set(std::uint64_t seed, std::size_t n_rows, std::size_t n_features,
                                       std::int32_t n_classes, double n_values = 60) {
    TrainingSet data{.table = random_columns(seed, n_rows, n_features), .target = std::vector<double>(n_rows)};
    for (std::size_t feature = 0; feature < n_features; ++feature)
        if (data.table.n_levels[feature] == 0)
            for (double& value : data.table.values[feature]) value = std::floor(value * n_values) / 8;
    for (std::size_t row = 0; row < n_rows; ++row) {
        const double first = data.table.values[0][row];
        const double level = n_features > 3 ? data.table.values[3][row] : 0.0;
        const double y = (std::isnan(first) ? 0.7 : std::sin(40 * first / n_values)) +
                         (std::fmod(level, 3) == 1 ? 0.5 : 0.0) + 0.6 * random_unit(seed, Purpose::bootstrap, row);
        data.target[row] =
            n_classes == 0 ? y : std::clamp(std::floor((y + 0.8) * 0.5 * n_classes), 0.0, n_classes - 1.0);
    }
    if (n_classes > 0) data.n_classes = {n_classes};
    return data;
}

/// A finished forest, and what its training knew.
struct Grown {
    ForestRows ranked;  // before finish: with the codes that the grower saw
    PackedForest forest;
    std::shared_ptr<const ForestMemory> memory;
    OutOfBag out_of_bag;
    std::vector<double> importances;
    std::vector<double> out_importances;

    const ForestRows& rows() const { return memory->rows; }
    std::vector<std::uint16_t> counts(std::size_t tree) const {
        std::vector<std::uint16_t> counts(rows().n_places());
        memory->bags->draw(memory->first_tree + tree, counts);
        return counts;
    }
    const double* leaf_value(const PackedTree& tree, std::size_t leaf) const {
        return tree.leaf_values.data() + std::size_t{tree.nodes[leaf].left} * forest.n_columns;
    }
    bool goes_left(const PackedTree& tree, const PackedNode& node, std::size_t place) const {
        std::uint32_t code = rows().code(place, node.feature());
        if (node.is_nominal()) code = tree.ranks[forest.first_rank[node.feature()] + code];
        return node.goes_left(code);
    }
};

inline Grown finished(ForestTraining& training, const TrainingSet& data) {
    Grown grown{.ranked = training.rows(),
                .forest = PackedForest(data.table.n_levels, training.rows().n_columns()),
                .memory = nullptr,
                .out_of_bag = training.out_of_bag(),
                .importances = training.importances(),
                .out_importances = training.out_of_bag_importances()};
    grown.forest.groups.push_back(training.finish());
    grown.memory = training.memory();
    validate(grown.forest);
    return grown;
}

inline Grown grow(const TrainingSet& data, const ForestOptions& options, std::vector<std::size_t> calls = {5}) {
    ForestTraining training(data.table.view(), data.view(), options);
    for (const std::size_t n_trees : calls) training.grow(n_trees);
    return finished(training, data);
}

inline void check_same_forest(const Grown& a, const Grown& b, Location where = Location::current()) {
    check_equal(a.forest.n_trees(), b.forest.n_trees(), where);
    check(a.forest.groups[0].thresholds == b.forest.groups[0].thresholds, "thresholds are the same", where);
    for (std::size_t i = 0; i < a.forest.n_trees(); ++i) {
        const PackedTree& one = a.forest.tree(i);
        const PackedTree& other = b.forest.tree(i);
        check(one.nodes == other.nodes, "nodes are the same", where);
        check(one.leaf_values == other.leaf_values, "leaf values are the same", where);
        check(one.ranks == other.ranks, "ranks are the same", where);
    }
    check(a.out_of_bag.sums() == b.out_of_bag.sums(), "sums out of bag are the same", where);
    check(a.out_of_bag.counts() == b.out_of_bag.counts(), "counts out of bag are the same", where);
    check(a.importances == b.importances, "importances are the same", where);
    check(a.out_importances == b.out_importances, "importances out of bag are the same", where);
}

/// Calls visit(node, places of the bag in it), parents first.
template <class Visit>
void for_nodes(const Grown& grown, std::size_t index, Visit visit) {
    const PackedTree& tree = grown.forest.tree(index);
    std::vector<std::vector<RowIndex>> places(tree.nodes.size());
    const std::vector<std::uint16_t> counts = grown.counts(index);
    for (std::size_t place = 0; place < counts.size(); ++place)
        if (counts[place] > 0) places[0].push_back(static_cast<RowIndex>(place));
    for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
        const PackedNode& node = tree.nodes[i];
        visit(node, places[i]);
        if (node.is_leaf()) continue;
        for (const RowIndex place : places[i]) places[node.left + !grown.goes_left(tree, node, place)].push_back(place);
    }
}

}  // namespace coterie::tests
