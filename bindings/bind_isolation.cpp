// bindings/bind_isolation.cpp: trees without a target: isolation trees and what each of them drew, random targets.
#include <nanobind/stl/shared_ptr.h>

#include "arrays.hpp"
#include "bind.hpp"
#include "coterie/forest/isolation.hpp"
#include "coterie/forest/row_numbers.hpp"
#include "coterie/tree/forest.hpp"

namespace coterie::python {
namespace {

template <class T>
nb::list lists_of(std::vector<std::vector<T>>&& drawn) {
    nb::list lists;
    for (std::vector<T>& own : drawn) lists.append(nb::cast(give(std::move(own))));
    return lists;
}

std::shared_ptr<Forest> grown(const nb::object& values, const Column<std::int32_t>& n_levels,
                              const Column<double>& weight, const IsolationOptions& options) {
    const TableView table = view_table(values, n_levels);
    auto forest = std::make_shared<Forest>();
    forest->n_features = table.columns.size();
    const nb::gil_scoped_release unlock;
    StopRequest stop = stop_on_keyboard_interrupt();
    for (auto& tree : grow_isolation_trees(table, look(weight), options, stop)) forest->add(std::move(tree), 0);
    return forest;
}

}  // namespace

void bind_isolation(nb::module_& m) {
    nb::class_<IsolationOptions>(m, "IsolationOptions", "How isolation trees draw their rows, and how deep they grow.")
        .def(
            "__init__",
            [](IsolationOptions* self, std::size_t n_trees, std::uint64_t first_tree, std::size_t max_samples,
               bool bootstrap, std::size_t max_features, std::uint32_t max_depth, std::uint64_t seed, int n_threads) {
                new (self) IsolationOptions{.n_trees = n_trees,
                                            .first_tree = first_tree,
                                            .max_samples = max_samples,
                                            .bootstrap = bootstrap,
                                            .max_features = max_features,
                                            .max_depth = max_depth,
                                            .seed = seed,
                                            .n_threads = n_threads};
            },
            nb::kw_only(), nb::arg("n_trees"), nb::arg("first_tree"), nb::arg("max_samples"), nb::arg("bootstrap"),
            nb::arg("max_features"), nb::arg("max_depth"), nb::arg("seed"), nb::arg("n_threads"));
    m.def("grow_isolation_trees", &grown, nb::arg("values"), nb::arg("n_levels").noconvert(),
          nb::arg("weight").noconvert(), nb::arg("options"),
          "A forest whose trees predict the expected length of a path. An empty `weight` means ones.");
    m.def(
        "isolation_bags",
        [](std::size_t n_rows, const Column<double>& weight, const IsolationOptions& options) {
            return lists_of(isolation_bags(n_rows, look(weight), options));
        },
        nb::arg("n_rows"), nb::arg("weight").noconvert(), nb::arg("options"),
        "The rows that each tree is grown on, ascending.");
    m.def(
        "isolation_features",
        [](std::size_t n_features, const IsolationOptions& options) {
            return lists_of(isolation_features(n_features, options));
        },
        nb::arg("n_features"), nb::arg("options"), "The features that each tree may use, ascending.");
    m.def(
        "row_numbers",
        [](const nb::object& values, const Column<std::int32_t>& n_levels, Output<double> numbers, int n_threads) {
            const TableView table = view_table(values, n_levels);
            const nb::gil_scoped_release unlock;
            row_numbers(table, look(numbers), n_threads);
        },
        nb::arg("values"), nb::arg("n_levels").noconvert(), nb::arg("numbers").noconvert(), nb::arg("n_threads"),
        "A random number in [0, 1) for each row, which follows from what the row holds.");
    m.def("average_path_length", &average_path_length, nb::arg("n_rows"),
          "The mean length of a path in a tree that isolates so many rows.");
}

}  // namespace coterie::python
