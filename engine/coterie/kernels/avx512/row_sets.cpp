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

// The rows of a word that are of the second class.
RowSet second_of(const SetPays& pays, std::size_t word) {
    const std::size_t first = kSetRows * word;
    if (pays.second <= first) return ~RowSet{0};
    return pays.second - first < kSetRows ? ~RowSet{0} << (pays.second - first) : 0;
}

// Calls visit(word, rows that go left), and returns how many there are.
template <class Visit>
std::uint64_t for_left(const Cut& cut, const std::uint16_t* column, const RowSet* set, std::size_t begin,
                       std::size_t end, Visit visit) {
    std::uint64_t n = 0;
    for (std::size_t word = begin; word < end; ++word) {
        const RowSet own = cut.left_of(column + kSetRows * word) & set[word];
        visit(word, own);
        n += count(own);
    }
    return n;
}

std::uint64_t weight_of_rows(const SetPays& pays, std::size_t n_words, std::size_t word, RowSet rows) {
    std::uint64_t weight = 0;
    for (std::size_t bit = 0, at = word; bit < pays.n_bits; ++bit, at += n_words)
        weight += count(rows & pays.weight[at]) << bit;
    return weight;
}

std::uint64_t pay_of_word(const SetPays& pays, RowSet second, RowSet rows) {
    if (pays.n_bits == 0) return count(rows & second) << 32 | count(rows);
    return weight_of_rows(pays, 1, 0, rows & second) << 32 | weight_of_rows(pays, 1, 0, rows);
}

}  // namespace

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

void sum_set(const TurnedCodes& codes, const RowSet* set, const std::uint32_t* columns, std::size_t n_columns,
             const SetCuts& cuts, const SetPays& pays, SetSums& sums, RowSet* left) {
    const std::size_t n_words = codes.n_words;
    if (n_words == 1) {
        const RowSet second = second_of(pays, 0);
        for (std::size_t lane = 0; lane < n_columns; ++lane) {
            const Cut cut(cuts.shift[lane], cuts.last[lane]);
            const RowSet own = cut.left_of(codes.column[columns[lane]]) & set[0];
            sums.n_rows[lane] = static_cast<std::uint32_t>(count(own));
            sums.pay[lane] = pay_of_word(pays, second, own);
            if (left != nullptr) left[lane] = own;
        }
        return;
    }
    const std::size_t middle = std::min(pays.second / kSetRows, n_words - 1);  // the word with rows of both classes
    for (std::size_t lane = 0; lane < n_columns; ++lane) {
        const std::uint16_t* const column = codes.column[columns[lane]];
        const Cut cut(cuts.shift[lane], cuts.last[lane]);
        std::uint64_t all = 0;
        std::uint64_t second = 0;
        std::uint64_t n = 0;
        const auto keep = [&](std::size_t word, RowSet own) {
            if (left != nullptr) left[lane * n_words + word] = own;
        };
        if (pays.n_bits == 0) {
            const std::uint64_t before = for_left(cut, column, set, 0, middle, keep);
            n = before + for_left(cut, column, set, middle, n_words, [&](std::size_t word, RowSet own) {
                    keep(word, own);
                    second += count(own & (word == middle ? second_of(pays, word) : ~RowSet{0}));
                });
            all = n;
        } else {
            n = for_left(cut, column, set, 0, n_words, [&](std::size_t word, RowSet own) {
                keep(word, own);
                all += weight_of_rows(pays, n_words, word, own);
                second += weight_of_rows(pays, n_words, word, own & second_of(pays, word));
            });
        }
        sums.pay[lane] = second << 32 | all;
        sums.n_rows[lane] = static_cast<std::uint32_t>(n);
    }
}

void part_set(const std::uint16_t* column, std::size_t n_words, std::uint16_t shift, std::uint16_t last, RowSet* set,
              RowSet* left) {
    const Cut cut(shift, last);
    for (std::size_t word = 0; word < n_words; ++word) {
        left[word] = cut.left_of(column + kSetRows * word) & set[word];
        set[word] ^= left[word];
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
