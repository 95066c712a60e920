// bindings/bind_forest_training.cpp: growing a forest, and the rows it remembers.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <map>
#include <optional>
#include <span>
#include <string>

#include "arrays.hpp"
#include "bind.hpp"
#include "coterie/base/parallel.hpp"
#include "coterie/forest/grow_forest.hpp"
#include "coterie/forest/permutation.hpp"

namespace coterie::python {
namespace {

BagKind bag_kind_of(const std::string& name) {
    static const std::map<std::string, BagKind> kinds = {{"all", BagKind::all},
                                                         {"bootstrap", BagKind::bootstrap},
                                                         {"subsample", BagKind::subsample},
                                                         {"balanced", BagKind::balanced},
                                                         {"partition", BagKind::partition}};
    const auto found = kinds.find(name);
    require(found != kinds.end(), "There is no kind of bag '" + name + "'.");
    return found->second;
}

void bind_options(nb::module_& m) {
    nb::class_<ForestOptions>(m, "ForestOptions", "How a forest grows: its trees, its bags, its threads.")
        .def(
            "__init__",
            [](ForestOptions* self, const CriterionOptions& tree, std::size_t features_per_tree,
               std::vector<std::vector<FeatureIndex>> interaction_sets, bool balance_bag, double ccp_alpha,
               bool prune_out_of_bag, const std::string& bag, double share, std::size_t most_draws, bool out_of_bag,
               std::uint64_t first_tree) {
                ForestTreeOptions trees{.tree = tree,
                                        .features_per_tree = features_per_tree,
                                        .interaction_sets = std::move(interaction_sets),
                                        .balance_bag = balance_bag,
                                        .ccp_alpha = ccp_alpha,
                                        .prune_out_of_bag = prune_out_of_bag};
                new (self) ForestOptions{.tree = std::move(trees),
                                         .bag = bag_kind_of(bag),
                                         .share = share,
                                         .most_draws = most_draws,
                                         .out_of_bag = out_of_bag,
                                         .seed = tree.seed,
                                         .first_tree = first_tree,
                                         .n_threads = tree.n_threads};
            },
            nb::kw_only(), nb::arg("tree"), nb::arg("features_per_tree"), nb::arg("interaction_sets"),
            nb::arg("balance_bag"), nb::arg("ccp_alpha"), nb::arg("prune_out_of_bag"), nb::arg("bag"), nb::arg("share"),
            nb::arg("most_draws"), nb::arg("out_of_bag"), nb::arg("first_tree"));
}

nb::dict state_of_memory(const ForestMemory& memory) {
    const ForestRows& rows = memory.rows;
    const auto copy = [](const auto& values) {
        using Value = std::remove_cvref_t<decltype(values[0])>;
        return nb::cast(give(std::vector<Value>(values.begin(), values.end())));
    };
    nb::dict state;
    state["codes"] = copy(rows.table.codes);
    state["row_stride"] = rows.table.row_stride;
    state["feature_stride"] = rows.table.feature_stride;
    state["order"] = copy(rows.order);
    state["n_table_rows"] = rows.n_table_rows;
    state["n_levels"] = copy(rows.n_levels);
    state["targets"] = copy(rows.targets.value);
    state["weight"] = copy(rows.targets.weight);
    state["weighted"] = rows.weighted;
    state["n_outputs"] = rows.targets.n_outputs;
    state["n_classes"] = copy(rows.targets.n_classes);
    state["bag"] = static_cast<int>(memory.bag_options.kind);
    state["share"] = memory.bag_options.share;
    state["most_draws"] = memory.bag_options.most_draws;
    state["seed"] = memory.bag_options.seed;
    state["first_tree"] = memory.first_tree;
    return state;
}

template <class T, class Values>
void read_array(const nb::dict& state, const char* name, Values& out) {
    const auto array = nb::cast<Column<T>>(state[name]);
    out.assign(array.data(), array.data() + array.shape(0));
}

ForestMemory memory_of_state(const nb::dict& state) {
    ForestMemory memory;
    ForestRows& rows = memory.rows;
    // The largest part, which may lie in a mapped file, stays where it is.
    rows.table.codes = {look(column_of<Code>(state, "codes")), keep(nb::borrow(state["codes"]))};
    rows.table.row_stride = nb::cast<std::size_t>(state["row_stride"]);
    rows.table.feature_stride = nb::cast<std::size_t>(state["feature_stride"]);
    read_array<RowIndex>(state, "order", rows.order);
    rows.table.n_rows = rows.order.size();
    rows.n_table_rows = nb::cast<std::size_t>(state["n_table_rows"]);
    read_array<std::int32_t>(state, "n_levels", rows.n_levels);
    read_array<double>(state, "targets", rows.targets.value);
    read_array<double>(state, "weight", rows.targets.weight);
    rows.weighted = nb::cast<bool>(state["weighted"]);
    rows.targets.n_outputs = nb::cast<std::uint32_t>(state["n_outputs"]);
    read_array<std::uint32_t>(state, "n_classes", rows.targets.n_classes);
    const int kind = nb::cast<int>(state["bag"]);
    require(kind >= 0 && kind <= static_cast<int>(BagKind::partition), "A forest remembers an impossible kind of bag.");
    memory.bag_options = {.kind = static_cast<BagKind>(kind),
                          .share = nb::cast<double>(state["share"]),
                          .most_draws = nb::cast<std::size_t>(state["most_draws"]),
                          .seed = nb::cast<std::uint64_t>(state["seed"])};
    memory.first_tree = nb::cast<std::uint64_t>(state["first_tree"]);
    validate(memory);
    memory.prepare_bags();
    return memory;
}

void bind_memory(nb::module_& m) {
    nb::class_<ForestMemory>(m, "ForestMemory", "The training rows with weight, in the forest's own order of places.")
        .def("__getstate__", &state_of_memory)
        .def("__setstate__",
             [](ForestMemory& self, const nb::dict& state) { new (&self) ForestMemory(memory_of_state(state)); })
        .def_prop_ro("n_places", [](const ForestMemory& self) { return self.rows.n_places(); })
        .def_prop_ro("n_table_rows", [](const ForestMemory& self) { return self.rows.n_table_rows; })
        .def_prop_ro("n_outputs", [](const ForestMemory& self) { return self.rows.targets.n_outputs; })
        .def_prop_ro(
            "n_classes",
            [](const ForestMemory& self) { return give(std::vector<std::uint32_t>(self.rows.targets.n_classes)); },
            "Of each output; empty if targets are numbers.", nb::rv_policy::move)
        .def_prop_ro(
            "n_levels", [](const ForestMemory& self) { return give(std::vector<std::int32_t>(self.rows.n_levels)); },
            "Of each feature, 0 if it is numeric.", nb::rv_policy::move)
        .def_prop_ro("first_tree", [](const ForestMemory& self) { return self.first_tree; })
        .def_prop_ro("n_bytes",
                     [](const ForestMemory& self) {
                         return self.rows.table.codes.size() * sizeof(Code) +
                                self.rows.order.size() * sizeof(RowIndex) +
                                (self.rows.targets.value.size() + self.rows.targets.weight.size()) * sizeof(double);
                     })
        .def_prop_ro(
            "rows", [](const ForestMemory& self) { return give(std::vector<RowIndex>(self.rows.order)); },
            "The row of the table at each place.", nb::rv_policy::move)
        .def_prop_ro(
            "targets",
            [](const ForestMemory& self) {
                return give(std::vector<double>(self.rows.targets.value),
                            {self.rows.n_places(), self.rows.targets.n_outputs});
            },
            "By place.", nb::rv_policy::move)
        .def_prop_ro(
            "weight", [](const ForestMemory& self) { return give(std::vector<double>(self.rows.targets.weight)); },
            "By place.", nb::rv_policy::move)
        .def(
            "counts",
            [](const ForestMemory& self, std::uint64_t tree) {
                std::vector<std::uint16_t> counts(self.rows.n_places());
                {
                    const nb::gil_scoped_release unlock;
                    self.bags->draw(self.first_tree + tree, counts);
                }
                return give(std::move(counts));
            },
            nb::arg("tree"), "How often a tree of this fit drew each place.")
        .def(
            "leaves",
            [](const ForestMemory& self, const PackedForest& forest, std::size_t tree, int n_threads) {
                std::vector<std::uint32_t> leaves;
                {
                    const nb::gil_scoped_release unlock;
                    leaves = leaves_of_rows(self, forest, tree, n_threads);
                }
                return give(std::move(leaves));
            },
            nb::arg("forest"), nb::arg("tree"), nb::arg("n_threads"), "The leaf of each place in a tree of the forest.")
        .def(
            "permutation_increases",
            [](const ForestMemory& self, const PackedForest& forest, std::size_t first_tree, std::size_t n_trees,
               std::size_t n_repeats, std::uint64_t seed, int n_threads) {
                std::vector<double> increases;
                {
                    const nb::gil_scoped_release unlock;
                    increases = permutation_increases(self, forest, first_tree, n_trees, n_repeats, seed, n_threads,
                                                      stop_on_keyboard_interrupt());
                }
                return give(std::move(increases), {n_trees, forest.n_features});
            },
            nb::arg("forest"), nb::arg("first_tree"), nb::arg("n_trees"), nb::arg("n_repeats"), nb::arg("seed"),
            nb::arg("n_threads"), "Per tree and feature: what permuting the feature adds to the error out of bag.");
}

std::shared_ptr<ForestTraining> start(const nb::object& values, const Column<std::int32_t>& n_levels,
                                      const Column<double>& target, std::uint32_t n_outputs,
                                      const Column<std::int32_t>& n_classes, const Column<double>& weight,
                                      const ForestOptions& options) {
    const TableView table = view_table(values, n_levels);
    const TargetView targets{
        .value = look(target), .n_outputs = n_outputs, .n_classes = look(n_classes), .weight = look(weight)};
    const nb::gil_scoped_release unlock;
    return std::make_shared<ForestTraining>(table, targets, options, stop_on_keyboard_interrupt());
}

// By row of the table; rows without weight have zeros.
template <class T>
auto by_row(const ForestTraining& training, const std::vector<T>& by_place, std::size_t n_columns) {
    const ForestRows& rows = training.rows();
    std::vector<T> out(rows.n_table_rows * n_columns, T{0});
    for (std::size_t place = 0; place < rows.n_places(); ++place)
        std::copy_n(by_place.begin() + static_cast<std::ptrdiff_t>(place * n_columns), n_columns,
                    out.begin() + static_cast<std::ptrdiff_t>(rows.order[place] * n_columns));
    return give(std::move(out), {rows.n_table_rows, n_columns});
}

}  // namespace

void bind_forest_training(nb::module_& m) {
    bind_options(m);
    bind_memory(m);
    nb::class_<ForestTraining>(m, "ForestTraining", "A forest that grows.")
        .def("__len__", &ForestTraining::n_trees)
        .def(
            "grow",
            [](ForestTraining& self, std::size_t n_trees) {
                const nb::gil_scoped_release unlock;
                self.grow(n_trees, stop_on_keyboard_interrupt());
            },
            nb::arg("n_trees"))
        .def(
            "grow_given",
            [](ForestTraining& self, const Column<std::uint16_t>& counts) {
                const auto given = look(counts);
                const nb::gil_scoped_release unlock;
                self.grow_given(given, stop_on_keyboard_interrupt());
            },
            nb::arg("counts").noconvert(), "A tree for each bag: how often it holds each row, bag after bag.")
        .def(
            "set_factor", [](ForestTraining& self, const Column<double>& by_row) { self.set_factor(look(by_row)); },
            nb::arg("by_row").noconvert(),
            "What the rows count in a tree that drew them, beside their weight, which says how they are drawn.")
        .def(
            "resume_out_of_bag",
            [](ForestTraining& self, const Column<double>& sums, const Column<std::uint32_t>& counts,
               const Column<double>& errors, const std::optional<Column<double>>& totals) {
                self.out_of_bag().resume(self.rows(), look(sums), look(counts), look(errors),
                                         totals ? look(*totals) : std::span<const double>());
            },
            nb::arg("sums").noconvert(), nb::arg("counts").noconvert(), nb::arg("errors").noconvert(),
            nb::arg("totals").noconvert() = nb::none(),
            "Goes on from the out-of-bag sums (flat, row-major), counts and errors of an earlier fit to these rows; "
            "with "
            "its oob_totals, to the last bit.")
        .def(
            "grown_since",
            [](const ForestTraining& self, std::size_t first) {
                const nb::gil_scoped_release unlock;
                auto forest = std::make_shared<PackedForest>(self.rows().n_levels, self.rows().n_columns());
                forest->groups.push_back(self.grown_since(first));
                return forest;
            },
            nb::arg("first"), "A forest of the trees from this number on; growth goes on.")
        .def(
            "take",
            [](ForestTraining& self, const PackedForest& known, const Column<double>& importances,
               const Column<double>& oob_importances) { self.take(known, look(importances), look(oob_importances)); },
            nb::arg("known"), nb::arg("importances").noconvert(), nb::arg("oob_importances").noconvert(),
            "Takes trees, and their importances (flat), that an earlier training on the same rows had grown.")
        .def(
            "finish",
            [](ForestTraining& self) {
                const nb::gil_scoped_release unlock;
                auto forest = std::make_shared<PackedForest>(self.rows().n_levels, self.rows().n_columns());
                forest->groups.push_back(self.finish());
                return forest;
            },
            "The forest; nothing can be grown after this.")
        .def_prop_ro("memory",
                     [](const ForestTraining& self) { return std::const_pointer_cast<ForestMemory>(self.memory()); })
        .def_prop_ro(
            "oob_sums",
            [](const ForestTraining& self) { return by_row(self, self.out_of_bag().sums(), self.rows().n_columns()); },
            "Sums of the predictions of the trees that did not see a row (n_rows, n_columns).", nb::rv_policy::move)
        .def_prop_ro(
            "oob_counts", [](const ForestTraining& self) { return by_row(self, self.out_of_bag().counts(), 1); },
            "How many trees did not see a row (n_rows, 1).", nb::rv_policy::move)
        .def_prop_ro(
            "oob_errors",
            [](const ForestTraining& self) { return give(std::vector<double>(self.out_of_bag().errors())); },
            "After each tree: the share of wrong classes, or the mean squared error.", nb::rv_policy::move)
        .def_prop_ro(
            "oob_totals", [](const ForestTraining& self) { return give(self.out_of_bag().totals()); },
            "The loss and the weight of all rows that some tree did not see.", nb::rv_policy::move)
        .def_prop_ro(
            "importances",
            [](const ForestTraining& self) {
                return give(std::vector<double>(self.importances()), {self.n_trees(), self.rows().n_features()});
            },
            nb::rv_policy::move)
        .def_prop_ro(
            "oob_importances",
            [](const ForestTraining& self) {
                return give(std::vector<double>(self.out_of_bag_importances()),
                            {self.n_trees(), self.rows().n_features()});
            },
            nb::rv_policy::move);
    m.def("start_forest", &start, nb::arg("values"), nb::arg("n_levels"), nb::arg("target").noconvert(),
          nb::arg("n_outputs"), nb::arg("n_classes").noconvert(), nb::arg("weight").noconvert(), nb::arg("options"),
          "Ranks the rows for a forest. `target` is flat, n_outputs per row: numbers, or class codes if `n_classes` "
          "is not empty. An empty `weight` means ones.");
}

}  // namespace coterie::python
