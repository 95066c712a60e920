// bindings/bind_explain.cpp: SHAP values of both kinds of forests.
#include "arrays.hpp"
#include "bind.hpp"
#include "coterie/explain/shap.hpp"

namespace coterie::python {
namespace {

template <class AnyForest>
void bind_for(nb::module_& m) {
    m.def(
        "add_shap_values",
        [](const AnyForest& forest, const nb::object& values, const Column<std::int32_t>& n_levels, Output<double> out,
           int n_threads) {
            const TableView table = view_table(values, n_levels);
            const nb::gil_scoped_release unlock;
            add_shap_values(TreeSource::of(forest), table, look(out), n_threads, stop_on_keyboard_interrupt());
        },
        nb::arg("forest"), nb::arg("values"), nb::arg("n_levels"), nb::arg("out").noconvert(), nb::arg("n_threads"),
        "Adds SHAP values and, last, what is expected, flat row-major (n_rows * n_outputs * (n_features + 1)).");
    m.def(
        "add_shap_interactions",
        [](const AnyForest& forest, const nb::object& values, const Column<std::int32_t>& n_levels, Output<double> out,
           int n_threads) {
            const TableView table = view_table(values, n_levels);
            const nb::gil_scoped_release unlock;
            add_shap_interactions(TreeSource::of(forest), table, look(out), n_threads, stop_on_keyboard_interrupt());
        },
        nb::arg("forest"), nb::arg("values"), nb::arg("n_levels"), nb::arg("out").noconvert(), nb::arg("n_threads"),
        "Adds interaction values, flat row-major (n_rows * n_outputs * (n_features + 1) * (n_features + 1)).");
    m.def(
        "add_interventional_values",
        [](const AnyForest& forest, const nb::object& values, const nb::object& background,
           const Column<std::int32_t>& n_levels, Output<double> out, int n_threads) {
            const TableView table = view_table(values, n_levels);
            const TableView others = view_table(background, n_levels);
            const nb::gil_scoped_release unlock;
            add_interventional_values(TreeSource::of(forest), table, others, look(out), n_threads,
                                      stop_on_keyboard_interrupt());
        },
        nb::arg("forest"), nb::arg("values"), nb::arg("background"), nb::arg("n_levels"), nb::arg("out").noconvert(),
        nb::arg("n_threads"), "The same as add_shap_values against rows of a background.");
}

}  // namespace

void bind_explain(nb::module_& m) {
    bind_for<Forest>(m);
    bind_for<PackedForest>(m);
}

}  // namespace coterie::python
