// kernels/neon/binning.cpp: comparisons of a value with sixteen cuts are added up in registers, without the loops and
// the scalar sums that compilers make of generic/. Of a strip, the bins of sixteen rows become columns by shuffles
// alone.
#include "coterie/kernels/binning.hpp"

#if defined(COTERIE_HAS_NEON)

#include <arm_neon.h>

#include <cstring>

namespace coterie::neon {
namespace {

// A vector of values: a comparison is minus one in each lane that passes, as wide as the value.
float32x4_t load(const float* values) { return vld1q_f32(values); }
float64x2_t load(const double* values) { return vld1q_f64(values); }
float32x4_t wide(float value) { return vdupq_n_f32(value); }
float64x2_t wide(double value) { return vdupq_n_f64(value); }
int32x4_t below(float32x4_t cuts, float32x4_t values) { return vreinterpretq_s32_u32(vcltq_f32(cuts, values)); }
int64x2_t below(float64x2_t cuts, float64x2_t values) { return vreinterpretq_s64_u64(vcltq_f64(cuts, values)); }
int32x4_t add(int32x4_t a, int32x4_t b) { return vaddq_s32(a, b); }
int64x2_t add(int64x2_t a, int64x2_t b) { return vaddq_s64(a, b); }
int sum(int32x4_t lanes) { return vaddvq_s32(lanes); }
int sum(int64x2_t lanes) { return static_cast<int>(vaddvq_s64(lanes)); }

template <class Float>
constexpr std::size_t kLanes = 16 / sizeof(Float);

// Of n cuts, a multiple of four vectors. Two sums, which need not wait for each other.
template <std::size_t n, class Float>
int count_below(const Float* cuts, Float value) {
    constexpr std::size_t kPart = kLanes<Float>;
    const auto values = wide(value);
    auto even = below(load(cuts), values);
    auto odd = below(load(cuts + kPart), values);
    for (std::size_t k = 2 * kPart; k < n; k += 2 * kPart) {
        even = add(even, below(load(cuts + k), values));
        odd = add(odd, below(load(cuts + k + kPart), values));
    }
    return -sum(add(even, odd));
}

template <class Float, class CountBelow>
void map_by(const std::byte* data, std::ptrdiff_t stride, std::size_t n, Bin* out, CountBelow count_below) {
    for (std::size_t i = 0; i < n; ++i, data += stride) {
        Float value;
        std::memcpy(&value, data, sizeof(Float));
        const int bin = count_below(value) + 1;
        out[i] = static_cast<Bin>(value == value ? bin : int{kMissingBin});
    }
}

template <class Float>
void map_values(const std::byte* data, std::ptrdiff_t stride, std::size_t n, const CutTable<Float>& table, Bin* out) {
    if (table.n_cuts <= 8)
        return map_by<Float>(data, stride, n, out, [&](Float value) { return count_below<8>(table.cuts, value); });
    if (table.n_cuts <= 16)
        return map_by<Float>(data, stride, n, out, [&](Float value) { return count_below<16>(table.cuts, value); });
    map_by<Float>(data, stride, n, out, [&](Float value) {
        const int coarse = 16 * count_below<16>(table.pivots, value);
        return coarse + count_below<16>(table.cuts + coarse, value);
    });
}

// A part of a row's values. Nothing is known of their alignment.
float32x4_t load_part(const std::byte* values, float) {
    return vreinterpretq_f32_u8(vld1q_u8(reinterpret_cast<const std::uint8_t*>(values)));
}
float64x2_t load_part(const std::byte* values, double) {
    return vreinterpretq_f64_u8(vld1q_u8(reinterpret_cast<const std::uint8_t*>(values)));
}

// One more than the number of cuts below, negated as below() is; 0 where a value is missing.
int32x4_t known_bins(int32x4_t counts, float32x4_t values) {
    return vandq_s32(vsubq_s32(counts, vdupq_n_s32(1)), vreinterpretq_s32_u32(vceqq_f32(values, values)));
}
int64x2_t known_bins(int64x2_t counts, float64x2_t values) {
    return vandq_s64(vsubq_s64(counts, vdupq_n_s64(1)), vreinterpretq_s64_u64(vceqq_f64(values, values)));
}

// The lowest byte of each of sixteen negated lanes.
uint8x16_t bytes_of(const int32x4_t (&parts)[4]) {
    const auto halves = [](int32x4_t low, int32x4_t high) {
        return vuzp1q_s16(vreinterpretq_s16_s32(low), vreinterpretq_s16_s32(high));
    };
    const int16x8_t low = halves(parts[0], parts[1]);
    const int16x8_t high = halves(parts[2], parts[3]);
    return vreinterpretq_u8_s8(vnegq_s8(vuzp1q_s8(vreinterpretq_s8_s16(low), vreinterpretq_s8_s16(high))));
}
uint8x16_t bytes_of(const int64x2_t (&parts)[8]) {
    int32x4_t narrow[4];
    for (std::size_t i = 0; i < 4; ++i)
        narrow[i] = vuzp1q_s32(vreinterpretq_s32_s64(parts[2 * i]), vreinterpretq_s32_s64(parts[2 * i + 1]));
    return bytes_of(narrow);
}

template <class Float>
uint8x16_t bins_of_row(const std::byte* row, const StripCuts<Float>& cuts) {
    constexpr std::size_t kParts = kStripFeatures / kLanes<Float>;
    using Values = decltype(wide(Float{}));
    using Counts = decltype(below(Values{}, Values{}));
    Values values[kParts];
    Counts counts[kParts];
    for (std::size_t part = 0; part < kParts; ++part) {
        values[part] = load_part(row + part * sizeof(Values), Float{});
        counts[part] = Counts{};
    }
    for (std::size_t j = 0; j < cuts.n_cuts; ++j)
        for (std::size_t part = 0; part < kParts; ++part)
            counts[part] = add(counts[part], below(load(cuts.cuts[j] + part * kLanes<Float>), values[part]));
    for (std::size_t part = 0; part < kParts; ++part) counts[part] = known_bins(counts[part], values[part]);
    return bytes_of(counts);
}

// Rows become columns: each of four rounds is a perfect shuffle of the bytes.
void transpose(uint8x16_t (&square)[16]) {
    for (int round = 0; round < 4; ++round) {
        uint8x16_t next[16];
        for (int i = 0; i < 8; ++i) {
            next[2 * i] = vzip1q_u8(square[i], square[i + 8]);
            next[2 * i + 1] = vzip2q_u8(square[i], square[i + 8]);
        }
        for (int i = 0; i < 16; ++i) square[i] = next[i];
    }
}

template <class Float>
void map_strip(const std::byte* rows, std::ptrdiff_t stride, std::size_t n, const StripCuts<Float>& cuts,
               std::size_t out_stride, Bin* out) {
    for (std::size_t first = 0; first < n; first += kStripFeatures) {
        uint8x16_t square[kStripFeatures];
        for (std::size_t i = 0; i < kStripFeatures; ++i) {
            const std::size_t row = first + i < n ? first + i : n - 1;
            square[i] = bins_of_row(rows + static_cast<std::ptrdiff_t>(row) * stride, cuts);
        }
        transpose(square);
        for (std::size_t k = 0; k < kStripFeatures; ++k) vst1q_u8(out + k * out_stride + first, square[k]);
    }
}

}  // namespace

BinningKernels binning_kernels() {
    return {.map_float = map_values<float>,
            .map_double = map_values<double>,
            .map_strip_float = map_strip<float>,
            .map_strip_double = map_strip<double>};
}

}  // namespace coterie::neon

#endif
