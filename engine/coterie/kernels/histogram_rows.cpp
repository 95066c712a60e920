#include "coterie/kernels/histogram_rows.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "coterie/base/error.hpp"
#include "coterie/base/prefetch.hpp"

namespace coterie {
namespace {

constexpr std::array kStrides = {8, 24, 40, 72, 136, 264};
constexpr std::size_t kFetchDistance = 32;  // rows on their way while others are gathered

// Width and stride are constants, so that one update is one load of a bin and one add to memory.
template <int Width, int Stride>
void add_rows_of(const Bin* bins, std::size_t row_stride, const Cell* amounts, std::size_t n, const FetchAhead& ahead,
                 Cell* cells) {
    const FetchAhead soon = ahead;
    for (std::size_t i = 0; i < n; ++i, bins += row_stride) {
        if (i < soon.n) {
            const Bin* const row = soon.rows + row_of(soon.records[i]) * soon.row_stride;
            prefetch_to_second_cache(row);  // the first is full of cells
            if (soon.last_byte != 0) prefetch_to_second_cache(row + soon.last_byte);
        }
        const Cell amount = amounts[i];
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC unroll 16
#endif
        for (int bundle = 0; bundle < Width; ++bundle) cells[bundle * Stride + bins[bundle]] += amount;
    }
}

template <int Stride, std::size_t... Width>
constexpr std::array<AddRows, kMaxTileWidth> widths(std::index_sequence<Width...>) {
    return {add_rows_of<static_cast<int>(Width) + 1, Stride>...};
}

template <std::size_t... S>
constexpr auto strides(std::index_sequence<S...>) {
    return std::array<std::array<AddRows, kMaxTileWidth>, sizeof...(S)>{
        widths<kStrides[S]>(std::make_index_sequence<kMaxTileWidth>{})...};
}

constexpr auto kLoops = strides(std::make_index_sequence<kStrides.size()>{});

// Copies 16 bytes for each piece: what is too much is overwritten by the next row. Behind the end of a row there may be
// another cache line, which nobody fetched ahead, so the last piece of a row that ends with its line is copied as two
// times 8 bytes: with rows of 64 bytes, gathering waited for that line more than for all others.
template <std::size_t Tiles, bool Counted, bool InLine>
void gather_tiles(const Bin* rows, std::size_t row_stride, const Record* records, std::size_t n, bool cold,
                  const TilePieces& tiles, GatheredBlock& out) {
    std::array<Bin*, Tiles> to;
    for (std::size_t t = 0; t < Tiles; ++t) to[t] = out.bins[t];
    const std::size_t n_fetch = cold ? n : 0;
    for (std::size_t i = 0; i < n; ++i) {
        if (i + kFetchDistance < n_fetch)
            prefetch_to_second_cache(rows + row_of(records[i + kFetchDistance]) * row_stride);
        const Record record = records[i];
        out.amounts[i] = widen<Counted>(pair_of(record));
        const Bin* const row = rows + row_of(record) * row_stride;
        for (std::size_t t = 0; t < Tiles; ++t) {
            if constexpr (InLine) {
                if (t == Tiles - 1) {
                    const std::size_t last = tiles.width[t] - std::size_t{8};
                    std::memcpy(to[t], row + tiles.first[t], 8);
                    std::memcpy(to[t] + last, row + tiles.first[t] + last, 8);
                    to[t] += tiles.width[t];
                    continue;
                }
            }
            std::memcpy(to[t], row + tiles.first[t], 16);
            to[t] += tiles.width[t];
        }
    }
}

using Gather = void (*)(const Bin*, std::size_t, const Record*, std::size_t, bool, const TilePieces&, GatheredBlock&);

template <bool Counted, bool InLine, std::size_t... T>
constexpr std::array<Gather, kMaxTilesOfPanel> gathers(std::index_sequence<T...>) {
    return {gather_tiles<T + 1, Counted, InLine>...};
}

template <bool Counted, bool InLine>
constexpr auto kGathers = gathers<Counted, InLine>(std::make_index_sequence<kMaxTilesOfPanel>{});

}  // namespace

int tile_stride(int n_bins) {
    for (const int stride : kStrides)
        if (stride >= n_bins) return stride;
    throw InvalidInput("A feature may have at most 256 bins.");
}

AddRows add_rows(int width, int stride) {
    for (std::size_t s = 0; s < kStrides.size(); ++s)
        if (kStrides[s] == stride && width >= 1 && width <= kMaxTileWidth)
            return kLoops[s][static_cast<std::size_t>(width) - 1];
    throw InvalidInput("There is no histogram loop for this width and stride.");
}

void widen_pairs(const Pair* pairs, std::size_t n, bool counted, Cell* amounts) {
    if (counted)
        for (std::size_t i = 0; i < n; ++i) amounts[i] = widen<true>(pairs[i]);
    else
        for (std::size_t i = 0; i < n; ++i) amounts[i] = widen<false>(pairs[i]);
}

void gather(const Bin* rows, std::size_t row_stride, const Record* records, std::size_t n, bool counted, bool cold,
            const TilePieces& tiles, GatheredBlock& out) {
    const std::size_t last = tiles.n_tiles - 1;
    const bool in_line = 64 % row_stride == 0 && tiles.first[last] + 16 > row_stride && tiles.width[last] >= 8;
    const auto& loops = counted ? (in_line ? kGathers<true, true> : kGathers<true, false>)
                                : (in_line ? kGathers<false, true> : kGathers<false, false>);
    loops[last](rows, row_stride, records, n, cold, tiles, out);
}

}  // namespace coterie
