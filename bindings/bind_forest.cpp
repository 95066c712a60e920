// bindings/bind_forest.cpp: Tree and Forest: their arrays, and walking down them.
#include <algorithm>
#include <limits>
#include <optional>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "bind.hpp"
#include "coterie/predict/walk.hpp"
#include "coterie/tree/forest.hpp"
#include "coterie/tree/join.hpp"

namespace coterie::python {
namespace {

// A read-only look at one of the tree's arrays; the array keeps the tree alive.
template <class T>
auto array_of(nb::handle tree, const std::vector<T>& values, std::initializer_list<std::size_t> shape) {
    return nb::ndarray<nb::numpy, const T>(values.data(), shape, tree);
}

template <class T, std::vector<T> Tree::* member>
auto node_array(nb::handle self) {
    const auto& values = nb::cast<const Tree&>(self).*member;
    return array_of(self, values, {values.size()});
}

template <class T, std::vector<T> LinearLeaves::* member>
auto linear_array(nb::handle self) {
    const auto& values = nb::cast<const Tree&>(self).linear.*member;
    return array_of(self, values, {values.size()});
}

nb::dict state_of_tree(nb::handle self) {
    const Tree& tree = nb::cast<const Tree&>(self);
    nb::dict state;
    state["n_outputs"] = tree.n_outputs;
    state["feature"] = node_array<std::int32_t, &Tree::feature>(self);
    state["threshold"] = node_array<double, &Tree::threshold>(self);
    state["levels"] = node_array<std::int32_t, &Tree::levels>(self);
    state["missing_left"] = node_array<std::uint8_t, &Tree::missing_left>(self);
    state["left"] = node_array<NodeIndex, &Tree::left>(self);
    state["value"] = node_array<double, &Tree::value>(self);
    state["gain"] = node_array<double, &Tree::gain>(self);
    state["cover"] = node_array<double, &Tree::cover>(self);
    state["n_rows"] = node_array<std::uint32_t, &Tree::n_rows>(self);
    state["impurity"] = node_array<double, &Tree::impurity>(self);
    state["level_bits"] = node_array<std::uint64_t, &Tree::level_bits>(self);
    state["linear_first_term"] = linear_array<std::uint32_t, &LinearLeaves::first_term>(self);
    state["linear_base"] = linear_array<double, &LinearLeaves::base>(self);
    state["linear_low"] = linear_array<double, &LinearLeaves::low>(self);
    state["linear_high"] = linear_array<double, &LinearLeaves::high>(self);
    state["linear_feature"] = linear_array<std::int32_t, &LinearLeaves::feature>(self);
    state["linear_slope"] = linear_array<double, &LinearLeaves::slope>(self);
    state["linear_centre"] = linear_array<double, &LinearLeaves::centre>(self);
    state["linear_least"] = linear_array<double, &LinearLeaves::least>(self);
    state["linear_most"] = linear_array<double, &LinearLeaves::most>(self);
    return state;
}

std::shared_ptr<Tree> tree_from_state(const nb::dict& state, std::size_t n_features) {
    auto tree = std::make_shared<Tree>();
    tree->n_outputs = nb::cast<std::uint32_t>(state["n_outputs"]);
    tree->feature = copy_of<std::int32_t>(state, "feature");
    tree->threshold = copy_of<double>(state, "threshold");
    tree->levels = copy_of<std::int32_t>(state, "levels");
    tree->missing_left = copy_of<std::uint8_t>(state, "missing_left");
    tree->left = copy_of<NodeIndex>(state, "left");
    tree->value = copy_of<double>(state, "value");
    tree->gain = copy_of<double>(state, "gain");
    tree->cover = copy_of<double>(state, "cover");
    tree->n_rows = copy_of<std::uint32_t>(state, "n_rows");
    tree->impurity = copy_of<double>(state, "impurity");
    tree->level_bits = copy_of<std::uint64_t>(state, "level_bits");
    tree->linear = {.first_term = copy_of<std::uint32_t>(state, "linear_first_term"),
                    .base = copy_of<double>(state, "linear_base"),
                    .low = copy_of<double>(state, "linear_low"),
                    .high = copy_of<double>(state, "linear_high"),
                    .feature = copy_of<std::int32_t>(state, "linear_feature"),
                    .slope = copy_of<double>(state, "linear_slope"),
                    .centre = copy_of<double>(state, "linear_centre"),
                    .least = copy_of<double>(state, "linear_least"),
                    .most = copy_of<double>(state, "linear_most")};
    validate(*tree, n_features);
    return tree;
}

void add_tree(Forest& forest, std::shared_ptr<Tree> tree, std::uint32_t output) {
    require(std::uint64_t{output} + tree->n_outputs <= forest.n_outputs,
            "A tree would add to an output that the forest does not have.");
    validate(*tree, forest.n_features);
    forest.add(std::move(tree), output);
}

void bind_tree(nb::module_& m) {
    nb::class_<Tree>(m, "Tree",
                     "A finished tree: parallel arrays, one entry per node, root at 0, right child = left + 1.")
        .def_static("from_state", &tree_from_state, nb::arg("state"), nb::arg("n_features"),
                    "Builds a tree from its arrays, after checking them.")
        .def(
            "scaled", [](const Tree& self, double times) { return std::make_shared<Tree>(scaled(self, times)); },
            nb::arg("times"), "The same tree with every value multiplied.")
        .def_static(
            "joined",
            [](const std::vector<std::shared_ptr<Tree>>& trees) {
                const std::vector<std::shared_ptr<const Tree>> given(trees.begin(), trees.end());
                return std::make_shared<Tree>(joined(given));
            },
            nb::arg("trees"), "Trees with the same splits as one tree with the outputs of all; their gains are added.")
        .def("__getstate__", &state_of_tree)
        .def("__setstate__",
             [](Tree& self, const nb::dict& state) {
                 const std::size_t any_feature = std::numeric_limits<std::int32_t>::max();
                 new (&self) Tree(*tree_from_state(state, any_feature));
             })
        .def("state", &state_of_tree, "The tree's arrays by name.")
        .def_prop_ro("n_nodes", &Tree::n_nodes)
        .def_ro("n_outputs", &Tree::n_outputs)
        .def_prop_ro("feature", &node_array<std::int32_t, &Tree::feature>, "-1 at a leaf.")
        .def_prop_ro("threshold", &node_array<double, &Tree::threshold>)
        .def_prop_ro("levels", &node_array<std::int32_t, &Tree::levels>, "Index of the level set going left, or -1.")
        .def_prop_ro("missing_left", &node_array<std::uint8_t, &Tree::missing_left>)
        .def_prop_ro("left", &node_array<NodeIndex, &Tree::left>)
        .def_prop_ro("gain", &node_array<double, &Tree::gain>)
        .def_prop_ro("cover", &node_array<double, &Tree::cover>)
        .def_prop_ro("n_rows", &node_array<std::uint32_t, &Tree::n_rows>)
        .def_prop_ro("impurity", &node_array<double, &Tree::impurity>)
        .def_prop_ro("level_bits", &node_array<std::uint64_t, &Tree::level_bits>, "Four words per set.")
        .def_prop_ro("linear_first_term", &linear_array<std::uint32_t, &LinearLeaves::first_term>,
                     "Where the terms of each node begin, and where the last ones end; empty without linear leaves.")
        .def_prop_ro("linear_base", &linear_array<double, &LinearLeaves::base>)
        .def_prop_ro("linear_low", &linear_array<double, &LinearLeaves::low>)
        .def_prop_ro("linear_high", &linear_array<double, &LinearLeaves::high>)
        .def_prop_ro("linear_feature", &linear_array<std::int32_t, &LinearLeaves::feature>, "One entry per term.")
        .def_prop_ro("linear_slope", &linear_array<double, &LinearLeaves::slope>)
        .def_prop_ro("linear_centre", &linear_array<double, &LinearLeaves::centre>)
        .def_prop_ro("linear_least", &linear_array<double, &LinearLeaves::least>)
        .def_prop_ro("linear_most", &linear_array<double, &LinearLeaves::most>)
        .def_prop_ro("value", [](nb::handle self) {
            const Tree& tree = nb::cast<const Tree&>(self);
            return array_of(self, tree.value, {tree.n_nodes(), tree.n_outputs});
        });
}

}  // namespace

void bind_forest(nb::module_& m) {
    bind_tree(m);
    nb::class_<Forest>(m, "Forest", "Finished trees over the same features whose predictions are added.")
        .def(
            "__init__",
            [](Forest* self, std::size_t n_features, std::uint32_t n_outputs) {
                require(n_outputs > 0, "A forest needs at least one output.");
                new (self) Forest{.n_features = n_features, .n_outputs = n_outputs, .trees = {}, .first_output = {}};
            },
            nb::arg("n_features"), nb::arg("n_outputs"))
        .def("add", &add_tree, nb::arg("tree"), nb::arg("output") = 0)
        .def("__len__", [](const Forest& self) { return self.trees.size(); })
        .def(
            "truncate",
            [](Forest& self, std::size_t n_trees) {
                require(n_trees <= self.trees.size(), "A forest cannot be cut to more trees than it has.");
                self.trees.resize(n_trees);
                self.first_output.resize(n_trees);
            },
            nb::arg("n_trees"))
        .def("__getstate__",
             [](const Forest& self) {
                 nb::list trees;
                 for (std::size_t i = 0; i < self.trees.size(); ++i)
                     trees.append(nb::make_tuple(std::const_pointer_cast<Tree>(self.trees[i]), self.first_output[i]));
                 return nb::make_tuple(self.n_features, self.n_outputs, trees);
             })
        .def("__setstate__",
             [](Forest& self, const nb::tuple& state) {
                 Forest forest{.n_features = nb::cast<std::size_t>(state[0]),
                               .n_outputs = nb::cast<std::uint32_t>(state[1]),
                               .trees = {},
                               .first_output = {}};
                 for (const nb::handle item : nb::cast<nb::list>(state[2]))
                     add_tree(forest, nb::cast<std::shared_ptr<Tree>>(item[0]), nb::cast<std::uint32_t>(item[1]));
                 new (&self) Forest(std::move(forest));
             })
        .def_ro("n_features", &Forest::n_features)
        .def_ro("n_outputs", &Forest::n_outputs)
        .def(
            "tree",
            [](const Forest& self, std::size_t i) {
                require(i < self.trees.size(), "There is no tree of this number.");
                return std::const_pointer_cast<Tree>(self.trees[i]);
            },
            nb::arg("index"))
        .def(
            "first_output",
            [](const Forest& self, std::size_t i) {
                require(i < self.trees.size(), "There is no tree of this number.");
                return self.first_output[i];
            },
            nb::arg("index"))
        .def(
            "add_scores",
            [](const Forest& self, const nb::object& values, const Column<std::int32_t>& n_levels,
               Output<double> scores, int n_threads, std::size_t first_tree, std::optional<std::size_t> n_trees) {
                const TableView table = view_table(values, n_levels);
                const std::size_t most = self.trees.size() - std::min(first_tree, self.trees.size());
                const TreeRange trees{first_tree, first_tree + std::min(n_trees.value_or(most), most)};
                const nb::gil_scoped_release unlock;
                add_scores(self, table, look(scores), n_threads, stop_on_keyboard_interrupt(), trees);
            },
            nb::arg("values"), nb::arg("n_levels"), nb::arg("scores").noconvert(), nb::arg("n_threads"),
            nb::arg("first_tree") = 0, nb::arg("n_trees") = nb::none(),
            "Adds the predictions of n_trees trees, or of all, to scores, flat row-major (n_rows * n_outputs).")
        .def(
            "find_leaves",
            [](const Forest& self, const nb::object& values, const Column<std::int32_t>& n_levels,
               Output<std::uint32_t> leaves, int n_threads) {
                const TableView table = view_table(values, n_levels);
                const nb::gil_scoped_release unlock;
                find_leaves(self, table, look(leaves), n_threads, stop_on_keyboard_interrupt());
            },
            nb::arg("values"), nb::arg("n_levels"), nb::arg("leaves").noconvert(), nb::arg("n_threads"),
            "The leaf each row reaches in each tree, flat row-major (n_rows * n_trees).");
}

}  // namespace coterie::python
