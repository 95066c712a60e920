// kernels/avx512/word_records.cpp: the codes of a row are in one or two vectors, and one permutation picks those of
// eight columns; records are parted four a step.
#include "coterie/kernels/word_records.hpp"

#if defined(COTERIE_HAS_AVX2)

#include <immintrin.h>

#include <bit>

#include "coterie/kernels/avx512/picker.hpp"
#include "coterie/kernels/kernels.hpp"

namespace coterie::avx512 {
namespace {

constexpr std::size_t kAhead = 16;  // records between a fetch and its use
template <bool kTwo>
void gather(const std::uint16_t* codes, std::size_t stride, const WordRecord* records, std::size_t n,
            const Picker<kTwo>& pick, std::uint16_t* out, CodeRanges& ranges) {
    const __m128i one = _mm_set1_epi16(1);
    __m128i least = _mm_set1_epi16(-1);
    __m128i greatest = _mm_setzero_si128();
    __m128i known = least;
    for (std::size_t i = 0; i < n; ++i) {
        if (i + kAhead < n) {
            const std::uint16_t* const ahead = codes + records[i + kAhead].row * stride;
            __builtin_prefetch(ahead);
            if constexpr (kTwo) __builtin_prefetch(ahead + kVectorCodes);
        }
        const __m128i picked = _mm256_castsi256_si128(pick(codes + records[i].row * stride));
        _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i * kCodeColumns), picked);
        least = _mm_min_epu16(least, picked);
        greatest = _mm_max_epu16(greatest, picked);
        known = _mm_min_epu16(known, _mm_sub_epi16(picked, one));
    }
    _mm_storeu_si128(reinterpret_cast<__m128i*>(ranges.least), least);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(ranges.greatest), greatest);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(ranges.least_known_less_one), known);
}

constexpr std::size_t kStep = 4;  // records of a vector

void gather_codes(const std::uint16_t* codes, std::size_t stride, const WordRecord* records, std::size_t n,
                  const std::uint32_t* columns, std::size_t n_columns, std::uint16_t* out, CodeRanges& ranges) {
    if (stride <= kVectorCodes)
        return gather<false>(codes, stride, records, n, {stride, columns, n_columns}, out, ranges);
    if (stride <= 2 * kVectorCodes)
        return gather<true>(codes, stride, records, n, {stride, columns, n_columns}, out, ranges);
    avx2_kernels().words.gather_codes(codes, stride, records, n, columns, n_columns, out, ranges);
}

void sum_left(const std::uint16_t* codes, const WordRecord* records, std::size_t n, const std::uint16_t* shift,
              const std::uint16_t* last, std::uint64_t* sums) {
    const __m128i shifts = _mm_loadu_si128(reinterpret_cast<const __m128i*>(shift));
    const __m128i spans = _mm_sub_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(last)), shifts);
    __m512i all = _mm512_setzero_si512();
    for (std::size_t i = 0; i < n; ++i) {
        const __m128i code =
            _mm_sub_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(codes + i * kCodeColumns)), shifts);
        const __mmask8 goes = _mm_cmple_epu16_mask(code, spans);
        all = _mm512_mask_add_epi64(all, goes, all, _mm512_set1_epi64(static_cast<long long>(records[i].statistic)));
    }
    _mm512_storeu_si512(sums, all);
}

std::size_t partition(WordRecord* records, std::size_t n, const RecordCodes& codes, WordRecord* right) {
    if (codes.stride != kCodeColumns) return avx2_kernels().words.partition(records, n, codes, right);
    const __m512i shift = _mm512_set1_epi16(static_cast<short>(codes.shift));
    const __m512i span = _mm512_set1_epi16(static_cast<short>(codes.last - codes.shift));
    WordRecord* left = records;
    std::size_t i = 0;
    // One more record than a step, because codes are read from a column on.
    for (; i + kStep < n; i += kStep) {
        const __m512i code = _mm512_sub_epi16(_mm512_loadu_si512(codes.codes + i * kCodeColumns), shift);
        const unsigned goes = _pext_u32(_mm512_cmple_epu16_mask(code, span), 0x01010101u);
        const auto lanes = static_cast<__mmask8>(_pdep_u32(goes, 0x55u) * 3u);  // two to a record
        const __m512i four = _mm512_loadu_si512(records + i);
        const auto passed = static_cast<std::size_t>(std::popcount(goes));
        _mm512_storeu_si512(left, _mm512_maskz_compress_epi64(lanes, four));
        const __m512i others = _mm512_maskz_compress_epi64(static_cast<__mmask8>(~lanes), four);
        _mm512_mask_storeu_epi64(right, static_cast<__mmask8>((1u << 2 * (kStep - passed)) - 1u), others);
        left += passed;
        right += kStep - passed;
    }
    for (; i < n; ++i) {
        const bool goes_left = codes.goes_left(i);
        const WordRecord record = records[i];
        *left = *right = record;
        left += goes_left;
        right += !goes_left;
    }
    return static_cast<std::size_t>(left - records);
}

}  // namespace

WordKernels word_kernels() {
    WordKernels all = avx2::word_kernels();
    all.gather_codes = gather_codes;
    all.sum_left = sum_left;
    all.partition = partition;
    return all;
}

}  // namespace coterie::avx512

#endif
