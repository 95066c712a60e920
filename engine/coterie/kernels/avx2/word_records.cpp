// kernels/avx2/word_records.cpp: rows are read a few at a time, so that their codes become cells side by side; records
// are parted two a step, put into their order by a permutation.
#include "coterie/kernels/word_records.hpp"

#if defined(COTERIE_HAS_AVX2)

#include <immintrin.h>

#include <algorithm>
#include <bit>

namespace coterie::avx2 {
namespace {

constexpr std::size_t kAhead = 64;  // records between a fetch and its use

template <std::size_t kColumns>
__m128i gather(const std::uint16_t* row, const std::uint32_t* column) {
    __m128i codes = _mm_cvtsi32_si128(row[column[0]]);
    if constexpr (kColumns > 1) codes = _mm_insert_epi16(codes, row[column[1]], 1);
    if constexpr (kColumns > 2) codes = _mm_insert_epi16(codes, row[column[2]], 2);
    if constexpr (kColumns > 3) codes = _mm_insert_epi16(codes, row[column[3]], 3);
    if constexpr (kColumns > 4) codes = _mm_insert_epi16(codes, row[column[4]], 4);
    if constexpr (kColumns > 5) codes = _mm_insert_epi16(codes, row[column[5]], 5);
    if constexpr (kColumns > 6) codes = _mm_insert_epi16(codes, row[column[6]], 6);
    if constexpr (kColumns > 7) codes = _mm_insert_epi16(codes, row[column[7]], 7);
    return codes;
}

template <std::size_t kColumns>
void fill(const CodeRows& rows, const WordRecord* records, std::size_t n, const CellColumns& columns,
          std::uint64_t* cells, std::uint16_t* seen) {
    constexpr std::size_t kRows = 8;   // whose cells are found before they are added to
    constexpr std::size_t kLine = 32;  // codes
    const __m128i add = _mm_loadu_si128(reinterpret_cast<const __m128i*>(columns.add));
    const __m128i factor = _mm_loadu_si128(reinterpret_cast<const __m128i*>(columns.factor));
    const __m128i as_it_is = _mm_cmpeq_epi16(factor, _mm_setzero_si128());
    const __m128i first = _mm_setr_epi16(0, kLaneCells, 2 * kLaneCells, 3 * kLaneCells, 4 * kLaneCells, 5 * kLaneCells,
                                         6 * kLaneCells, 7 * kLaneCells);
    std::uint32_t column[kColumns];
    for (std::size_t k = 0; k < kColumns; ++k) column[k] = columns.column[k];
    alignas(16) std::uint16_t cell[kRows * kCodeLanes];
    for (std::size_t begin = 0; begin < n; begin += kRows) {
        const std::size_t n_now = std::min(kRows, n - begin);
        for (std::size_t i = 0; i < n_now; ++i) {
            if (rows.fetched > 0 && begin + i + kAhead < rows.n_fetched) {
                const std::uint16_t* const ahead = rows.codes + records[begin + i + kAhead].row * rows.stride;
                for (std::size_t code = 0; code < rows.fetched; code += kLine) __builtin_prefetch(ahead + code, 0, 2);
            }
            const __m128i codes = gather<kColumns>(rows.codes + records[begin + i].row * rows.stride, column);
            _mm_storeu_si128(reinterpret_cast<__m128i*>(seen + (begin + i) * kCodeLanes), codes);
            const __m128i sum = _mm_add_epi16(codes, add);
            const __m128i within = _mm_blendv_epi8(_mm_mulhi_epu16(sum, factor), sum, as_it_is);
            _mm_store_si128(reinterpret_cast<__m128i*>(cell + i * kCodeLanes), _mm_add_epi16(within, first));
        }
        for (std::size_t i = 0; i < n_now; ++i) {
            const std::uint64_t pay = records[begin + i].pay;
            for (std::size_t k = 0; k < kColumns; ++k) cells[cell[i * kCodeLanes + k]] += pay;
        }
    }
}

constexpr std::size_t kStep = 16;  // records whose codes are compared at once

// Of two records, by the bits of those that move: the one that moves comes first.
alignas(32) constexpr std::uint32_t kFirst[4][8] = {
    {0, 1, 2, 3, 4, 5, 6, 7}, {0, 1, 2, 3, 4, 5, 6, 7}, {4, 5, 6, 7, 0, 1, 2, 3}, {0, 1, 2, 3, 4, 5, 6, 7}};

__m256i moved(__m256i two, unsigned bits) {
    return _mm256_permutevar8x32_epi32(two, _mm256_load_si256(reinterpret_cast<const __m256i*>(kFirst[bits])));
}

template <bool kContiguous>
std::size_t part(WordRecord* records, std::size_t n, const RecordCodes& codes, WordRecord* right) {
    const __m256i shift = _mm256_set1_epi16(static_cast<short>(codes.shift));
    const __m256i span = _mm256_set1_epi16(static_cast<short>(codes.last - codes.shift));
    WordRecord* left = records;
    std::size_t i = 0;
    for (; i + kStep <= n; i += kStep) {
        alignas(32) std::uint16_t copies[kStep];
        const std::uint16_t* some = codes.codes + i;
        if constexpr (!kContiguous) {
            for (std::size_t k = 0; k < kStep; ++k) copies[k] = codes.codes[(i + k) * codes.stride];
            some = copies;
        }
        const __m256i code = _mm256_sub_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(some)), shift);
        // Two bits a record.
        auto marks =
            static_cast<unsigned>(_mm256_movemask_epi8(_mm256_cmpeq_epi16(_mm256_min_epu16(code, span), code)));
        for (std::size_t k = 0; k < kStep; k += 2, marks >>= 4) {
            const unsigned bits = marks >> 1 & 3u;
            const __m256i two = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(records + i + k));
            _mm256_storeu_si256(reinterpret_cast<__m256i*>(left), moved(two, bits));
            _mm256_storeu_si256(reinterpret_cast<__m256i*>(right), moved(two, bits ^ 3u));
            const int passed = std::popcount(bits);
            left += passed;
            right += 2 - passed;
        }
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

void fill_cells(const CodeRows& rows, const WordRecord* records, std::size_t n, const CellColumns& columns,
                std::uint64_t* cells, std::uint16_t* seen) {
    switch (columns.n) {
        case 1: return fill<1>(rows, records, n, columns, cells, seen);
        case 2: return fill<2>(rows, records, n, columns, cells, seen);
        case 3: return fill<3>(rows, records, n, columns, cells, seen);
        case 4: return fill<4>(rows, records, n, columns, cells, seen);
        case 5: return fill<5>(rows, records, n, columns, cells, seen);
        case 6: return fill<6>(rows, records, n, columns, cells, seen);
        case 7: return fill<7>(rows, records, n, columns, cells, seen);
        default: return fill<8>(rows, records, n, columns, cells, seen);
    }
}

std::size_t part_words(WordRecord* records, std::size_t n, const RecordCodes& codes, WordRecord* right) {
    return codes.stride == 1 ? part<true>(records, n, codes, right) : part<false>(records, n, codes, right);
}

}  // namespace coterie::avx2

#endif
