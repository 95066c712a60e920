// boosting/rounded_pairs.hpp: derivatives as small integers, so that sums are exact and their order is free.
//
// Scales are as fine as 16 bits per row and the fields of a cell allow. Rounding is random and right on average,
// keyed by (seed, position among the rows that the tree sees), so threads do not change it; another sample does.
#pragma once

#include <span>
#include <vector>

#include "coterie/base/buffer.hpp"
#include "coterie/split/split.hpp"

namespace coterie {

/// Rounds the derivatives of the rows that a tree sees; an empty hessian means 1 for every row. Cells that count rows
/// have smaller fields. Returns the units of the rounded numbers.
Units round_all_pairs(std::span<const float> gradient, std::span<const float> hessian, bool counted, std::uint64_t seed,
                      int n_threads, Buffer<Pair>& pairs);

/// The same for several gradients of each row, which have one unit, and one hessian, which is rounded alike for all.
Units round_joint_pairs(std::span<const std::span<const float>> gradients, std::span<const float> hessian, bool counted,
                        std::uint64_t seed, int n_threads, std::vector<Buffer<Pair>>& pairs);

}  // namespace coterie
