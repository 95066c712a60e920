// kernels/avx2/row_sets.cpp: codes are transposed eight by eight, and compared sixteen at once.
#include "coterie/kernels/row_sets.hpp"

#if defined(COTERIE_HAS_AVX2)

#include <immintrin.h>

#include <algorithm>

namespace coterie::avx2 {
namespace {

constexpr std::size_t kLanes = 16;
constexpr std::size_t kAhead = 64;  // rows between a fetch and its use

__m256i load(const std::uint16_t* codes) { return _mm256_load_si256(reinterpret_cast<const __m256i*>(codes)); }
std::uint64_t count(RowSet word) { return static_cast<std::uint64_t>(_mm_popcnt_u64(word)); }
std::size_t first_of(RowSet word) { return static_cast<std::size_t>(_tzcnt_u64(word)); }

constexpr std::size_t kTransposed = 16;  // rows

// Sixteen rows of eight codes become eight columns of sixteen: eight rows in either half of a vector.
void transpose_sixteen(const std::uint16_t* const* rows, std::size_t column, std::uint16_t* out,
                       std::size_t out_stride) {
    __m256i a[8];
    __m256i b[8];
    const auto eight = [&](std::size_t i) {
        return _mm_loadu_si128(reinterpret_cast<const __m128i*>(rows[i] + column));
    };
    for (std::size_t i = 0; i < 8; ++i)
        a[i] = _mm256_inserti128_si256(_mm256_castsi128_si256(eight(i)), eight(i + 8), 1);
    const auto zip = [](const __m256i* from, __m256i* to) {
        for (std::size_t i = 0; i < 4; ++i) {
            to[2 * i] = _mm256_unpacklo_epi16(from[i], from[i + 4]);
            to[2 * i + 1] = _mm256_unpackhi_epi16(from[i], from[i + 4]);
        }
    };
    zip(a, b);
    zip(b, a);
    zip(a, b);
    for (std::size_t i = 0; i < 8; ++i)
        _mm256_store_si256(reinterpret_cast<__m256i*>(out + (column + i) * out_stride), b[i]);
}

// Lanes of ones for the rows of a set, sixteen of them.
__m256i lanes_of(RowSet word, std::size_t part) {
    const __m256i bits = _mm256_setr_epi16(1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384,
                                           static_cast<short>(0x8000));
    const __m256i own = _mm256_set1_epi16(static_cast<short>(word >> (kLanes * part)));
    return _mm256_cmpeq_epi16(_mm256_and_si256(own, bits), bits);
}

std::uint16_t least_of(__m256i lanes) {
    const __m128i half = _mm_min_epu16(_mm256_castsi256_si128(lanes), _mm256_extracti128_si256(lanes, 1));
    return static_cast<std::uint16_t>(_mm_extract_epi16(_mm_minpos_epu16(half), 0));
}

class Cut {
public:
    Cut(std::uint16_t shift, std::uint16_t last)
        : shift_(_mm256_set1_epi16(static_cast<short>(shift))),
          span_(_mm256_set1_epi16(static_cast<short>(last - shift))) {}

    // Of the 64 codes of a word.
    RowSet left_of(const std::uint16_t* codes) const {
        return half(codes) | RowSet{half(codes + 2 * kLanes)} << (2 * kLanes);
    }

private:
    std::uint32_t half(const std::uint16_t* codes) const {
        const __m256i both = _mm256_packs_epi16(passes(load(codes)), passes(load(codes + kLanes)));
        return static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_permute4x64_epi64(both, 0xd8)));
    }
    __m256i passes(__m256i codes) const {
        const __m256i moved = _mm256_sub_epi16(codes, shift_);
        return _mm256_cmpeq_epi16(_mm256_min_epu16(moved, span_), moved);
    }

    __m256i shift_;
    __m256i span_;
};

#include "coterie/kernels/shared/set_sides.inl"

void transpose_codes(const std::uint16_t* codes, std::size_t stride, const std::uint32_t* rows, std::size_t n,
                     std::size_t n_columns, std::uint16_t* out, std::size_t out_stride) {
    const auto fetch = [=](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i)
            for (std::size_t column = 0; column < n_columns; column += 32)
                __builtin_prefetch(codes + rows[i] * stride + column, 0, 2);
    };
    fetch(0, std::min(kAhead, n));
    for (std::size_t first = 0; first < n; first += kTransposed) {
        const std::uint16_t* row[kTransposed];
        for (std::size_t i = 0; i < kTransposed; ++i) row[i] = codes + rows[std::min(first + i, n - 1)] * stride;
        fetch(std::min(first + kAhead, n), std::min(first + kAhead + kTransposed, n));
        for (std::size_t column = 0; column < n_columns; column += 8)
            transpose_sixteen(row, column, out + first, out_stride);
    }
}

void code_ranges(const TransposedCodes& codes, const RowSet* set, const std::uint32_t* columns, std::size_t n_columns,
                 CodeRanges& ranges) {
    const __m256i ones = _mm256_set1_epi16(-1);
    for (std::size_t k = 0; k < n_columns; ++k) {
        const std::uint16_t* const column = codes.column[columns[k]];
        __m256i known = ones;
        __m256i least = ones;
        __m256i greatest = ones;  // what it lacks to the highest
        for (std::size_t word = 0; word < codes.n_words; ++word)
            for (std::size_t part = 0; part < kSetRows / kLanes; ++part) {
                const __m256i own = load(column + kSetRows * word + kLanes * part);
                const __m256i others = _mm256_xor_si256(lanes_of(set[word], part), ones);
                least = _mm256_min_epu16(least, _mm256_or_si256(own, others));
                known = _mm256_min_epu16(known, _mm256_or_si256(_mm256_add_epi16(own, ones), others));
                greatest = _mm256_min_epu16(greatest, _mm256_or_si256(_mm256_xor_si256(own, ones), others));
            }
        ranges.least[k] = least_of(least);
        ranges.greatest[k] = static_cast<std::uint16_t>(~least_of(greatest));
        ranges.least_known_less_one[k] = least_of(known);
    }
}

std::size_t rows_of(const RowSet* set, std::size_t n_words, const std::uint32_t* rows, std::uint32_t* out) {
    std::size_t n = 0;
    for (std::size_t word = 0; word < n_words; ++word, rows += kSetRows)
        for (RowSet left = set[word]; left != 0; left &= left - 1) out[n++] = rows[first_of(left)];
    return n;
}

void codes_of(const std::uint16_t* column, RowSet set, std::uint16_t* out) {
    for (; set != 0; set &= set - 1) *out++ = column[first_of(set)];
}

}  // namespace

RowSetKernels row_set_kernels() {
    return {.transpose_codes = transpose_codes,
            .code_ranges = code_ranges,
            .sum_left = sum_left,
            .partition = partition,
            .rows_of = rows_of,
            .codes_of = codes_of,
            .draw_cuts = generic::row_set_kernels().draw_cuts};
}

}  // namespace coterie::avx2

#endif
