// bindings/bind_stumps.cpp: Stump, StumpRounds and StumpTable.
#include <nanobind/stl/shared_ptr.h>

#include <algorithm>

#include "arrays.hpp"
#include "bind.hpp"
#include "coterie/boosting/stump_rounds.hpp"
#include "coterie/predict/stump_table.hpp"

namespace coterie::python {
namespace {

Stump make_stump(std::int32_t feature, std::span<const std::uint8_t> right) {
    require(right.size() <= kMaxBins, "A stump has at most 256 bins.");
    require(std::all_of(right.begin(), right.end(), [](std::uint8_t side) { return side <= 1; }),
            "A side is 0 (left) or 1 (right).");
    Stump stump{.feature = feature, .right = {}};
    std::copy(right.begin(), right.end(), stump.right.begin());
    return stump;
}

StumpTable make_table(const nb::list& cuts, std::span<const std::int32_t> n_levels, std::span<const double> votes,
                      std::size_t n_scores) {
    require(cuts.size() == n_levels.size(), "There must be cuts and a number of levels for each feature.");
    std::vector<FeatureBins> features;
    for (std::size_t i = 0; i < n_levels.size(); ++i) {
        const auto own = nb::cast<Column<double>>(cuts[i]);
        const std::span<const double> given = look(own);
        FeatureBins bins{.nominal = n_levels[i] > 0, .n_bins = 1, .cuts = {given.begin(), given.end()}};
        if (bins.nominal)
            bins.n_bins = n_levels[i] + 1;
        else if (n_levels[i] == 0)
            bins.n_bins = static_cast<int>(given.size()) + 2;
        features.push_back(std::move(bins));
    }
    return {std::move(features), {votes.begin(), votes.end()}, n_scores};
}

nb::tuple state_of(const StumpTable& self) {
    nb::list cuts;
    std::vector<std::int32_t> n_levels;
    for (const FeatureBins& feature : self.features()) {
        cuts.append(give(std::vector<double>(feature.cuts)));
        n_levels.push_back(feature.nominal ? feature.n_bins - 1 : feature.n_bins > 1 ? 0 : -1);
    }
    return nb::make_tuple(cuts, give(std::move(n_levels)), give(std::vector<double>(self.votes())), self.n_scores());
}

void bind_rounds(nb::module_& m) {
    nb::class_<StumpRounds>(m, "StumpRounds", "AdaBoost on stumps, round by round.")
        .def(
            "__init__",
            [](StumpRounds* self, std::shared_ptr<BinnedMatrix> matrix, const Column<std::int32_t>& classes,
               std::size_t n_classes, const Column<double>& weight, StumpScore score, int n_threads) {
                const nb::gil_scoped_release unlock;
                new (self) StumpRounds(std::move(matrix), look(classes), n_classes, look(weight), score, n_threads);
            },
            nb::arg("matrix"), nb::arg("classes"), nb::arg("n_classes"), nb::arg("weight"), nb::arg("score"),
            nb::arg("n_threads"), "An empty weight means 1 for every row.")
        .def("find", &StumpRounds::find, nb::call_guard<nb::gil_scoped_release>(),
             "The best stump for the weights as they are.")
        .def(
            "find_for",
            [](const StumpRounds& self, const Column<double>& weights) {
                const nb::gil_scoped_release unlock;
                return self.find_for(look(weights));
            },
            nb::arg("weights"), "The best stump for other weights.")
        .def(
            "sums", [](const StumpRounds& self, const Stump& stump) { return give(self.sums(stump)); },
            nb::arg("stump"), "The weight of each class on the left, then on the right.")
        .def(
            "count",
            [](StumpRounds& self, const Stump& stump, const Column<double>& factors, const Column<double>& votes) {
                RoundTotals totals;
                {
                    const nb::gil_scoped_release unlock;
                    totals = self.count(stump, {.factors = look(factors), .votes = look(votes)});
                }
                return nb::make_tuple(totals.weight, totals.exponent, totals.wrong_weight);
            },
            nb::arg("stump"), nb::arg("factors"), nb::arg("votes"),
            "Multiplies weights and adds to scores. Returns the sum of the weights, the power of two that it is to be "
            "multiplied with, and the first weights of the rows that are wrong.")
        .def(
            "weights", [](const StumpRounds& self) { return give(std::vector<double>(self.weights())); },
            "The weights as they are, in units of their own.");
}

void bind_table(nb::module_& m) {
    nb::class_<StumpTable>(m, "StumpTable", "All stumps of a model as one table: what each bin adds to the scores.")
        .def(
            "__init__",
            [](StumpTable* self, const nb::list& cuts, const Column<std::int32_t>& n_levels,
               const Column<double>& votes, std::size_t n_scores) {
                new (self) StumpTable(make_table(cuts, look(n_levels), look(votes), n_scores));
            },
            nb::arg("cuts"), nb::arg("n_levels"), nb::arg("votes"), nb::arg("n_scores"),
            "Levels of each feature: 0 for a numeric one, -1 for one that no stump splits on. Votes: what every row "
            "has, then those of each bin of each feature, the missing bin first.")
        .def(
            "scores",
            [](const StumpTable& self, const nb::object& values, const Column<std::int32_t>& n_levels,
               Output<double> out, int n_threads) {
                const TableView table = view_table(values, n_levels);
                const nb::gil_scoped_release unlock;
                self.scores(table, look(out), n_threads, stop_on_keyboard_interrupt());
            },
            nb::arg("values"), nb::arg("n_levels"), nb::arg("out").noconvert(), nb::arg("n_threads"),
            "Fills `out` with the scores of each row.")
        .def("__getstate__", &state_of)
        .def("__setstate__", [](StumpTable& self, const nb::tuple& state) {
            const auto n_levels = nb::cast<Column<std::int32_t>>(state[1]);
            const auto votes = nb::cast<Column<double>>(state[2]);
            new (&self) StumpTable(
                make_table(nb::cast<nb::list>(state[0]), look(n_levels), look(votes), nb::cast<std::size_t>(state[3])));
        });
}

}  // namespace

void bind_stumps(nb::module_& m) {
    nb::enum_<StumpScore>(m, "StumpScore", "What the best stump is best at.")
        .value("error", StumpScore::error)
        .value("gini", StumpScore::gini)
        .value("exponential", StumpScore::exponential);

    nb::class_<Stump>(m, "Stump", "A feature, and the side of each of its bins.")
        .def(
            "__init__",
            [](Stump* self, std::int32_t feature, const Column<std::uint8_t>& right) {
                new (self) Stump(make_stump(feature, look(right)));
            },
            nb::arg("feature"), nb::arg("right"), "Feature -1: every row is on the left.")
        .def_ro("feature", &Stump::feature)
        .def(
            "right",
            [](const Stump& self) { return give(std::vector<std::uint8_t>(self.right.begin(), self.right.end())); },
            "For each of 256 bins, the missing bin first, whether it is on the right.");
    bind_rounds(m);
    bind_table(m);
}

}  // namespace coterie::python
