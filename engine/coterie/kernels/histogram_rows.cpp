#include "coterie/kernels/histogram_rows.hpp"

#include <array>
#include <utility>

#include "coterie/base/error.hpp"

namespace coterie {
namespace {

constexpr std::array kStrides = {8, 24, 40, 72, 136, 264};

inline void prefetch(const void* address) {
#if defined(__GNUC__) || defined(__clang__)
    __builtin_prefetch(address);
#else
    static_cast<void>(address);
#endif
}

// Width and stride are constants, so that one update is one load of a bin and one add to memory.
template <int Width, int Stride>
[[gnu::always_inline]] inline void add_row(const Bin* bins, Cell amount, Cell* cells) {
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC unroll 16
#endif
    for (int feature = 0; feature < Width; ++feature) cells[feature * Stride + bins[feature]] += amount;
}

template <int Width, int Stride, bool Counted>
void add_rows_of(const HistogramRows& rows, Cell* cells) {
    const Bin* const bins = rows.bins;
    const std::size_t row_stride = rows.row_stride;
    if (rows.records == nullptr) {
        const Pair* const pairs = rows.pairs;
        for (std::size_t row = rows.begin; row < rows.end; ++row)
            add_row<Width, Stride>(bins + row * row_stride, widen<Counted>(pairs[row]), cells);
        return;
    }
    const Record* const records = rows.records;
    std::size_t soon = rows.prefetch_begin;
    const std::size_t soon_end = rows.prefetch_end;
    for (std::size_t i = rows.begin; i < rows.end; ++i) {
        if (soon < soon_end) prefetch(bins + row_of(records[soon++]) * row_stride);
        const Record record = records[i];
        add_row<Width, Stride>(bins + row_of(record) * row_stride, widen<Counted>(pair_of(record)), cells);
    }
}

template <int Stride, bool Counted, std::size_t... Width>
constexpr std::array<AddRows, kMaxTileWidth> widths(std::index_sequence<Width...>) {
    return {add_rows_of<static_cast<int>(Width) + 1, Stride, Counted>...};
}

template <bool Counted, std::size_t... S>
constexpr auto strides(std::index_sequence<S...>) {
    return std::array<std::array<AddRows, kMaxTileWidth>, sizeof...(S)>{
        widths<kStrides[S], Counted>(std::make_index_sequence<kMaxTileWidth>{})...};
}

constexpr auto kPlain = strides<false>(std::make_index_sequence<kStrides.size()>{});
constexpr auto kCounted = strides<true>(std::make_index_sequence<kStrides.size()>{});

}  // namespace

int tile_stride(int n_bins) {
    for (const int stride : kStrides)
        if (stride >= n_bins) return stride;
    throw InvalidInput("A feature may have at most 256 bins.");
}

AddRows add_rows(int width, int stride, bool counted) {
    for (std::size_t s = 0; s < kStrides.size(); ++s)
        if (kStrides[s] == stride && width >= 1 && width <= kMaxTileWidth)
            return (counted ? kCounted : kPlain)[s][static_cast<std::size_t>(width) - 1];
    throw InvalidInput("There is no histogram loop for this width and stride.");
}

}  // namespace coterie
