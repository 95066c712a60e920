// bindings/bind_growth.cpp: GrowOptions, TreeGrower and JointGrower.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "bind.hpp"
#include "communicator.hpp"
#include "coterie/boosting/grow_joint.hpp"
#include "coterie/boosting/grow_tree.hpp"

namespace coterie::python {
namespace {

// Gradients of several outputs, flat: those of the first output, then those of the second.
JointDerivatives joint_derivatives(std::span<const float> gradients, std::span<const float> hessian,
                                   std::span<const RowIndex> rows, bool nobody, std::size_t n_outputs) {
    require(gradients.size() % n_outputs == 0, "There must be as many gradients for each output.");
    const std::size_t n_rows = gradients.size() / n_outputs;
    JointDerivatives derivatives{.gradients = {}, .hessian = hessian, .rows = rows, .nobody = nobody};
    for (std::size_t k = 0; k < n_outputs; ++k) derivatives.gradients.push_back(gradients.subspan(k * n_rows, n_rows));
    return derivatives;
}

void bind_joint_grower(nb::module_& m) {
    nb::class_<JointGrower>(m, "JointGrower", "Grows trees whose splits serve several outputs.")
        .def(
            "__init__",
            [](JointGrower* self, std::shared_ptr<BinnedMatrix> matrix, const GrowOptions& options,
               const Column<double>& units, int n_threads, PythonCommunicator* communicator, std::uint64_t first_row) {
                const std::span<const double> given = look(units);
                new (self) JointGrower(std::move(matrix), options, {given.begin(), given.end()}, n_threads,
                                       slice_of(communicator, first_row));
            },
            nb::arg("matrix"), nb::arg("options"), nb::arg("units"), nb::arg("n_threads"),
            nb::arg("communicator") = nb::none(), nb::arg("first_row") = 0, nb::keep_alive<1, 6>(),
            "The values of an output's trees are its steps times its unit.")
        .def(
            "grow",
            [](JointGrower& self, const Column<float>& gradients, const Column<float>& hessian,
               const Column<std::uint32_t>& rows, std::uint64_t seed, SamplingMethod sampling, double share,
               bool nobody) {
                const nb::gil_scoped_release unlock;
                std::vector<std::shared_ptr<Tree>> trees;
                const auto derivatives =
                    joint_derivatives(look(gradients), look(hessian), look(rows), nobody, self.n_outputs());
                for (Tree& tree :
                     self.grow(derivatives, seed, stop_on_keyboard_interrupt(), {.method = sampling, .share = share}))
                    trees.push_back(std::make_shared<Tree>(std::move(tree)));
                return trees;
            },
            nb::arg("gradients"), nb::arg("hessian"), nb::arg("rows"), nb::arg("seed"),
            nb::arg("sampling") = SamplingMethod::none, nb::arg("share") = 1.0, nb::arg("nobody") = false,
            "One tree, once for each output: the same splits, other values. Gradients are flat, output after output; "
            "an empty hessian means 1 for every row; empty rows mean all, or none with `nobody`.")
        .def(
            "add_predictions",
            [](const JointGrower& self, std::size_t output, Output<float> scores) {
                const nb::gil_scoped_release unlock;
                self.add_predictions(output, look(scores));
            },
            nb::arg("output"), nb::arg("scores").noconvert(),
            "Adds the last tree's predictions for one output to the scores of all rows.");
}

}  // namespace

void bind_growth(nb::module_& m) {
    nb::enum_<Growth>(m, "Growth", "Which leaf is split next.")
        .value("leaf", Growth::leaf)
        .value("level", Growth::level)
        .value("oblivious", Growth::oblivious);

    nb::class_<GrowOptions>(m, "GrowOptions", "How a tree may grow.")
        .def(nb::init<>())
        .def_rw("growth", &GrowOptions::growth)
        .def_rw("max_leaf_nodes", &GrowOptions::max_leaf_nodes, "0: no limit.")
        .def_rw("max_depth", &GrowOptions::max_depth, "0: no limit.")
        .def_rw("min_samples_leaf", &GrowOptions::min_samples_leaf)
        .def_rw("min_samples_split", &GrowOptions::min_samples_split, "A node of fewer rows stays a leaf.")
        .def_rw("min_child_weight", &GrowOptions::min_child_weight)
        .def_rw("l1", &GrowOptions::l1)
        .def_rw("l2", &GrowOptions::l2)
        .def_rw("max_step", &GrowOptions::max_step, "No step is further from zero; 0: no limit.")
        .def_rw("free_step", &GrowOptions::free_step,
                "Of outputs that share splits: longer steps are damped; 0: none is.")
        .def_rw("min_gain", &GrowOptions::min_gain)
        .def_rw("max_features", &GrowOptions::max_features, "Share of the features drawn for each node.")
        .def_rw("max_features_per_level", &GrowOptions::max_features_per_level)
        .def_rw("max_features_per_tree", &GrowOptions::max_features_per_tree)
        .def_rw("level_smoothing", &GrowOptions::level_smoothing)
        .def_rw("level_l2", &GrowOptions::level_l2)
        .def_rw("leaf_penalty", &GrowOptions::leaf_penalty, "What each leaf beyond the first must gain.")
        .def_rw("split_noise", &GrowOptions::split_noise, "Noise of gains, in units of what one split gains by chance.")
        .def_rw("path_smoothing", &GrowOptions::path_smoothing, "Rows' worth of its parent's value in a node's.")
        .def_rw("linear_leaves", &GrowOptions::linear_leaves,
                "Leaves have a line through the numeric features of their path.")
        .def_rw("linear_l2", &GrowOptions::linear_l2, "Makes slopes less steep; unit: the variance of a feature.")
        .def_rw("learning_rate", &GrowOptions::learning_rate)
        .def_rw("value_unit", &GrowOptions::value_unit, "The tree's values are its steps times this.")
        .def_rw("histogram_bytes", &GrowOptions::histogram_bytes,
                "Memory for the histograms of open leaves; 0: COTERIE_HISTOGRAM_MEMORY, or an eighth of the machine's.")
        .def_rw("monotone", &GrowOptions::monotone, "1, -1 or 0 per feature; empty: all free.")
        .def_rw("interaction_sets", &GrowOptions::interaction_sets);

    nb::enum_<SamplingMethod>(m, "SamplingMethod", "How the rows that one tree sees are drawn.")
        .value("none", SamplingMethod::none)
        .value("uniform", SamplingMethod::uniform)
        .value("minimal_variance", SamplingMethod::minimal_variance)
        .value("bayesian", SamplingMethod::bayesian);

    nb::class_<TreeGrower>(m, "TreeGrower", "Grows tree after tree on one binned matrix.")
        .def(
            "__init__",
            [](TreeGrower* self, std::shared_ptr<BinnedMatrix> matrix, const GrowOptions& options, int n_threads,
               PythonCommunicator* communicator, std::uint64_t first_row) {
                new (self) TreeGrower(std::move(matrix), options, n_threads, slice_of(communicator, first_row));
            },
            nb::arg("matrix"), nb::arg("options"), nb::arg("n_threads"), nb::arg("communicator") = nb::none(),
            nb::arg("first_row") = 0, nb::keep_alive<1, 5>(),
            "Workers with a communicator grow one tree together, if each makes the same calls on its slice of the "
            "rows.")
        .def(
            "grow",
            [](TreeGrower& self, const Column<float>& gradient, const Column<float>& hessian,
               const Column<std::uint32_t>& rows, std::uint64_t seed, SamplingMethod sampling, double share,
               const nb::object& values, const std::optional<Column<std::int32_t>>& n_levels, bool nobody) {
                TableView table;
                if (!values.is_none() && n_levels) table = view_table(values, *n_levels);
                const nb::gil_scoped_release unlock;
                return std::make_shared<Tree>(self.grow(
                    {.gradient = look(gradient), .hessian = look(hessian), .rows = look(rows), .nobody = nobody}, seed,
                    stop_on_keyboard_interrupt(), {.method = sampling, .share = share},
                    table.columns.empty() ? nullptr : &table));
            },
            nb::arg("gradient"), nb::arg("hessian"), nb::arg("rows"), nb::arg("seed"),
            nb::arg("sampling") = SamplingMethod::none, nb::arg("share") = 1.0, nb::arg("values") = nb::none(),
            nb::arg("n_levels") = nb::none(), nb::arg("nobody") = false,
            "One tree. An empty hessian means 1 for every row; empty rows mean all, or none with `nobody`. If rows are "
            "sampled, splits come "
            "from the sample and the values of leaves from all rows. Linear leaves need the values that the matrix "
            "was made from.")
        .def(
            "grow_splits",
            [](TreeGrower& self, const Column<float>& gradient, const Column<float>& hessian,
               const Column<std::uint32_t>& rows, std::uint64_t seed, SamplingMethod sampling, double share,
               bool nobody) {
                const nb::gil_scoped_release unlock;
                return std::make_shared<Tree>(self.grow_splits(
                    {.gradient = look(gradient), .hessian = look(hessian), .rows = look(rows), .nobody = nobody}, seed,
                    stop_on_keyboard_interrupt(), {.method = sampling, .share = share}));
            },
            nb::arg("gradient"), nb::arg("hessian"), nb::arg("rows"), nb::arg("seed"),
            nb::arg("sampling") = SamplingMethod::none, nb::arg("share") = 1.0, nb::arg("nobody") = false,
            "One tree whose splits serve several outputs; `tree_for` gives each its own values. The rows must be kept "
            "until then.")
        .def(
            "tree_for",
            [](TreeGrower& self, const Tree& splits, const Column<float>& gradient, const Column<float>& hessian,
               const nb::object& values, const std::optional<Column<std::int32_t>>& n_levels) {
                TableView table;
                if (!values.is_none() && n_levels) table = view_table(values, *n_levels);
                const nb::gil_scoped_release unlock;
                return std::make_shared<Tree>(
                    self.tree_for(splits, look(gradient), look(hessian), table.columns.empty() ? nullptr : &table));
            },
            nb::arg("splits"), nb::arg("gradient"), nb::arg("hessian"), nb::arg("values") = nb::none(),
            nb::arg("n_levels") = nb::none(),
            "The splits grown last with the values, or lines, that one output's derivatives call for.")
        .def(
            "set_quantile_values",
            [](TreeGrower& self, Tree& tree, const Column<float>& residual, const Column<float>& weight,
               double quantile) {
                const nb::gil_scoped_release unlock;
                self.set_quantile_values(tree, look(residual), look(weight), quantile);
            },
            nb::arg("tree"), nb::arg("residual"), nb::arg("weight"), nb::arg("quantile"),
            "Sets the leaves of the tree grown last to a quantile of their rows' residuals.")
        .def(
            "set_newton_values",
            [](TreeGrower& self, Tree& tree, const Column<float>& gradient, const Column<float>& hessian) {
                const nb::gil_scoped_release unlock;
                self.set_newton_values(tree, look(gradient), look(hessian));
            },
            nb::arg("tree"), nb::arg("gradient"), nb::arg("hessian"),
            "Sets the leaves of the tree grown last to Newton's step by these derivatives of the rows that it saw.")
        .def(
            "add_predictions",
            [](const TreeGrower& self, Output<float> scores) {
                const nb::gil_scoped_release unlock;
                self.add_predictions(look(scores));
            },
            nb::arg("scores").noconvert(),
            "Adds the last tree's predictions to the scores of all rows, also of those that took no part.");

    bind_joint_grower(m);
}

}  // namespace coterie::python
