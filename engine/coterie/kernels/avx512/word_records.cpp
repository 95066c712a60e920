// kernels/avx512/word_records.cpp: the codes of a row are in one or two vectors, and one permutation picks those of
// eight columns; records are parted four a step.
#include "coterie/kernels/word_records.hpp"

#if defined(COTERIE_HAS_AVX2)

#include <immintrin.h>

#include <algorithm>
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

// Of rows whose codes are in one vector, or in two.
template <std::size_t kColumns, bool kTwo>
void fill(const CodeRows& rows, const WordRecord* records, std::size_t n, const CellColumns& columns,
          std::uint64_t* cells, std::uint16_t* seen) {
    constexpr std::size_t kFetchAhead = 64;  // records
    constexpr std::size_t kRows = 8;         // whose cells are found before they are added to
    const Picker<kTwo> pick(rows.stride, columns.column, kColumns);
    const __m128i add = _mm_loadu_si128(reinterpret_cast<const __m128i*>(columns.add));
    const __m128i factor = _mm_loadu_si128(reinterpret_cast<const __m128i*>(columns.factor));
    const __mmask8 as_it_is = _mm_testn_epi16_mask(factor, factor);
    const __m128i first = _mm_setr_epi16(0, kColumnCells, 2 * kColumnCells, 3 * kColumnCells, 4 * kColumnCells,
                                         5 * kColumnCells, 6 * kColumnCells, 7 * kColumnCells);
    alignas(16) std::uint16_t cell[kRows * kCodeColumns];
    for (std::size_t begin = 0; begin < n; begin += kRows) {
        const std::size_t n_now = std::min(kRows, n - begin);
        for (std::size_t i = 0; i < n_now; ++i) {
            if (rows.fetched > 0 && begin + i + kFetchAhead < rows.n_fetched) {
                const std::uint16_t* const ahead = rows.codes + records[begin + i + kFetchAhead].row * rows.stride;
                for (std::size_t code = 0; code < rows.fetched; code += kVectorCodes)
                    __builtin_prefetch(ahead + code, 0, 2);
            }
            const __m128i codes = _mm256_castsi256_si128(pick(rows.codes + records[begin + i].row * rows.stride));
            _mm_storeu_si128(reinterpret_cast<__m128i*>(seen + (begin + i) * kCodeColumns), codes);
            const __m128i sum = _mm_add_epi16(codes, add);
            const __m128i within = _mm_mask_mov_epi16(_mm_mulhi_epu16(sum, factor), as_it_is, sum);
            _mm_store_si128(reinterpret_cast<__m128i*>(cell + i * kCodeColumns), _mm_add_epi16(within, first));
        }
        for (std::size_t i = 0; i < n_now; ++i) {
            const std::uint64_t statistic = records[begin + i].statistic;
            for (std::size_t k = 0; k < kColumns; ++k) cells[cell[i * kCodeColumns + k]] += statistic;
        }
    }
}

template <bool kTwo>
void fill_columns(const CodeRows& rows, const WordRecord* records, std::size_t n, const CellColumns& columns,
                  std::uint64_t* cells, std::uint16_t* seen) {
    switch (columns.n) {
        case 1: return fill<1, kTwo>(rows, records, n, columns, cells, seen);
        case 2: return fill<2, kTwo>(rows, records, n, columns, cells, seen);
        case 3: return fill<3, kTwo>(rows, records, n, columns, cells, seen);
        case 4: return fill<4, kTwo>(rows, records, n, columns, cells, seen);
        case 5: return fill<5, kTwo>(rows, records, n, columns, cells, seen);
        case 6: return fill<6, kTwo>(rows, records, n, columns, cells, seen);
        case 7: return fill<7, kTwo>(rows, records, n, columns, cells, seen);
        default: return fill<8, kTwo>(rows, records, n, columns, cells, seen);
    }
}

void fill_cells(const CodeRows& rows, const WordRecord* records, std::size_t n, const CellColumns& columns,
                std::uint64_t* cells, std::uint16_t* seen) {
    if (rows.stride <= kVectorCodes) return fill_columns<false>(rows, records, n, columns, cells, seen);
    if (rows.stride <= 2 * kVectorCodes) return fill_columns<true>(rows, records, n, columns, cells, seen);
    avx2_kernels().words.fill_cells(rows, records, n, columns, cells, seen);
}

