// boosting/rounded_pairs.hpp: derivatives as small integers, so that sums are exact and their order is free.
//
// Scales are as fine as 16 bits per row and the fields of a cell allow. They come from maxima and from sums of whole
// numbers over the rows of all workers. Rounding is random and right on average, keyed by the seed and the number of
// the row in the whole table: neither threads nor slices nor the rows beside it change what a row is rounded to.
#pragma once

#include <span>
#include <vector>

#include "coterie/base/buffer.hpp"
#include "coterie/base/communicator.hpp"
#include "coterie/boosting/derivative_sizes.hpp"
#include "coterie/split/split.hpp"

namespace coterie {

inline constexpr std::size_t kCountedBelow = 65'536;  // rows that the 16 bits of a counted cell can count

struct Rounded {
    Units units;
    DerivativeSizes sizes;
    bool counted = false;  // cells count rows, as there are few; their fields are smaller
};

/// The rows that a tree sees: their derivatives, one after the other, and their numbers.
struct SeenRows {
    std::span<const std::span<const float>> gradients;  // one or several
    std::span<const float> hessian;                     // empty: 1 for every row
    std::span<const RowIndex> rows;                     // empty: 0, 1, ...
};

/// Rounds the derivatives, whose sizes over all workers are known: pairs[k] are those of gradient k. Gradients have one
/// unit, and the hessian of a row is rounded alike for all.
Rounded round_pairs(const SeenRows& rows, const DerivativeSizes& sizes, std::uint64_t seed, const Slice& slice,
                    int n_threads, std::span<Buffer<Pair>> pairs);

}  // namespace coterie
