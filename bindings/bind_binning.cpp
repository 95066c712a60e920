// bindings/bind_binning.cpp: BinMapper and BinnedMatrix.
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "arrays.hpp"
#include "bind.hpp"
#include "communicator.hpp"
#include "coterie/binning/bin_edges.hpp"
#include "coterie/binning/binned_matrix.hpp"

namespace coterie::python {
namespace {

// Storage that a Python function returns: a writable array of exactly so many bytes.
BinAllocator bins_in(nb::object memory) {
    return [held = std::make_shared<nb::object>(std::move(memory))](std::size_t n_bytes) -> BinStorage {
        const nb::gil_scoped_acquire hold;
        nb::object array = (*held)(n_bytes);
        Output<Bin> bins;
        require(nb::try_cast(array, bins, false) && bins.shape(0) == n_bytes,
                "The memory for bins must be a writable array of uint8, of the length that it was called with.");
        return {keep(std::move(array)), bins.data()};
    };
}

// Feature after feature.
std::vector<Bin> bins_of(const BinMapper& mapper, const TableView& table) {
    constexpr std::size_t kBlock = 256;  // the most rows that a mapper takes at once
    require(table.columns.size() == mapper.features().size(), "The bins were made for another number of columns.");
    const nb::gil_scoped_release unlock;
    std::vector<Bin> bins(table.columns.size() * table.n_rows);
    for (std::size_t feature = 0; feature < table.columns.size(); ++feature)
        for (std::size_t begin = 0; begin < table.n_rows; begin += kBlock)
            mapper.map(static_cast<FeatureIndex>(feature), table.columns[feature], begin,
                       std::min(kBlock, table.n_rows - begin), bins.data() + feature * table.n_rows + begin);
    return bins;
}

}  // namespace

void bind_binning(nb::module_& m) {
    nb::class_<BinMapper>(m, "BinMapper", "How each feature's values become bins.")
        .def_static(
            "fit",
            [](const nb::object& values, const Column<std::int32_t>& n_levels, const Column<double>& weight,
               int max_bins, std::uint64_t seed, int n_threads) {
                const TableView table = view_table(values, n_levels);
                const nb::gil_scoped_release unlock;
                return std::make_shared<BinMapper>(
                    BinMapper::fit(table, look(weight), max_bins, seed, n_threads, stop_on_keyboard_interrupt()));
            },
            nb::arg("values"), nb::arg("n_levels"), nb::arg("weight"), nb::arg("max_bins"), nb::arg("seed"),
            nb::arg("n_threads"), "Chooses the cuts; an empty weight means 1 for every row.")
        .def_static(
            "from_cuts",
            [](const std::vector<std::vector<double>>& cuts, const Column<std::int32_t>& n_levels) {
                return std::make_shared<BinMapper>(BinMapper::from_cuts(cuts, look(n_levels)));
            },
            nb::arg("cuts"), nb::arg("n_levels"),
            "Bins by cuts that were chosen elsewhere: ascending numbers for each feature, none for a nominal one, "
            "which "
            "has so many levels.")
        .def_static(
            "sample",
            [](std::size_t n_rows, std::uint64_t first_row, std::uint64_t n_total, const Column<double>& weight,
               std::uint64_t seed) {
                require(look(weight).empty() || look(weight).size() == n_rows,
                        "The weights differ in length from the table.");
                return give(
                    sample_rows({.n_rows = n_rows, .first_row = first_row, .n_total = n_total}, look(weight), seed));
            },
            nb::arg("n_rows"), nb::arg("first_row"), nb::arg("n_total"), nb::arg("weight"), nb::arg("seed"),
            "The rows of a slice that decide the cuts of a table of n_total rows, of which the slice begins at "
            "first_row. "
            "The samples of all slices together, in their order, give `fit` the cuts of the whole table.")
        .def(
            "bins",
            [](const BinMapper& self, const nb::object& values, const Column<std::int32_t>& n_levels) {
                const TableView table = view_table(values, n_levels);
                return give(bins_of(self, table), {table.columns.size(), table.n_rows});
            },
            nb::arg("values"), nb::arg("n_levels"), "The bins of a table, a row of the array for each feature.")
        .def(
            "n_bins",
            [](const BinMapper& self) {
                std::vector<std::int32_t> n;
                for (const FeatureBins& feature : self.features()) n.push_back(feature.n_bins);
                return give(std::move(n));
            },
            "Bins of each feature, the missing bin included.")
        .def(
            "cuts",
            [](const BinMapper& self, std::size_t feature) {
                require(feature < self.features().size(), "There is no feature of this number.");
                return give(std::vector<double>(self.features()[feature].cuts));
            },
            nb::arg("feature"), "Ascending cuts of a numeric feature; values <= cuts[b - 1] have bin <= b.");

    nb::class_<BinnedMatrix>(m, "BinnedMatrix", "The table as bins, in rows and in columns.")
        .def(
            "__init__",
            [](BinnedMatrix* self, const nb::object& values, const Column<std::int32_t>& n_levels,
               std::shared_ptr<BinMapper> mapper, int n_threads) {
                const TableView table = view_table(values, n_levels);
                const nb::gil_scoped_release unlock;
                new (self) BinnedMatrix(table, std::move(mapper), n_threads, stop_on_keyboard_interrupt());
            },
            nb::arg("values"), nb::arg("n_levels"), nb::arg("mapper"), nb::arg("n_threads"))
        .def_prop_ro("n_rows", &BinnedMatrix::n_rows)
        .def_prop_ro("n_features", &BinnedMatrix::n_features)
        .def(
            "column",
            [](const BinnedMatrix& self, std::size_t feature) {
                require(feature < self.n_features(), "There is no feature of this number.");
                const Bin* column = self.column(static_cast<FeatureIndex>(feature));
                return give(std::vector<Bin>(column, column + self.n_rows()));
            },
            nb::arg("feature"), "A copy of one feature's bins.");

    nb::class_<BinnedMatrixBuilder>(m, "BinnedMatrixBuilder", "Makes a BinnedMatrix of a table that comes in batches.")
        .def(
            "__init__",
            [](BinnedMatrixBuilder* self, std::shared_ptr<BinMapper> mapper, std::size_t n_rows, int n_threads,
               nb::object memory) {
                new (self) BinnedMatrixBuilder(std::move(mapper), n_rows, n_threads,
                                               memory.is_none() ? bins_in_memory : bins_in(std::move(memory)));
            },
            nb::arg("mapper"), nb::arg("n_rows"), nb::arg("n_threads"), nb::arg("memory") = nb::none(),
            "`memory` is called with numbers of bytes and returns arrays of uint8 for the bins, such as mapped files; "
            "without it they are in memory.")
        .def_prop_ro("n_appended", &BinnedMatrixBuilder::n_appended)
        .def(
            "append",
            [](BinnedMatrixBuilder& self, const nb::object& values, const Column<std::int32_t>& n_levels) {
                const TableView batch = view_table(values, n_levels);
                const nb::gil_scoped_release unlock;
                self.append(batch, stop_on_keyboard_interrupt());
            },
            nb::arg("values"), nb::arg("n_levels"), "The next rows.")
        .def(
            "append_bins",
            [](BinnedMatrixBuilder& self, const std::vector<Column<Bin>>& columns, std::size_t n_rows) {
                std::vector<const Bin*> bins;
                for (const Column<Bin>& column : columns) {
                    require(column.shape(0) == n_rows, "There must be a bin for each row.");
                    bins.push_back(column.data());
                }
                const nb::gil_scoped_release unlock;
                self.append_bins(bins, n_rows, stop_on_keyboard_interrupt());
            },
            nb::arg("columns"), nb::arg("n_rows"),
            "The next rows, which were binned elsewhere with the same cuts: a column of uint8 for each feature.")
        .def(
            "finish",
            [](BinnedMatrixBuilder& self, PythonCommunicator* communicator, std::uint64_t first_row) {
                const nb::gil_scoped_release unlock;
                return self.finish(stop_on_keyboard_interrupt(), slice_of(communicator, first_row));
            },
            nb::arg("communicator") = nb::none(), nb::arg("first_row") = 0,
            "The matrix of all rows; no batch comes after that. Workers agree on how the matrix is laid out.");
}

}  // namespace coterie::python
