// kernels/generic/binning.cpp: what mapping values to bins means, in loops of sixteen that compilers turn into vectors.
#include "coterie/kernels/binning.hpp"

#include <cstring>
#include <type_traits>

namespace coterie::generic {
namespace {

// As wide as the values, so that a comparison of a vector counts in lanes of the same width. Of doubles, doubles: SSE2
// cannot choose among whole numbers of 64 bits.
template <class Float>
using Count = std::conditional_t<sizeof(Float) == 4, std::int32_t, double>;

template <class Float>
int count_below(const Float* cuts, Float value) {
    Count<Float> lanes[4] = {};
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC unroll 1  // or else it is unrolled before it could become vectors
#endif
    for (int k = 0; k < 16; k += 4)
        for (int lane = 0; lane < 4; ++lane) lanes[lane] += cuts[k + lane] < value ? Count<Float>{1} : Count<Float>{0};
    return static_cast<int>((lanes[0] + lanes[1]) + (lanes[2] + lanes[3]));
}

template <class Float>
void map_values(const std::byte* data, std::ptrdiff_t stride, std::size_t n, const CutTable<Float>& table, Bin* out) {
    const bool search = table.n_cuts > 16;
    for (std::size_t i = 0; i < n; ++i, data += stride) {
        Float value;
        std::memcpy(&value, data, sizeof(Float));
        const int coarse = search ? 16 * count_below(table.pivots, value) : 0;
        const int bin = coarse + count_below(table.cuts + coarse, value) + 1;
        out[i] = value == value ? static_cast<Bin>(bin) : kMissingBin;
    }
}

constexpr std::size_t kSquare = kStripFeatures * kStripFeatures;

// Rows become columns: each of four rounds is a perfect shuffle of the bytes.
void transpose(Bin (&square)[kSquare]) {
    for (int round = 0; round < 4; ++round) {
        Bin next[kSquare];
        for (std::size_t i = 0; i < kSquare / 2; ++i) {
            next[2 * i] = square[i];
            next[2 * i + 1] = square[i + kSquare / 2];
        }
        std::memcpy(square, next, kSquare);
    }
}

template <class Float>
void map_row(const std::byte* row, const StripCuts<Float>& cuts, Bin* out) {
    Float values[kStripFeatures];
    std::memcpy(values, row, sizeof(values));
    Count<Float> bins[kStripFeatures];
    for (std::size_t k = 0; k < kStripFeatures; ++k)
        bins[k] = values[k] == values[k] ? Count<Float>{1} : Count<Float>{0};
    for (std::size_t j = 0; j < cuts.n_cuts; ++j)
        for (std::size_t k = 0; k < kStripFeatures; ++k)
            bins[k] += cuts.cuts[j][k] < values[k] ? Count<Float>{1} : Count<Float>{0};
    for (std::size_t k = 0; k < kStripFeatures; ++k) out[k] = static_cast<Bin>(static_cast<std::int32_t>(bins[k]));
}

template <class Float>
void map_strip(const std::byte* rows, std::ptrdiff_t stride, std::size_t n, const StripCuts<Float>& cuts,
               std::size_t out_stride, Bin* out) {
    for (std::size_t first = 0; first < n; first += kStripFeatures) {
        alignas(16) Bin square[kSquare];
        for (std::size_t i = 0; i < kStripFeatures; ++i) {
            const std::size_t row = first + i < n ? first + i : n - 1;
            map_row(rows + static_cast<std::ptrdiff_t>(row) * stride, cuts, square + i * kStripFeatures);
        }
        transpose(square);
        for (std::size_t k = 0; k < kStripFeatures; ++k)
            std::memcpy(out + k * out_stride + first, square + k * kStripFeatures, kStripFeatures);
    }
}

}  // namespace

BinningKernels binning_kernels() {
    return {.map_float = map_values<float>,
            .map_double = map_values<double>,
            .map_strip_float = map_strip<float>,
            .map_strip_double = map_strip<double>};
}

}  // namespace coterie::generic
