// kernels/avx512/picker.hpp: the codes of some columns of a row, in one permutation.
#pragma once

#if defined(COTERIE_HAS_AVX2)

#include <immintrin.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace coterie::avx512 {

inline constexpr std::size_t kVectorCodes = 32;  // of a vector

/// Picks the codes of up to sixteen columns from a row of at most one vector, or of two; lanes that are not used are 0.
template <bool kTwo>
class Picker {
public:
    Picker(std::size_t stride, const std::uint32_t* columns, std::size_t n_columns) {
        const std::size_t n_first = std::min(stride, kVectorCodes);
        first_ = mask_of(n_first);
        second_ = mask_of(stride - n_first);
        used_ = static_cast<__mmask16>(mask_of(n_columns));
        columns_ = _mm512_castsi256_si512(_mm512_cvtepi32_epi16(_mm512_maskz_loadu_epi32(used_, columns)));
    }

    __m256i operator()(const std::uint16_t* row) const {
        const __m512i codes = _mm512_maskz_loadu_epi16(first_, row);
        if constexpr (!kTwo) return used(_mm512_permutexvar_epi16(columns_, codes));
        const __m512i others = _mm512_maskz_loadu_epi16(second_, row + kVectorCodes);
        return used(_mm512_permutex2var_epi16(codes, columns_, others));
    }

private:
    static __mmask32 mask_of(std::size_t n) { return static_cast<__mmask32>((std::uint64_t{1} << n) - 1); }
    __m256i used(__m512i picked) const { return _mm256_maskz_mov_epi16(used_, _mm512_castsi512_si256(picked)); }

    __mmask32 first_;
    __mmask32 second_;
    __m512i columns_;
    __mmask16 used_;
};

}  // namespace coterie::avx512

#endif
