// binning/bin_edges.hpp: where to cut a numeric feature into bins.
//
// Words
//   sample   the rows that decide: all of a small table, else those whose hashed number is small, so that the slices
//            of several workers together have the sample of the whole table
//   heavy    a value with at least the mass of an average bin; it gets a bin of its own
//   cut      a number between two neighbouring values; rows with value <= cut lie below it
#pragma once

#include <span>
#include <vector>

#include "coterie/base/column_view.hpp"

namespace coterie {

/// A distinct value of the sample with the weight of its rows.
struct WeightedValue {
    double value;
    double weight;
};

/// Rows [first_row, first_row + n_rows) of a table of n_total.
struct TableSlice {
    std::size_t n_rows = 0;
    std::uint64_t first_row = 0;
    std::uint64_t n_total = 0;
};

/// Rows of the slice that decide the cuts, counted from its first; weightless rows are left out. All rows of a table of
/// up to 100,000, else about 65,536.
std::vector<RowIndex> sample_rows(const TableSlice& slice, std::span<const double> weight, std::uint64_t seed);

/// Distinct values, ascending, missing values left out; `weight` has one entry per value or is empty. `narrow`
/// says that every value is exact as a float.
std::vector<WeightedValue> distinct_values(std::span<const double> values, std::span<const double> weight, bool narrow);

/// At most max_bins - 1 cuts that share the mass evenly; every distinct value has its own bin if they are few.
std::vector<double> choose_cuts(std::span<const WeightedValue> values, int max_bins);

/// The number halfway between two neighbours, never rounded up to the higher one.
double between(double low, double high);

}  // namespace coterie
