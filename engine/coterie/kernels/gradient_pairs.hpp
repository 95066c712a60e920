// kernels/gradient_pairs.hpp: derivatives of rows as small integers, and their sums.
//
// Words
//   record   a row with its derivatives, 64 bits: row in the low half, pair in the high half
//   pair     rounded gradient (int16, high) and hessian (uint16, low) of one row, 32 bits
//   cell     sums of the pairs of one bin in 64 bits. Plain: gradient 32, hessian 32. Counted, for trees of
//            fewer than 2^16 rows: gradient 26, hessian 22, number of rows 16, highest first
#pragma once

#include <cstddef>
#include <cstdint>

#include "coterie/base/types.hpp"

namespace coterie {

using Pair = std::uint32_t;
using Record = std::uint64_t;
using Cell = std::uint64_t;

constexpr RowIndex row_of(Record record) { return static_cast<RowIndex>(record); }
constexpr Pair pair_of(Record record) { return static_cast<Pair>(record >> 32); }
constexpr Record make_record(RowIndex row, Pair pair) { return static_cast<Record>(pair) << 32 | row; }
constexpr Pair make_gradient_pair(std::int32_t gradient, std::uint32_t hessian) {
    return static_cast<Pair>(gradient) << 16 | (hessian & 0xffffu);
}

/// What a pair adds to a cell. The sums of the lower fields stay inside them (boosting/rounded_pairs), so nothing
/// carries over.
template <bool Counted>
constexpr Cell widen(Pair pair) {
    const auto gradient = static_cast<Cell>(static_cast<std::int64_t>(static_cast<std::int16_t>(pair >> 16)));
    const Cell hessian = pair & 0xffffu;
    return Counted ? (gradient << 38) + (hessian << 16) + 1 : (gradient << 32) + hessian;
}

/// The fields of a cell; n is 0 if rows are not counted.
struct Sums {
    std::int32_t gradient;
    std::int32_t hessian;
    std::uint32_t n;
};
constexpr Sums sums_of(Cell cell, bool counted) {
    if (!counted) return {static_cast<std::int32_t>(cell >> 32), static_cast<std::int32_t>(cell), 0};
    return {static_cast<std::int32_t>(cell >> 32) >> 6, static_cast<std::int32_t>(cell >> 16 & 0x3fffffu),
            static_cast<std::uint32_t>(cell & 0xffffu)};
}

}  // namespace coterie
