// kernels/histogram_rows.hpp: adding rows to the cells of a tile of features: the hottest loop of all.
//
// Words
//   tile     a few neighbouring features whose cells fit the first-level cache together
//   stride   cells from one feature's histogram to the next; an odd number of cache lines, because a power
//            of two maps equal bins of all features to one cache set (8 times slower on zero-inflated data)
#pragma once

#include "coterie/kernels/kernels.hpp"

namespace coterie {

inline constexpr int kMaxTileWidth = 10;

/// Rows to add: those of `records`, or rows [begin, end) themselves if records is null.
struct HistogramRows {
    const Bin* bins;  // of the tile's first feature, row 0
    std::size_t row_stride;
    const Record* records;
    const Pair* pairs;  // used when records is null
    std::size_t begin;
    std::size_t end;
    std::size_t prefetch_begin;  // records whose bins will be needed soon
    std::size_t prefetch_end;
};

using AddRows = void (*)(const HistogramRows& rows, Cell* cells);

/// The least stride in cells that holds n_bins: one of a few odd numbers of cache lines.
int tile_stride(int n_bins);

/// The loop for a tile of `width` features (1 .. kMaxTileWidth) with a stride from tile_stride, and cells that
/// count rows or do not.
AddRows add_rows(int width, int stride, bool counted);

}  // namespace coterie
