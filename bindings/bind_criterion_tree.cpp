// bindings/bind_criterion_tree.cpp: decision trees grown by a criterion, and their pruning.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include <map>
#include <string>

#include "arrays.hpp"
#include "bind.hpp"
#include "coterie/base/parallel.hpp"
#include "coterie/exact/criterion_tree.hpp"
#include "coterie/tree/prune.hpp"

namespace coterie::python {
namespace {

Criterion criterion_of(const std::string& name) {
    static const std::map<std::string, Criterion> criteria = {{"gini", Criterion::gini},
                                                              {"entropy", Criterion::entropy},
                                                              {"log_loss", Criterion::entropy},
                                                              {"squared_error", Criterion::squared_error},
                                                              {"absolute_error", Criterion::absolute_error},
                                                              {"poisson", Criterion::poisson}};
    const auto found = criteria.find(name);
    require(found != criteria.end(), "There is no criterion '" + name + "'.");
    return found->second;
}

void bind_options(nb::module_& m) {
    nb::class_<CriterionOptions>(m, "CriterionOptions", "How a criterion tree grows; 0 means no limit.")
        .def(
            "__init__",
            [](CriterionOptions* self, const std::string& criterion, bool random_splits, std::uint32_t max_depth,
               std::size_t min_rows_split, std::size_t min_rows_leaf, double min_weight_leaf,
               double min_impurity_decrease, std::size_t max_features, std::size_t max_leaves,
               const Column<std::int8_t>& monotone, std::uint64_t seed, int n_threads) {
                new (self) CriterionOptions{
                    .criterion = criterion_of(criterion),
                    .random_splits = random_splits,
                    .max_depth = max_depth == 0 ? std::numeric_limits<std::uint32_t>::max() : max_depth,
                    .min_rows_split = min_rows_split,
                    .min_rows_leaf = min_rows_leaf,
                    .min_weight_leaf = min_weight_leaf,
                    .min_impurity_decrease = min_impurity_decrease,
                    .max_features = max_features,
                    .max_leaves = max_leaves,
                    .monotone = {monotone.data(), monotone.data() + monotone.shape(0)},
                    .seed = seed,
                    .n_threads = usable_threads(n_threads)};
            },
            nb::kw_only(), nb::arg("criterion"), nb::arg("random_splits"), nb::arg("max_depth"),
            nb::arg("min_rows_split"), nb::arg("min_rows_leaf"), nb::arg("min_weight_leaf"),
            nb::arg("min_impurity_decrease"), nb::arg("max_features"), nb::arg("max_leaves"), nb::arg("monotone"),
            nb::arg("seed"), nb::arg("n_threads"));
}

std::shared_ptr<Tree> grow(const nb::object& values, const Column<std::int32_t>& n_levels, const Column<double>& target,
                           std::uint32_t n_outputs, const Column<std::int32_t>& n_classes, const Column<double>& weight,
                           const CriterionOptions& options) {
    const TableView table = view_table(values, n_levels);
    const TargetView targets{
        .value = look(target), .n_outputs = n_outputs, .n_classes = look(n_classes), .weight = look(weight)};
    const nb::gil_scoped_release unlock;
    return std::make_shared<Tree>(grow_criterion_tree(table, targets, options, stop_on_keyboard_interrupt()));
}

}  // namespace

void bind_criterion_tree(nb::module_& m) {
    bind_options(m);
    m.def("grow_criterion_tree", &grow, nb::arg("values"), nb::arg("n_levels"), nb::arg("target").noconvert(),
          nb::arg("n_outputs"), nb::arg("n_classes").noconvert(), nb::arg("weight").noconvert(), nb::arg("options"),
          "Grows a decision tree. `target` is flat, n_outputs per row: numbers, or class codes if `n_classes` is not "
          "empty. An empty `weight` means ones.");
    m.def(
        "pruning_path",
        [](const Tree& tree) {
            PruningPath path = pruning_path(tree);
            return std::make_pair(give(std::move(path.alphas)), give(std::move(path.impurities)));
        },
        nb::arg("tree"), "Strengths of the splits in the order of pruning, and the cost that remains after each.");
    m.def(
        "prune_tree", [](const Tree& tree, double alpha) { return std::make_shared<Tree>(prune(tree, alpha)); },
        nb::arg("tree"), nb::arg("alpha"), "The tree without the splits of strength at most alpha.");
}

}  // namespace coterie::python
