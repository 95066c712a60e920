// bindings/bind.hpp: one function per engine folder; module.cpp calls them in order.
#pragma once

#include <nanobind/nanobind.h>

namespace coterie::python {

void bind_communicator(nanobind::module_& m);
void bind_binning(nanobind::module_& m);
void bind_growth(nanobind::module_& m);
void bind_forest(nanobind::module_& m);
void bind_leaf_targets(nanobind::module_& m);
void bind_criterion_tree(nanobind::module_& m);
void bind_packed_forest(nanobind::module_& m);
void bind_forest_training(nanobind::module_& m);
void bind_isolation(nanobind::module_& m);
void bind_loss(nanobind::module_& m);
void bind_stumps(nanobind::module_& m);
void bind_explain(nanobind::module_& m);
void bind_storage(nanobind::module_& m);
void bind_errors(nanobind::module_& m);

}  // namespace coterie::python
