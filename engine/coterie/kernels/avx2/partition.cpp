// kernels/avx2/partition.cpp: rows are marked 32 at a time and packed four at a time.
#include "coterie/kernels/partition.hpp"

#if defined(COTERIE_HAS_AVX2)

#include <immintrin.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace coterie::avx2 {
namespace {

unsigned passing(__m256i bins, __m256i shift, __m256i span) {
    const __m256i moved = _mm256_sub_epi8(bins, shift);
    return static_cast<unsigned>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_min_epu8(moved, span), moved)));
}

std::uint8_t mark_some(std::size_t n, const BinRule& rule, const Bin* bins) {
    unsigned byte = 0;
    for (std::size_t i = 0; i < n; ++i) byte |= static_cast<unsigned>(passes(rule, bins[i])) << i;
    return static_cast<std::uint8_t>(byte);
}

std::size_t mark_rows(const Bin* column, std::size_t n, const BinRule& rule, std::uint8_t* marks) {
    std::size_t count = 0;
    std::size_t i = 0;
    if (rule.table == nullptr) {
        const __m256i shift = _mm256_set1_epi8(static_cast<char>(rule.shift));
        const __m256i span = _mm256_set1_epi8(static_cast<char>(rule.last - rule.shift));
        for (; i + 32 <= n; i += 32) {
            const unsigned word =
                passing(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(column + i)), shift, span);
            std::memcpy(marks + i / 8, &word, sizeof(word));
            count += static_cast<std::size_t>(std::popcount(word));
        }
    }
    for (; i < n; i += 8) {
        marks[i / 8] = mark_some(n - i < 8 ? n - i : 8, rule, column + i);
        count += static_cast<std::size_t>(std::popcount(marks[i / 8]));
    }
    return count;
}

std::size_t mark_records(const Bin* column, const Record* records, std::size_t n, const BinRule& rule,
                         std::uint8_t* marks) {
    std::size_t count = 0;
    std::size_t i = 0;
    if (rule.table == nullptr) {
        const __m256i shift = _mm256_set1_epi8(static_cast<char>(rule.shift));
        const __m256i span = _mm256_set1_epi8(static_cast<char>(rule.last - rule.shift));
        alignas(32) Bin bins[32];
        for (; i + 32 <= n; i += 32) {
            for (std::size_t k = 0; k < 32; ++k) bins[k] = column[row_of(records[i + k])];
            const unsigned word = passing(_mm256_load_si256(reinterpret_cast<const __m256i*>(bins)), shift, span);
            std::memcpy(marks + i / 8, &word, sizeof(word));
            count += static_cast<std::size_t>(std::popcount(word));
        }
    }
    for (; i < n; i += 8) {
        Bin bins[8];
        const std::size_t m = n - i < 8 ? n - i : 8;
        for (std::size_t k = 0; k < m; ++k) bins[k] = column[row_of(records[i + k])];
        marks[i / 8] = mark_some(m, rule, bins);
        count += static_cast<std::size_t>(std::popcount(marks[i / 8]));
    }
    return count;
}

// Packing: four records a step, marked ones moved to the front by a permutation from a table.

using Permutation = std::array<std::uint32_t, 8>;

constexpr std::array<Permutation, 16> kFrontOf = [] {
    std::array<Permutation, 16> table{};
    for (unsigned mask = 0; mask < 16; ++mask) {
        unsigned next = 0;
        for (unsigned side = 0; side < 2; ++side)
            for (unsigned lane = 0; lane < 4; ++lane)
                if ((mask >> lane & 1u) != side) {
                    table[mask][next++] = 2 * lane;
                    table[mask][next++] = 2 * lane + 1;
                }
    }
    return table;
}();

__m256i marked_first(__m256i four, unsigned mask) {
    return _mm256_permutevar8x32_epi32(four,
                                       _mm256_loadu_si256(reinterpret_cast<const __m256i*>(kFrontOf[mask].data())));
}

constexpr std::size_t kSoon = 64;  // records until lines that another core may have are wanted here

// Full steps write four records on each side, so they stop where that would pass the end of a side: what lies
// there belongs to another chunk.
template <class FourOf, class OneOf>
void pack(std::size_t n, const std::uint8_t* marks, Record* left, std::size_t n_left, Record* right, FourOf four_of,
          OneOf one_of) {
    const std::size_t n_right = n - n_left;
    std::size_t l = 0;
    std::size_t r = 0;
    std::size_t i = 0;
    for (; i + 4 <= n && l + 4 <= n_left && r + 4 <= n_right; i += 4) {
        __builtin_prefetch(left + std::min(l + kSoon, n_left), 1);
        __builtin_prefetch(right + std::min(r + kSoon, n_right), 1);
        const unsigned mask = marks[i / 8] >> (i % 8) & 15u;
        const __m256i four = four_of(i);
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(left + l), marked_first(four, mask));
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(right + r), marked_first(four, mask ^ 15u));
        const auto passed = static_cast<std::size_t>(std::popcount(mask));
        l += passed;
        r += 4 - passed;
    }
    for (; i < n && l < n_left && r < n_right; ++i) {
        if (marks[i / 8] >> (i % 8) & 1)
            left[l++] = one_of(i);
        else
            right[r++] = one_of(i);
    }
    for (; l < n_left; ++i, ++l) left[l] = one_of(i);
    for (; r < n_right; ++i, ++r) right[r] = one_of(i);
}

void pack_rows(RowIndex first_row, const Pair* pairs, std::size_t n, const std::uint8_t* marks, Record* left,
               std::size_t n_left, Record* right) {
    const __m256i lanes = _mm256_setr_epi64x(0, 1, 2, 3);
    pack(
        n, marks, left, n_left, right,
        [=](std::size_t i) {
            const __m128i four = _mm_loadu_si128(reinterpret_cast<const __m128i*>(pairs + i));
            const __m256i rows = _mm256_add_epi64(lanes, _mm256_set1_epi64x(static_cast<std::int64_t>(first_row + i)));
            return _mm256_or_si256(_mm256_slli_epi64(_mm256_cvtepu32_epi64(four), 32), rows);
        },
        [=](std::size_t i) { return make_record(first_row + static_cast<RowIndex>(i), pairs[i]); });
}

void pack_records(const Record* records, std::size_t n, const std::uint8_t* marks, Record* left, std::size_t n_left,
                  Record* right) {
    pack(
        n, marks, left, n_left, right,
        [=](std::size_t i) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(records + i)); },
        [=](std::size_t i) { return records[i]; });
}

}  // namespace

PartitionKernels partition_kernels() {
    return {.mark_rows = mark_rows, .mark_records = mark_records, .pack_rows = pack_rows, .pack_records = pack_records};
}

}  // namespace coterie::avx2

#endif
