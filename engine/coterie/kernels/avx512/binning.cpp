// kernels/avx512/binning.cpp: 16 pivots, then the 16 cuts behind the pivot, each by one comparison.
#include "coterie/kernels/binning.hpp"

#if defined(COTERIE_HAS_AVX2)

#include <immintrin.h>

#include <bit>
#include <cstring>

namespace coterie::avx512 {
namespace {

// Up to 16 cuts are one vector, and there is nothing to be searched.
void map_few(const std::byte* data, std::ptrdiff_t stride, std::size_t n, const float* cuts, Bin* out) {
    const __m512 all = _mm512_load_ps(cuts);
    for (std::size_t i = 0; i < n; ++i, data += stride) {
        float value;
        std::memcpy(&value, data, sizeof(value));
        const unsigned below = _mm512_cmp_ps_mask(all, _mm512_set1_ps(value), _CMP_LT_OQ);
        out[i] = static_cast<Bin>(value == value ? std::popcount(below) + 1 : 0);
    }
}

void map_float(const std::byte* data, std::ptrdiff_t stride, std::size_t n, const CutTable<float>& table, Bin* out) {
    if (table.n_cuts <= 16) return map_few(data, stride, n, table.cuts, out);
    const __m512 pivots = _mm512_load_ps(table.pivots);
    for (std::size_t i = 0; i < n; ++i, data += stride) {
        float value;
        std::memcpy(&value, data, sizeof(value));
        const __m512 wide = _mm512_set1_ps(value);
        const int coarse = std::popcount(_mm512_cmp_ps_mask(pivots, wide, _CMP_LT_OQ));
        const int fine = std::popcount(_mm512_cmp_ps_mask(_mm512_load_ps(table.cuts + 16 * coarse), wide, _CMP_LT_OQ));
        out[i] = static_cast<Bin>(value == value ? 16 * coarse + fine + 1 : 0);
    }
}

int count_below(__m512d first, __m512d second, __m512d value) {
    const unsigned low = _mm512_cmp_pd_mask(first, value, _CMP_LT_OQ);
    const unsigned high = _mm512_cmp_pd_mask(second, value, _CMP_LT_OQ);
    return std::popcount(high << 8 | low);
}

void map_few(const std::byte* data, std::ptrdiff_t stride, std::size_t n, const double* cuts, Bin* out) {
    const __m512d all = _mm512_load_pd(cuts);
    for (std::size_t i = 0; i < n; ++i, data += stride) {
        double value;
        std::memcpy(&value, data, sizeof(value));
        const unsigned below = _mm512_cmp_pd_mask(all, _mm512_set1_pd(value), _CMP_LT_OQ);
        out[i] = static_cast<Bin>(value == value ? std::popcount(below) + 1 : 0);
    }
}

void map_double(const std::byte* data, std::ptrdiff_t stride, std::size_t n, const CutTable<double>& table, Bin* out) {
    if (table.n_cuts <= 8) return map_few(data, stride, n, table.cuts, out);
    const __m512d first = _mm512_load_pd(table.pivots);
    const __m512d second = _mm512_load_pd(table.pivots + 8);
    for (std::size_t i = 0; i < n; ++i, data += stride) {
        double value;
        std::memcpy(&value, data, sizeof(value));
        const __m512d wide = _mm512_set1_pd(value);
        const int coarse = count_below(first, second, wide);
        const double* const cuts = table.cuts + 16 * coarse;
        const int fine = count_below(_mm512_load_pd(cuts), _mm512_load_pd(cuts + 8), wide);
        out[i] = static_cast<Bin>(value == value ? 16 * coarse + fine + 1 : 0);
    }
}

}  // namespace

BinningKernels binning_kernels() {
    BinningKernels all = avx2::binning_kernels();
    all.map_float = map_float;
    all.map_double = map_double;
    return all;
}

}  // namespace coterie::avx512

#endif
