// kernels/avx512/row_sets.cpp: the codes of a word are two vectors, and the word is the mask of both.
#include "coterie/kernels/row_sets.hpp"

#if defined(COTERIE_HAS_AVX2)

#include <immintrin.h>

#include <algorithm>

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

    RowSet left_of(const std::uint16_t* codes) const { return half(codes) | RowSet{half(codes + kLanes)} << kLanes; }

private:
    __mmask32 half(const std::uint16_t* codes) const {
        return _mm512_cmple_epu16_mask(_mm512_sub_epi16(_mm512_load_si512(codes), shift_), span_);
    }

    __m512i shift_;
    __m512i span_;
};

}  // namespace

#include "coterie/kernels/shared/set_sides.inl"

void set_ranges(const TurnedCodes& codes, const RowSet* set, const std::uint32_t* columns, std::size_t n_columns,
                CodeRanges& ranges) {
    const __m512i ones = _mm512_set1_epi16(-1);
    for (std::size_t lane = 0; lane < n_columns; ++lane) {
        const std::uint16_t* const column = codes.column[columns[lane]];
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
        ranges.least[lane] = least_of(least);
        ranges.greatest[lane] = static_cast<std::uint16_t>(~least_of(_mm512_xor_si512(greatest, ones)));
        ranges.least_known_less_one[lane] = ranges.least[lane] != 0 ? static_cast<std::uint16_t>(ranges.least[lane] - 1)
                                                                    : least_less_one(column, set, codes.n_words);
    }
}

std::size_t set_rows(const RowSet* set, std::size_t n_words, const std::uint32_t* rows, std::uint32_t* out) {
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

bool packs_codes() { return __builtin_cpu_supports("avx512vbmi2"); }

__attribute__((target("avx512vbmi2"))) void set_codes(const std::uint16_t* column, RowSet set, std::uint16_t* out) {
    const __mmask32 high = high_half(set);
    _mm512_storeu_si512(out, _mm512_maskz_compress_epi16(low_half(set), _mm512_load_si512(column)));
    const auto room = static_cast<__mmask32>((std::uint64_t{1} << count(high)) - 1);
    _mm512_mask_storeu_epi16(out + count(low_half(set)), room,
                             _mm512_maskz_compress_epi16(high, _mm512_load_si512(column + kLanes)));
}

}  // namespace coterie::avx512

#endif