// Eight words, each with those before it and with the carry, which becomes the last of them.
__m512i words_so_far(__m512i words, __m512i& carry) {
    const __m512i zero = _mm512_setzero_si512();
    words = _mm512_add_epi64(words, _mm512_alignr_epi64(words, zero, 7));
    words = _mm512_add_epi64(words, _mm512_alignr_epi64(words, zero, 6));
    words = _mm512_add_epi64(words, _mm512_alignr_epi64(words, zero, 4));
    words = _mm512_add_epi64(words, carry);
    carry = _mm512_permutexvar_epi64(_mm512_set1_epi64(7), words);
    return words;
}

template <bool kNarrow>
WordCut scan_words_as(const std::uint64_t* cells, std::uint32_t last, const WordScan& task) {
    const __m512 total_weight = _mm512_set1_ps(word_sums(task.total, kNarrow).weight);
    const __m512 mean = _mm512_set1_ps(task.mean);
    const __m512 zero = _mm512_setzero_ps();
    const __m512i even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    const __m512i odd = _mm512_add_epi32(even, _mm512_set1_epi32(1));
    __m512i carry = _mm512_set1_epi64(static_cast<long long>(task.start));
    __m512i cell = _mm512_setr_epi32(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16);
    __m512 best = _mm512_set1_ps(-1.0f);
    __m512i best_cell = _mm512_setzero_si512();
    for (std::uint32_t first = 1; first <= last; first += 16) {
        const std::uint32_t n_now = std::min(last + 1 - first, 16u);
        const auto inside = static_cast<__mmask16>((1u << n_now) - 1u);
        const __m512i a = words_so_far(_mm512_maskz_loadu_epi64(static_cast<__mmask8>(inside), cells + first), carry);
        const __m512i b =
            words_so_far(_mm512_maskz_loadu_epi64(static_cast<__mmask8>(inside >> 8), cells + first + 8), carry);
        const __m512i high = _mm512_permutex2var_epi32(a, odd, b);
        const __m512i low = _mm512_permutex2var_epi32(a, even, b);
        __m512 sum = _mm512_cvtepi32_ps(high);
        __m512 weight;
        if constexpr (kNarrow) {
            weight = _mm512_cvtepi32_ps(low);
        } else {
            sum = _mm512_add_ps(_mm512_mul_ps(sum, _mm512_set1_ps(256.0f)),
                                _mm512_cvtepi32_ps(_mm512_srli_epi32(low, 24)));
            weight = _mm512_cvtepi32_ps(_mm512_and_si512(low, _mm512_set1_epi32(0xffffff)));
        }
        const __m512 right = _mm512_sub_ps(total_weight, weight);
        const __m512 distance = _mm512_sub_ps(sum, _mm512_mul_ps(weight, mean));
        const __m512 gain = _mm512_div_ps(_mm512_mul_ps(distance, distance), _mm512_mul_ps(weight, right));
        const __mmask16 left_has = _mm512_mask_cmp_ps_mask(inside, weight, zero, _CMP_GT_OQ);
        const __mmask16 both = _mm512_mask_cmp_ps_mask(left_has, right, zero, _CMP_GT_OQ);
        const __mmask16 better = _mm512_mask_cmp_ps_mask(both, gain, best, _CMP_GT_OQ);
        best = _mm512_mask_mov_ps(best, better, gain);
        best_cell = _mm512_mask_mov_epi32(best_cell, better, cell);
        cell = _mm512_add_epi32(cell, _mm512_set1_epi32(16));
    }
    const float gain = _mm512_reduce_max_ps(best);
    if (gain < 0.0f) return {};
    const __mmask16 greatest = _mm512_cmp_ps_mask(best, _mm512_set1_ps(gain), _CMP_EQ_OQ);
    return {.gain = gain, .cell = _mm512_mask_reduce_min_epu32(greatest, best_cell)};
}

WordCut scan_words(const std::uint64_t* cells, std::uint32_t last, const WordScan& task) {
    return task.narrow ? scan_words_as<true>(cells, last, task) : scan_words_as<false>(cells, last, task);
}

}  // namespace

WordKernels word_kernels() {
    WordKernels all = avx2::word_kernels();
    all.fill_cells = fill_cells;
    all.scan = scan_words;
    all.gather_codes = gather_codes;
    all.sum_left = sum_left;
    all.partition = partition;
    return all;
}

}  // namespace coterie::avx512

#endif
