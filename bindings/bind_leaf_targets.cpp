// bindings/bind_leaf_targets.cpp: the training targets in the leaves of a forest, and quantiles of them.
#include "arrays.hpp"
#include "bind.hpp"
#include "coterie/predict/leaf_targets.hpp"

namespace coterie::python {
namespace {

template <class T>
auto copy_of(const std::vector<T>& values) {
    return give(std::vector<T>(values));
}

std::vector<std::uint32_t> whole_numbers(const nb::handle& array) {
    const auto column = nb::cast<Column<std::uint32_t>>(array);
    return {column.data(), column.data() + column.shape(0)};
}

nb::tuple state_of(const LeafTargets& targets) {
    nb::list trees;
    for (const TreeTargets& tree : targets.trees())
        trees.append(nb::make_tuple(copy_of(tree.first), copy_of(tree.rank), copy_of(tree.share)));
    return nb::make_tuple(copy_of(targets.y()), copy_of(targets.weight()), trees);
}

LeafTargets from_state(const nb::tuple& state) {
    LeafTargets targets(look(nb::cast<Column<double>>(state[0])), look(nb::cast<Column<double>>(state[1])));
    for (const nb::handle tree : nb::cast<nb::list>(state[2]))
        targets.add({.first = whole_numbers(tree[0]), .rank = whole_numbers(tree[1]), .share = whole_numbers(tree[2])});
    return targets;
}

}  // namespace

void bind_leaf_targets(nb::module_& m) {
    nb::class_<LeafTargets>(m, "LeafTargets", "The training targets that the leaves of a forest hold.")
        .def(
            "__init__",
            [](LeafTargets* self, const Column<double>& y, const Column<double>& weight) {
                const nb::gil_scoped_release unlock;
                new (self) LeafTargets(look(y), look(weight));
            },
            nb::arg("y"), nb::arg("weight"), "An empty weight means 1 for every row.")
        .def("__len__", [](const LeafTargets& self) { return self.trees().size(); })
        .def("__getstate__", &state_of)
        .def("__setstate__",
             [](LeafTargets& self, const nb::tuple& state) { new (&self) LeafTargets(from_state(state)); })
        .def_prop_ro("n_rows", [](const LeafTargets& self) { return self.y().size(); })
        .def(
            "add",
            [](LeafTargets& self, const Column<std::uint32_t>& leaves, const Column<std::uint16_t>& counts,
               int n_threads) {
                const nb::gil_scoped_release unlock;
                self.add(look(leaves), look(counts), n_threads, stop_on_keyboard_interrupt());
            },
            nb::arg("leaves"), nb::arg("counts"), nb::arg("n_threads"),
            "Adds trees: the leaf that each row reaches and how often the tree drew it, flat (n_trees * n_rows).")
        .def(
            "quantiles",
            [](const LeafTargets& self, const Column<std::uint32_t>& leaves, const Column<std::uint8_t>& use,
               const Column<double>& levels, Output<double> out, int n_threads) {
                const nb::gil_scoped_release unlock;
                self.quantiles({.leaves = look(leaves), .use = look(use), .levels = look(levels)}, look(out), n_threads,
                               stop_on_keyboard_interrupt());
            },
            nb::arg("leaves"), nb::arg("use"), nb::arg("levels"), nb::arg("out").noconvert(), nb::arg("n_threads"),
            "Quantiles of rows by the leaves they reach, flat row-major (n_rows * n_levels); leaves and the trees to "
            "use (empty: all) are flat row-major (n_rows * n_trees).");
}

}  // namespace coterie::python
