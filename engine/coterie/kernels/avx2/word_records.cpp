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
    const __m128i first = _mm_setr_epi16(0, kColumnCells, 2 * kColumnCells, 3 * kColumnCells, 4 * kColumnCells,
                                         5 * kColumnCells, 6 * kColumnCells, 7 * kColumnCells);
    std::uint32_t column[kColumns];
    for (std::size_t k = 0; k < kColumns; ++k) column[k] = columns.column[k];
    alignas(16) std::uint16_t cell[kRows * kCodeColumns];
    for (std::size_t begin = 0; begin < n; begin += kRows) {
        const std::size_t n_now = std::min(kRows, n - begin);
        for (std::size_t i = 0; i < n_now; ++i) {
            if (rows.fetched > 0 && begin + i + kAhead < rows.n_fetched) {
                const std::uint16_t* const ahead = rows.codes + records[begin + i + kAhead].row * rows.stride;
                for (std::size_t code = 0; code < rows.fetched; code += kLine) __builtin_prefetch(ahead + code, 0, 2);
            }
            const __m128i codes = gather<kColumns>(rows.codes + records[begin + i].row * rows.stride, column);
            _mm_storeu_si128(reinterpret_cast<__m128i*>(seen + (begin + i) * kCodeColumns), codes);
            const __m128i sum = _mm_add_epi16(codes, add);
            const __m128i within = _mm_blendv_epi8(_mm_mulhi_epu16(sum, factor), sum, as_it_is);
            _mm_store_si128(reinterpret_cast<__m128i*>(cell + i * kCodeColumns), _mm_add_epi16(within, first));
        }
        for (std::size_t i = 0; i < n_now; ++i) {
            const std::uint64_t statistic = records[begin + i].statistic;
            for (std::size_t k = 0; k < kColumns; ++k) cells[cell[i * kCodeColumns + k]] += statistic;
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

std::size_t partition(WordRecord* records, std::size_t n, const RecordCodes& codes, WordRecord* right) {
    return codes.stride == 1 ? part<true>(records, n, codes, right) : part<false>(records, n, codes, right);
}

template <int kColumns>
void gather_columns(const std::uint16_t* codes, std::size_t stride, const WordRecord* records, std::size_t n,
                    const std::uint32_t* columns, std::uint16_t* out, CodeRanges& ranges) {
    constexpr std::size_t kAhead = 12;
    const auto column = [&](int k) { return k < kColumns ? columns[k] : 0u; };
    const std::uint32_t c0 = column(0), c1 = column(1), c2 = column(2), c3 = column(3);
    const std::uint32_t c4 = column(4), c5 = column(5), c6 = column(6), c7 = column(7);
    const __m128i one = _mm_set1_epi16(1);
    __m128i least = _mm_set1_epi16(-1);
    __m128i greatest = _mm_setzero_si128();
    __m128i known = least;
    for (std::size_t i = 0; i < n; ++i) {
        const std::uint16_t* const row = codes + records[i].row * stride;
        if (i + kAhead < n) __builtin_prefetch(codes + records[i + kAhead].row * stride + c0);
        __m128i v = _mm_cvtsi32_si128(row[c0]);
        if constexpr (kColumns > 1) v = _mm_insert_epi16(v, row[c1], 1);
        if constexpr (kColumns > 2) v = _mm_insert_epi16(v, row[c2], 2);
        if constexpr (kColumns > 3) v = _mm_insert_epi16(v, row[c3], 3);
        if constexpr (kColumns > 4) v = _mm_insert_epi16(v, row[c4], 4);
        if constexpr (kColumns > 5) v = _mm_insert_epi16(v, row[c5], 5);
        if constexpr (kColumns > 6) v = _mm_insert_epi16(v, row[c6], 6);
        if constexpr (kColumns > 7) v = _mm_insert_epi16(v, row[c7], 7);
        _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i * kCodeColumns), v);
        least = _mm_min_epu16(least, v);
        greatest = _mm_max_epu16(greatest, v);
        known = _mm_min_epu16(known, _mm_sub_epi16(v, one));
    }
    _mm_storeu_si128(reinterpret_cast<__m128i*>(ranges.least), least);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(ranges.greatest), greatest);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(ranges.least_known_less_one), known);
}

