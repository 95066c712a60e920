// forest/row_numbers.hpp: a random number for each row that follows from what the row holds.
//
// A target for trees that have none: rows that are alike have the same number, wherever they stand and however often,
// so that a row of weight 2 stays the same as the row twice.
#pragma once

#include <span>

#include "coterie/base/column_view.hpp"

namespace coterie {

/// Numbers in [0, 1), one for each row.
void row_numbers(const TableView& table, std::span<double> numbers, int n_threads);

}  // namespace coterie
