// kernels/avx512/row_sets.cpp: the codes of a word are two vectors, and the word is the mask of both.
#include "coterie/kernels/row_sets.hpp"

#if defined(COTERIE_HAS_AVX2)

#include <immintrin.h>

#include <algorithm>
#include <bit>

namespace coterie::avx512 {
namespace {

constexpr std::size_t kLanes = 32;

std::uint64_t count(RowSet word) { return static_cast<std::uint64_t>(_mm_popcnt_u64(word)); }
__mmask32 low_half(RowSet word) { return static_cast<__mmask32>(word); }
__mmask32 high_half(RowSet word) { return static_cast<__mmask32>(word >> kLanes); }

std::uint16_t least_of(__m512i lanes) {
    const __m256i half = _mm256_min_epu16(_mm512_castsi512_si256(lanes), _mm512_extracti64x4_epi64(lanes, 1));
    const __m128i quarter = _mm_min_epu16(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
    return static_cast<std::uint16_t>(_mm_extract_epi16(_mm_minpos_epu16(quarter), 0));
}

// Less one, what is missing (0) is the greatest.
std::uint16_t least_less_one(const std::uint16_t* column, const RowSet* set, std::size_t n_words) {
    const __m512i ones = _mm512_set1_epi16(-1);
    __m512i least = ones;
    for (std::size_t word = 0; word < n_words; ++word, column += kSetRows) {
        const __m512i first = _mm512_add_epi16(_mm512_load_si512(column), ones);
        const __m512i second = _mm512_add_epi16(_mm512_load_si512(column + kLanes), ones);
        least = _mm512_mask_min_epu16(least, low_half(set[word]), least, first);
        least = _mm512_mask_min_epu16(least, high_half(set[word]), least, second);
    }
    return least_of(least);
}

class Cut {
public:
    Cut(std::uint16_t shift, std::uint16_t last)
        : shift_(_mm512_set1_epi16(static_cast<short>(shift))),
          span_(_mm512_set1_epi16(static_cast<short>(last - shift))) {}

    // The halves are joined in mask registers. Widened as whole numbers, a mask that GCC 12 has to spill is stored with
    // four bytes and loaded with eight; a test looks for such loads in the object code.
    RowSet left_of(const std::uint16_t* codes) const { return _mm512_kunpackd(half(codes + kLanes), half(codes)); }

private:
    __mmask32 half(const std::uint16_t* codes) const {
        return _mm512_cmple_epu16_mask(_mm512_sub_epi16(_mm512_load_si512(codes), shift_), span_);
    }

    __m512i shift_;
    __m512i span_;
};

#include "coterie/kernels/shared/set_sides.inl"

void code_ranges(const TransposedCodes& codes, const RowSet* set, const std::uint32_t* columns, std::size_t n_columns,
                 CodeRanges& ranges) {
    const __m512i ones = _mm512_set1_epi16(-1);
    for (std::size_t k = 0; k < n_columns; ++k) {
        const std::uint16_t* const column = codes.column[columns[k]];
        __m512i least = ones;
        __m512i greatest = _mm512_setzero_si512();
        for (std::size_t word = 0; word < codes.n_words; ++word) {
            const __m512i first = _mm512_load_si512(column + kSetRows * word);
            const __m512i second = _mm512_load_si512(column + kSetRows * word + kLanes);
            least = _mm512_mask_min_epu16(least, low_half(set[word]), least, first);
            least = _mm512_mask_min_epu16(least, high_half(set[word]), least, second);
            greatest = _mm512_mask_max_epu16(greatest, low_half(set[word]), greatest, first);
            greatest = _mm512_mask_max_epu16(greatest, high_half(set[word]), greatest, second);
        }
        ranges.least[k] = least_of(least);
        ranges.greatest[k] = static_cast<std::uint16_t>(~least_of(_mm512_xor_si512(greatest, ones)));
        ranges.least_known_less_one[k] = ranges.least[k] != 0 ? static_cast<std::uint16_t>(ranges.least[k] - 1)
                                                              : least_less_one(column, set, codes.n_words);
    }
}

std::size_t rows_of(const RowSet* set, std::size_t n_words, const std::uint32_t* rows, std::uint32_t* out) {
    std::size_t n = 0;
    for (std::size_t word = 0; word < n_words; ++word, rows += kSetRows) {
        if (set[word] == 0) continue;
        for (std::size_t part = 0; part < kSetRows; part += 16) {
            const auto own = static_cast<__mmask16>(set[word] >> part);
            const __m512i all = _mm512_maskz_loadu_epi32(own, rows + part);
            _mm512_storeu_si512(out + n, _mm512_maskz_compress_epi32(own, all));
            n += count(own);
        }
    }
    return n;
}

// Codes of a set: the least of eight parts of it below, and what the greatest lack to 65535 above.
__m256i parts_of(const std::uint16_t* column, RowSet set) {
    const __m512i ones = _mm512_set1_epi16(-1);
    const __m512i first = _mm512_load_si512(column);
    const __m512i second = _mm512_load_si512(column + kLanes);
    const __m512i least = _mm512_min_epu16(_mm512_mask_mov_epi16(ones, low_half(set), first),
                                           _mm512_mask_mov_epi16(ones, high_half(set), second));
    const __m512i lack = _mm512_min_epu16(_mm512_mask_sub_epi16(ones, low_half(set), ones, first),
                                          _mm512_mask_sub_epi16(ones, high_half(set), ones, second));
    const __m256i a = _mm256_min_epu16(_mm512_castsi512_si256(least), _mm512_extracti64x4_epi64(least, 1));
    const __m256i b = _mm256_min_epu16(_mm512_castsi512_si256(lack), _mm512_extracti64x4_epi64(lack, 1));
    return _mm256_min_epu16(_mm256_permute2x128_si256(a, b, 0x20), _mm256_permute2x128_si256(a, b, 0x31));
}

// Half as many parts of two, four or eight columns.
__m256i join_words(__m256i a, __m256i b) {
    return _mm256_min_epu16(_mm256_unpacklo_epi16(a, b), _mm256_unpackhi_epi16(a, b));
}
__m256i join_pairs(__m256i a, __m256i b) {
    return _mm256_min_epu16(_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b));
}
__m256i join_fours(__m256i a, __m256i b) {
    return _mm256_min_epu16(_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b));
}

// The upper halves of the products of eight numbers.
__m256i high_products(__m256i a, __m256i b) {
    const __m256i even = _mm256_srli_epi64(_mm256_mul_epu32(a, b), 32);
    const __m256i odd = _mm256_mul_epu32(_mm256_srli_epi64(a, 32), _mm256_srli_epi64(b, 32));
    return _mm256_blend_epi32(even, odd, 0xaa);
}

bool draw_cuts(const TransposedCodes& codes, RowSet set, const std::uint32_t* columns, std::size_t n_columns,
               const std::uint32_t* shares, const SetWeights& weights, std::uint64_t total, DrawnCut& best) {
    // Columns that are not there are the first one again.
    const std::uint16_t* column[kCodeColumns];
    for (std::size_t k = 0; k < kCodeColumns; ++k) column[k] = codes.column[columns[k < n_columns ? k : 0]];
    __m256i parts[kCodeColumns];
    for (std::size_t k = 0; k < 4; ++k) parts[k] = parts_of(column[k], set);
    parts[4] = n_columns > 4 ? parts_of(column[4], set) : parts[0];
    for (std::size_t k = 5; k < kCodeColumns; ++k) parts[k] = n_columns > 5 ? parts_of(column[k], set) : parts[0];
    const __m256i ranges = join_fours(join_pairs(join_words(parts[0], parts[1]), join_words(parts[2], parts[3])),
                                      join_pairs(join_words(parts[4], parts[5]), join_words(parts[6], parts[7])));
    const __m128i least = _mm256_castsi256_si128(ranges);
    if (_mm_cmpeq_epi16_mask(least, _mm_setzero_si128()) != 0) return false;
    const __m256i low = _mm256_cvtepu16_epi32(least);
    const __m256i lack = _mm256_cvtepu16_epi32(_mm256_extracti128_si256(ranges, 1));
    const __m256i span = _mm256_sub_epi32(_mm256_sub_epi32(_mm256_set1_epi32(0xffff), lack), low);
    const __m256i share = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(shares));
    alignas(16) std::uint16_t last[kCodeColumns];
    _mm_store_si128(reinterpret_cast<__m128i*>(last),
                    _mm256_cvtepi32_epi16(_mm256_add_epi32(low, high_products(span, share))));
    const RowSet second_rows = second_of(weights, 0);
    const auto all = static_cast<std::int64_t>(total & 0xffffffffu);
    const auto second = static_cast<std::int64_t>(total >> 32);
    // Gains are not negative, so their bits are in their order. Where nothing is on the right the gain is 0 / 0, whose
    // bits are those of a whole number far below -1.
    std::int64_t greatest = std::max<std::int64_t>(std::bit_cast<std::int64_t>(best.gain), -1);
    std::size_t at = n_columns;
    RowSet left[kCodeColumns];
    std::uint64_t statistic[kCodeColumns];
    for (std::size_t k = 0; k < n_columns; ++k) {
        const Cut cut(0, last[k]);
        left[k] = cut.left_of(column[k]) & set;
        statistic[k] = statistic_of_word(weights, second_rows, left[k]);
        const auto weight = static_cast<std::int64_t>(statistic[k] & 0xffffffffu);
        const auto distance =
            static_cast<double>(static_cast<std::int64_t>(statistic[k] >> 32) * all - weight * second);
        const double gain = distance * distance / static_cast<double>(weight * (all - weight));
        const auto bits = std::bit_cast<std::int64_t>(gain);
        at = bits > greatest ? k : at;
        greatest = bits > greatest ? bits : greatest;
    }
    best.varies = best.varies || _mm256_test_epi32_mask(span, span) != 0;
    best.found = at < n_columns;
    if (!best.found) return true;
    best.gain = std::bit_cast<double>(greatest);
    best.column = static_cast<std::uint32_t>(at);
    best.last = last[at];
    best.statistic = statistic[at];
    best.left = left[at];
    return true;
}

bool packs_codes() { return __builtin_cpu_supports("avx512vbmi2"); }

__attribute__((target("avx512vbmi2"))) void codes_of(const std::uint16_t* column, RowSet set, std::uint16_t* out) {
    const __mmask32 high = high_half(set);
    _mm512_storeu_si512(out, _mm512_maskz_compress_epi16(low_half(set), _mm512_load_si512(column)));
    const auto room = static_cast<__mmask32>((std::uint64_t{1} << count(high)) - 1);
    _mm512_mask_storeu_epi16(out + count(low_half(set)), room,
                             _mm512_maskz_compress_epi16(high, _mm512_load_si512(column + kLanes)));
}

}  // namespace

RowSetKernels row_set_kernels() {
    RowSetKernels all = avx2::row_set_kernels();
    all.code_ranges = code_ranges;
    all.sum_left = sum_left;
    all.partition = partition;
    all.rows_of = rows_of;
    all.draw_cuts = draw_cuts;
    if (packs_codes()) all.codes_of = codes_of;
    return all;
}

}  // namespace coterie::avx512

#endif