void gather_codes(const std::uint16_t* codes, std::size_t stride, const WordRecord* records, std::size_t n,
                  const std::uint32_t* columns, std::size_t n_columns, std::uint16_t* out, CodeRanges& ranges) {
    switch (n_columns) {
        case 1: return gather_columns<1>(codes, stride, records, n, columns, out, ranges);
        case 2: return gather_columns<2>(codes, stride, records, n, columns, out, ranges);
        case 3: return gather_columns<3>(codes, stride, records, n, columns, out, ranges);
        case 4: return gather_columns<4>(codes, stride, records, n, columns, out, ranges);
        case 5: return gather_columns<5>(codes, stride, records, n, columns, out, ranges);
        case 6: return gather_columns<6>(codes, stride, records, n, columns, out, ranges);
        case 7: return gather_columns<7>(codes, stride, records, n, columns, out, ranges);
        default: return gather_columns<8>(codes, stride, records, n, columns, out, ranges);
    }
}

void sum_left(const std::uint16_t* codes, const WordRecord* records, std::size_t n, const std::uint16_t* shift,
              const std::uint16_t* last, std::uint64_t* sums) {
    const __m128i shifts = _mm_loadu_si128(reinterpret_cast<const __m128i*>(shift));
    const __m128i lasts = _mm_sub_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(last)), shifts);
    __m256i low = _mm256_setzero_si256();
    __m256i high = _mm256_setzero_si256();
    for (std::size_t i = 0; i < n; ++i) {
        const __m128i code =
            _mm_sub_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(codes + i * kCodeColumns)), shifts);
        const __m128i goes = _mm_cmpeq_epi16(_mm_min_epu16(code, lasts), code);
        const __m256i statistic = _mm256_set1_epi64x(static_cast<long long>(records[i].statistic));
        low = _mm256_add_epi64(low, _mm256_and_si256(statistic, _mm256_cvtepi16_epi64(goes)));
        high = _mm256_add_epi64(high, _mm256_and_si256(statistic, _mm256_cvtepi16_epi64(_mm_srli_si128(goes, 8))));
    }
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(sums), low);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(sums + 4), high);
}

void square_scores(const double* sum, const double* weight, std::size_t n, double total_sum, double total_weight,
                   double* out) {
    const __m256d totals = _mm256_set1_pd(total_sum);
    const __m256d weights = _mm256_set1_pd(total_weight);
    std::size_t i = 0;
    for (; i + 4 <= n; i += 4) {
        const __m256d left = _mm256_loadu_pd(sum + i);
        const __m256d left_weight = _mm256_loadu_pd(weight + i);
        const __m256d right = _mm256_sub_pd(totals, left);
        const __m256d right_weight = _mm256_sub_pd(weights, left_weight);
        const __m256d squares = _mm256_add_pd(_mm256_mul_pd(_mm256_mul_pd(left, left), right_weight),
                                              _mm256_mul_pd(_mm256_mul_pd(right, right), left_weight));
        _mm256_storeu_pd(out + i, _mm256_div_pd(squares, _mm256_mul_pd(left_weight, right_weight)));
    }
    for (; i < n; ++i) {
        const double right_sum = total_sum - sum[i];
        const double right_weight = total_weight - weight[i];
        out[i] = (sum[i] * sum[i] * right_weight + right_sum * right_sum * weight[i]) / (weight[i] * right_weight);
    }
}

// The sums of four words so far, and of all before them in every lane of `carry`.
__m256i words_so_far(__m256i words, __m256i& carry) {
    const __m256i pairs = _mm256_add_epi64(words, _mm256_slli_si256(words, 8));
    const __m256i low = _mm256_permute4x64_epi64(pairs, 0x50);  // the second word, in the upper half
    const __m256i four = _mm256_add_epi64(pairs, _mm256_blend_epi32(_mm256_setzero_si256(), low, 0xf0));
    const __m256i sums = _mm256_add_epi64(four, carry);
    carry = _mm256_permute4x64_epi64(sums, 0xff);
    return sums;
}

