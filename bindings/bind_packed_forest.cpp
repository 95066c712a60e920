// bindings/bind_packed_forest.cpp: forests of packed trees: predicting with them, keeping them.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <string>

#include "arrays.hpp"
#include "bind.hpp"
#include "coterie/base/parallel.hpp"
#include "coterie/predict/walk_codes.hpp"

namespace coterie::python {
namespace {

template <class T>
nb::object copied(std::span<const T> values) {
    return nb::cast(give(std::vector<T>(values.begin(), values.end())));
}

nb::object bytes_of(std::span<const PackedNode> nodes) {
    std::vector<std::uint32_t> words(nodes.size() * 3);
    std::memcpy(words.data(), nodes.data(), nodes.size() * sizeof(PackedNode));
    return nb::cast(give(std::move(words), {nodes.size(), 3}));
}

nb::dict state_of_tree(const PackedTree& tree) {
    nb::dict state;
    state["nodes"] = bytes_of(tree.nodes.view());
    state["answers"] = copied(tree.leaf_values.view());
    state["ranks"] = copied(tree.ranks.view());
    state["weight"] = tree.weight;
    state["n_rows"] = tree.n_rows;
    return state;
}

std::shared_ptr<PackedTree> tree_of_state(const nb::dict& state) {
    auto tree = std::make_shared<PackedTree>();
    const auto words =
        nb::cast<nb::ndarray<const std::uint32_t, nb::shape<-1, 3>, nb::c_contig, nb::device::cpu>>(state["nodes"]);
    std::vector<PackedNode> nodes(words.shape(0));
    if (!nodes.empty()) std::memcpy(static_cast<void*>(nodes.data()), words.data(), nodes.size() * sizeof(PackedNode));
    tree->nodes = std::move(nodes);
    tree->leaf_values = copy_of<double>(state, "answers");
    tree->ranks = copy_of<std::uint16_t>(state, "ranks");
    tree->weight = nb::cast<double>(state["weight"]);
    tree->n_rows = nb::cast<std::uint32_t>(state["n_rows"]);
    return tree;
}

nb::dict state_of_forest(const PackedForest& forest) {
    nb::dict state;
    state["n_columns"] = forest.n_columns;
    state["n_levels"] = copied(std::span<const std::int32_t>(forest.n_levels));
    nb::list groves;
    for (const TreeGroup& group : forest.groups) {
        nb::list thresholds;
        for (const auto& own : group.thresholds) thresholds.append(copied(own.view()));
        nb::list trees;
        for (const auto& tree : group.trees) trees.append(state_of_tree(*tree));
        groves.append(nb::make_tuple(thresholds, trees));
    }
    state["groves"] = groves;
    return state;
}

PackedForest forest_of_state(const nb::dict& state) {
    PackedForest forest(copy_of<std::int32_t>(state, "n_levels"), nb::cast<std::uint32_t>(state["n_columns"]));
    for (const nb::handle item : nb::cast<nb::list>(state["groves"])) {
        TreeGroup group;
        for (const nb::handle own : nb::cast<nb::list>(item[0])) {
            const auto array = nb::cast<Column<double>>(own);
            group.thresholds.emplace_back(std::vector<double>(array.data(), array.data() + array.shape(0)));
        }
        for (const nb::handle tree : nb::cast<nb::list>(item[1]))
            group.trees.push_back(tree_of_state(nb::cast<nb::dict>(tree)));
        forest.groups.push_back(std::move(group));
    }
    validate(forest);
    return forest;
}

void bind_forest_class(nb::module_& m) {
    nb::class_<PackedForest>(m, "PackedForest", "The trees of a forest, twelve bytes a node.")
        .def(
            "__init__",
            [](PackedForest* self, const Column<std::int32_t>& n_levels, std::uint32_t n_columns) {
                require(n_columns > 0, "A forest needs at least one column of leaf values.");
                new (self) PackedForest({n_levels.data(), n_levels.data() + n_levels.shape(0)}, n_columns);
            },
            nb::arg("n_levels"), nb::arg("n_columns"))
        .def("__len__", &PackedForest::n_trees)
        .def_ro("n_features", &PackedForest::n_features)
        .def_ro("n_columns", &PackedForest::n_columns)
        .def_prop_ro(
            "n_levels", [](const PackedForest& self) { return give(std::vector<std::int32_t>(self.n_levels)); },
            "Of each feature, 0 if it is numeric.", nb::rv_policy::move)
        .def_prop_ro("n_bytes", &PackedForest::bytes, "Nodes, leaf values, ranks and thresholds.")
        .def_prop_ro(
            "n_nodes",
            [](const PackedForest& self) {
                std::vector<std::uint32_t> n;
                for (const TreeGroup& group : self.groups)
                    for (const auto& tree : group.trees) n.push_back(static_cast<std::uint32_t>(tree->nodes.size()));
                return give(std::move(n));
            },
            "Of each tree.", nb::rv_policy::move)
        .def("__getstate__", &state_of_forest)
        .def("__setstate__",
             [](PackedForest& self, const nb::dict& state) { new (&self) PackedForest(forest_of_state(state)); })
        .def(
            "joined",
            [](const PackedForest& self, const PackedForest& other) {
                require(self.n_levels == other.n_levels && self.n_columns == other.n_columns,
                        "Only forests of the same features and predictions can be joined.");
                auto both = std::make_shared<PackedForest>(self);
                both->groups.insert(both->groups.end(), other.groups.begin(), other.groups.end());
                return both;
            },
            nb::arg("other"), "A forest with the trees of both, which are shared.")
        .def(
            "first",
            [](const PackedForest& self, std::size_t n_trees) {
                auto part = std::make_shared<PackedForest>(self);
                std::size_t left = n_trees;
                for (TreeGroup& group : part->groups) {
                    group.trees.resize(std::min(left, group.trees.size()));
                    left -= group.trees.size();
                }
                require(left == 0, "The forest has fewer trees than that.");
                std::erase_if(part->groups, [](const TreeGroup& group) { return group.trees.empty(); });
                return part;
            },
            nb::arg("n_trees"), "A forest of the first trees, which are shared.")
        .def(
            "tree",
            [](const PackedForest& self, std::size_t index) { return std::make_shared<Tree>(unpack(self, index)); },
            nb::arg("index"), "A tree with everything at every node.")
        .def(
            "add_predictions",
            [](const PackedForest& self, const nb::object& values, const Column<std::int32_t>& n_levels,
               Output<double> sums, int n_threads) {
                const TableView table = view_table(values, n_levels);
                const nb::gil_scoped_release unlock;
                add_predictions(self, table, look(sums), n_threads, stop_on_keyboard_interrupt());
            },
            nb::arg("values"), nb::arg("n_levels"), nb::arg("sums").noconvert(), nb::arg("n_threads"),
            "Adds the trees' predictions to sums, flat row-major (n_rows * n_columns).")
        .def(
            "find_leaves",
            [](const PackedForest& self, const nb::object& values, const Column<std::int32_t>& n_levels,
               Output<std::uint32_t> leaves, int n_threads) {
                const TableView table = view_table(values, n_levels);
                const nb::gil_scoped_release unlock;
                find_leaves(self, table, look(leaves), n_threads, stop_on_keyboard_interrupt());
            },
            nb::arg("values"), nb::arg("n_levels"), nb::arg("leaves").noconvert(), nb::arg("n_threads"),
            "The leaf each row reaches in each tree, flat row-major (n_rows * n_trees).")
        .def(
            "list_predictions",
            [](const PackedForest& self, const nb::object& values, const Column<std::int32_t>& n_levels,
               Output<double> predictions, int n_threads) {
                const TableView table = view_table(values, n_levels);
                const nb::gil_scoped_release unlock;
                list_predictions(self, table, look(predictions), n_threads, stop_on_keyboard_interrupt());
            },
            nb::arg("values"), nb::arg("n_levels"), nb::arg("predictions").noconvert(), nb::arg("n_threads"),
            "What each tree predicts for each row, flat row-major (n_rows * n_trees * n_columns).");
}

}  // namespace

void bind_packed_forest(nb::module_& m) { bind_forest_class(m); }

}  // namespace coterie::python
