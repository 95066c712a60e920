// kernels/avx2/binning.cpp: a value is compared with 16 pivots, then with the 16 cuts behind the pivot; those below are
// counted. Of a strip, the values of a row are compared with the first cut of each feature, then with the second; the
// bins of sixteen rows become the columns of a square.
#include "coterie/kernels/binning.hpp"

#if defined(COTERIE_HAS_AVX2)

#include <immintrin.h>

#include <bit>
#include <cstring>

namespace coterie::avx2 {
namespace {

int count_below(const float* cuts, __m256 value) {
    const __m256 low = _mm256_cmp_ps(_mm256_load_ps(cuts), value, _CMP_LT_OQ);
    const __m256 high = _mm256_cmp_ps(_mm256_load_ps(cuts + 8), value, _CMP_LT_OQ);
    const __m256i both = _mm256_packs_epi32(_mm256_castps_si256(low), _mm256_castps_si256(high));
    return std::popcount(static_cast<unsigned>(_mm256_movemask_epi8(both)));  // two bits per cut
}

// Up to eight cuts are one vector, and there is nothing to be searched.
void map_few(const std::byte* data, std::ptrdiff_t stride, std::size_t n, const float* cuts, Bin* out) {
    const __m256 all = _mm256_load_ps(cuts);
    for (std::size_t i = 0; i < n; ++i, data += stride) {
        float value;
        std::memcpy(&value, data, sizeof(value));
        const int below = _mm256_movemask_ps(_mm256_cmp_ps(all, _mm256_set1_ps(value), _CMP_LT_OQ));
        out[i] = static_cast<Bin>(value == value ? std::popcount(static_cast<unsigned>(below)) + 1 : 0);
    }
}

void map_float(const std::byte* data, std::ptrdiff_t stride, std::size_t n, const CutTable<float>& table, Bin* out) {
    if (table.n_cuts <= 8) return map_few(data, stride, n, table.cuts, out);
    for (std::size_t i = 0; i < n; ++i, data += stride) {
        float value;
        std::memcpy(&value, data, sizeof(value));
        const __m256 wide = _mm256_set1_ps(value);
        const int coarse = count_below(table.pivots, wide);
        const int fine = count_below(table.cuts + 8 * coarse, wide);
        const auto bin = static_cast<unsigned>(8 * coarse + fine / 2 + 1);
        out[i] = static_cast<Bin>(value == value ? bin : 0u);
    }
}

int count_below(const double* cuts, __m256d value) {
    unsigned mask = 0;
    for (int k = 0; k < 4; ++k) {
        const __m256d below = _mm256_cmp_pd(_mm256_load_pd(cuts + 4 * k), value, _CMP_LT_OQ);
        mask |= static_cast<unsigned>(_mm256_movemask_pd(below)) << (4 * k);
    }
    return std::popcount(mask);
}

void map_few(const std::byte* data, std::ptrdiff_t stride, std::size_t n, const double* cuts, Bin* out) {
    const __m256d first = _mm256_load_pd(cuts);
    const __m256d second = _mm256_load_pd(cuts + 4);
    for (std::size_t i = 0; i < n; ++i, data += stride) {
        double value;
        std::memcpy(&value, data, sizeof(value));
        const __m256d wide = _mm256_set1_pd(value);
        const int low = _mm256_movemask_pd(_mm256_cmp_pd(first, wide, _CMP_LT_OQ));
        const int high = _mm256_movemask_pd(_mm256_cmp_pd(second, wide, _CMP_LT_OQ));
        out[i] = static_cast<Bin>(value == value ? std::popcount(static_cast<unsigned>(high << 4 | low)) + 1 : 0);
    }
}

void map_double(const std::byte* data, std::ptrdiff_t stride, std::size_t n, const CutTable<double>& table, Bin* out) {
    if (table.n_cuts <= 8) return map_few(data, stride, n, table.cuts, out);
    for (std::size_t i = 0; i < n; ++i, data += stride) {
        double value;
        std::memcpy(&value, data, sizeof(value));
        const __m256d wide = _mm256_set1_pd(value);
        const int coarse = count_below(table.pivots, wide);
        const int fine = count_below(table.cuts + 16 * coarse, wide);
        out[i] = static_cast<Bin>(value == value ? 16 * coarse + fine + 1 : 0);
    }
}

// Sixteen numbers of 32 bits, all below 256, as bytes.
__m128i bytes_of(__m256i low, __m256i high) {
    const __m256i words = _mm256_permute4x64_epi64(_mm256_packs_epi32(low, high), 0xD8);
    return _mm_packus_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
}

// The bins of a part of a row: a vector of counts with lanes as wide as the values.
__m256i bins_of(const float* values, std::size_t first, const StripCuts<float>& cuts) {
    const __m256 value = _mm256_loadu_ps(values + first);
    __m256i bins = _mm256_set1_epi32(1);
    for (std::size_t j = 0; j < cuts.n_cuts; ++j) {
        const __m256 below = _mm256_cmp_ps(_mm256_load_ps(cuts.cuts[j] + first), value, _CMP_LT_OQ);
        bins = _mm256_sub_epi32(bins, _mm256_castps_si256(below));
    }
    return _mm256_and_si256(bins, _mm256_castps_si256(_mm256_cmp_ps(value, value, _CMP_ORD_Q)));
}

__m256i bins_of(const double* values, std::size_t first, const StripCuts<double>& cuts) {
    const __m256d value = _mm256_loadu_pd(values + first);
    __m256i bins = _mm256_set1_epi64x(1);
    for (std::size_t j = 0; j < cuts.n_cuts; ++j) {
        const __m256d below = _mm256_cmp_pd(_mm256_load_pd(cuts.cuts[j] + first), value, _CMP_LT_OQ);
        bins = _mm256_sub_epi64(bins, _mm256_castpd_si256(below));
    }
    return _mm256_and_si256(bins, _mm256_castpd_si256(_mm256_cmp_pd(value, value, _CMP_ORD_Q)));
}

__m128i row_of_bins(const float* values, const StripCuts<float>& cuts) {
    return bytes_of(bins_of(values, 0, cuts), bins_of(values, 8, cuts));
}

// The low halves of eight numbers of 64 bits.
__m256i halves_of(__m256i low, __m256i high) {
    const __m256 halves = _mm256_shuffle_ps(_mm256_castsi256_ps(low), _mm256_castsi256_ps(high), 0x88);
    return _mm256_permute4x64_epi64(_mm256_castps_si256(halves), 0xD8);
}

__m128i row_of_bins(const double* values, const StripCuts<double>& cuts) {
    return bytes_of(halves_of(bins_of(values, 0, cuts), bins_of(values, 4, cuts)),
                    halves_of(bins_of(values, 8, cuts), bins_of(values, 12, cuts)));
}

// Rows become columns: each of four rounds is a perfect shuffle of the bytes.
void transpose(__m128i (&square)[16]) {
    for (int round = 0; round < 4; ++round) {
        __m128i next[16];
        for (int i = 0; i < 8; ++i) {
            next[2 * i] = _mm_unpacklo_epi8(square[i], square[i + 8]);
            next[2 * i + 1] = _mm_unpackhi_epi8(square[i], square[i + 8]);
        }
        for (int i = 0; i < 16; ++i) square[i] = next[i];
    }
}

template <class Float>
void map_strip(const std::byte* rows, std::ptrdiff_t stride, std::size_t n, const StripCuts<Float>& cuts,
               std::size_t out_stride, Bin* out) {
    for (std::size_t first = 0; first < n; first += 16) {
        __m128i square[16];
        for (std::size_t i = 0; i < 16; ++i) {
            const std::size_t row = first + i < n ? first + i : n - 1;
            // Callers go on with the rows that follow; where there are none, nothing happens.
            __builtin_prefetch(rows + static_cast<std::ptrdiff_t>(row + 16) * stride);
            square[i] =
                row_of_bins(reinterpret_cast<const Float*>(rows + static_cast<std::ptrdiff_t>(row) * stride), cuts);
        }
        transpose(square);
        for (std::size_t k = 0; k < kStripFeatures; ++k)
            _mm_storeu_si128(reinterpret_cast<__m128i*>(out + k * out_stride + first), square[k]);
    }
}

}  // namespace

BinningKernels binning_kernels() {
    return {.map_float = map_float,
            .map_double = map_double,
            .map_strip_float = map_strip<float>,
            .map_strip_double = map_strip<double>};
}

}  // namespace coterie::avx2

#endif
