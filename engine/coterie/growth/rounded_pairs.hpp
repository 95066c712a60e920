// growth/rounded_pairs.hpp: derivatives as small integers, so that sums are exact and their order is free.
//
// Scales are as fine as 16 bits per row and the fields of a cell allow. Rounding is random and right on average,
// keyed by (seed, row), so neither threads nor workers change it.
#pragma once

#include <span>

#include "coterie/base/buffer.hpp"
#include "coterie/split/split.hpp"

namespace coterie {

/// Rounds each row's derivatives; an empty hessian means 1 for every row. Rows that do not take part must hold
/// zeros. Cells that count rows have smaller fields. Returns the units of the rounded numbers.
Units round_all_pairs(std::span<const float> gradient, std::span<const float> hessian, std::size_t n_taking_part,
                      bool counted, std::uint64_t seed, int n_threads, Buffer<Pair>& pairs);

}  // namespace coterie