template <bool kNarrow>
WordCut scan_words_as(const std::uint64_t* cells, std::uint32_t last, const WordScan& task) {
    const __m256 total_weight = _mm256_set1_ps(word_sums(task.total, kNarrow).weight);
    const __m256 mean = _mm256_set1_ps(task.mean);
    const __m256 zero = _mm256_setzero_ps();
    const __m256i ends = _mm256_set1_epi32(static_cast<int>(last) + 1);
    __m256i carry = _mm256_set1_epi64x(static_cast<long long>(task.start));
    __m256i cell = _mm256_setr_epi32(1, 2, 5, 6, 3, 4, 7, 8);  // the order in which shuffles leave the words
    __m256 best = _mm256_set1_ps(-1.0f);
    __m256i best_cell = _mm256_setzero_si256();
    for (std::uint32_t first = 1; first <= last; first += 8) {
        const __m256i a = words_so_far(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(cells + first)), carry);
        const __m256i b = words_so_far(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(cells + first + 4)), carry);
        const __m256i high =
            _mm256_castps_si256(_mm256_shuffle_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b), 0xdd));
        const __m256i low =
            _mm256_castps_si256(_mm256_shuffle_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b), 0x88));
        __m256 sum = _mm256_cvtepi32_ps(high);
        __m256 weight;
        if constexpr (kNarrow) {
            weight = _mm256_cvtepi32_ps(low);
        } else {
            sum = _mm256_add_ps(_mm256_mul_ps(sum, _mm256_set1_ps(256.0f)),
                                _mm256_cvtepi32_ps(_mm256_srli_epi32(low, 24)));
            weight = _mm256_cvtepi32_ps(_mm256_and_si256(low, _mm256_set1_epi32(0xffffff)));
        }
        const __m256 right = _mm256_sub_ps(total_weight, weight);
        const __m256 distance = _mm256_sub_ps(sum, _mm256_mul_ps(weight, mean));
        const __m256 gain = _mm256_div_ps(_mm256_mul_ps(distance, distance), _mm256_mul_ps(weight, right));
        const __m256 both =
            _mm256_and_ps(_mm256_cmp_ps(weight, zero, _CMP_GT_OQ), _mm256_cmp_ps(right, zero, _CMP_GT_OQ));
        const __m256 inside = _mm256_castsi256_ps(_mm256_cmpgt_epi32(ends, cell));
        const __m256 better = _mm256_and_ps(_mm256_and_ps(both, inside), _mm256_cmp_ps(gain, best, _CMP_GT_OQ));
        best = _mm256_blendv_ps(best, gain, better);
        best_cell = _mm256_blendv_epi8(best_cell, cell, _mm256_castps_si256(better));
        cell = _mm256_add_epi32(cell, _mm256_set1_epi32(8));
    }
    alignas(32) float gains[8];
    alignas(32) std::uint32_t cell_of_lane[8];
    _mm256_store_ps(gains, best);
    _mm256_store_si256(reinterpret_cast<__m256i*>(cell_of_lane), best_cell);
    WordCut cut;
    for (int lane = 0; lane < 8; ++lane)
        if (gains[lane] > cut.gain || (gains[lane] == cut.gain && gains[lane] >= 0.0f && cell_of_lane[lane] < cut.cell))
            cut = {.gain = gains[lane], .cell = cell_of_lane[lane]};
    return cut;
}

WordCut scan_words(const std::uint64_t* cells, std::uint32_t last, const WordScan& task) {
    return task.narrow ? scan_words_as<true>(cells, last, task) : scan_words_as<false>(cells, last, task);
}

}  // namespace

WordKernels word_kernels() {
    return {.gather_codes = gather_codes,
            .sum_left = sum_left,
            .fill_cells = fill_cells,
            .scan = scan_words,
            .partition = partition,
            .square_scores = square_scores};
}

}  // namespace coterie::avx2

#endif
