// kernels/histogram_rows.hpp: adding rows to the cells of a tile of features: the hottest loop of all.
//
// Words
//   tile     a few neighbouring bundles whose cells fit the first-level cache together
//   stride   cells from one bundle's histogram to the next; an odd number of cache lines, because a power
//            of two maps equal bins of all features to one cache set (8 times slower on zero-inflated data)
//   amount   what a row adds to a cell: its pair, widened once for all tiles
//   block    rows that are taken tile after tile while they are in the cache. The rows of a node are far apart, so
//            their bins are first gathered, each tile's next to one another: a tile then reads 10 bytes a row,
//            where it would have dragged a whole line through the first-level cache and the cells out of it
#pragma once

#include "coterie/kernels/kernels.hpp"

namespace coterie {

inline constexpr int kMaxTileWidth = 14;
inline constexpr std::size_t kMaxTilesOfPanel = 5;
inline constexpr std::size_t kMaxBlockRows = 512;
inline constexpr std::size_t kGatherSlack = 16;  // gathering copies 16 bytes, whatever the width

/// Rows to fetch into the second-level cache meanwhile: those of n records, of a panel that starts at `rows`.
struct FetchAhead {
    const Record* records = nullptr;
    std::size_t n = 0;
    const Bin* rows = nullptr;
    std::size_t row_stride = 0;
    std::size_t last_byte = 0;  // of the row, if it may be in another line than the first; else 0
};

/// Adds amounts[i] to the cells of row i, for n rows whose bins start row_stride bytes apart.
using AddRows = void (*)(const Bin* bins, std::size_t row_stride, const Cell* amounts, std::size_t n,
                         const FetchAhead& ahead, Cell* cells);

/// The least stride in cells that holds n_bins: one of a few odd numbers of cache lines.
int tile_stride(int n_bins);

/// The loop for a tile of `width` bundles (1 .. kMaxTileWidth) with a stride from tile_stride.
AddRows add_rows(int width, int stride);

/// Amounts of n rows with these pairs, or of n records.
void widen_pairs(const Pair* pairs, std::size_t n, bool counted, Cell* amounts);

/// The tiles of a panel, as pieces of its rows.
struct TilePieces {
    std::size_t n_tiles = 0;
    std::uint32_t first[kMaxTilesOfPanel];  // byte of the row
    std::uint32_t width[kMaxTilesOfPanel];
};

/// One block of records: amounts, and the bins of tile t at bins[t], width[t] bytes a row.
struct GatheredBlock {
    alignas(64) Cell amounts[kMaxBlockRows];
    alignas(64) Bin bins[kMaxTilesOfPanel][kMaxBlockRows * kMaxTileWidth + kGatherSlack];
};

/// Gathers n <= kMaxBlockRows records. Rows of the panel start at `rows`, and 16 bytes behind its end can be read.
/// `cold`: nobody fetched them ahead.
void gather(const Bin* rows, std::size_t row_stride, const Record* records, std::size_t n, bool counted, bool cold,
            const TilePieces& tiles, GatheredBlock& out);

}  // namespace coterie
