// kernels/avx512/partition.cpp: rows are packed eight at a time.
#include "coterie/kernels/partition.hpp"

#if defined(COTERIE_HAS_AVX2)

#include <immintrin.h>

#include <bit>

namespace coterie::avx512 {
namespace {

// Steps of eight records stop where eight would pass the end of a side: what lies there belongs to another chunk.
template <class EightOf, class OneOf>
void pack(std::size_t n, const std::uint8_t* marks, Record* left, std::size_t n_left, Record* right, EightOf eight_of,
          OneOf one_of) {
    constexpr std::size_t kSoon = 64;  // records until lines that another core may have are wanted here
    const std::size_t n_right = n - n_left;
    std::size_t l = 0;
    std::size_t r = 0;
    std::size_t i = 0;
    for (; i + 8 <= n && l + 8 <= n_left && r + 8 <= n_right; i += 8) {
        __builtin_prefetch(left + (l + kSoon < n_left ? l + kSoon : n_left), 1);
        __builtin_prefetch(right + (r + kSoon < n_right ? r + kSoon : n_right), 1);
        const unsigned mask = marks[i / 8];
        const __m512i eight = eight_of(i);
        _mm512_storeu_si512(left + l, _mm512_maskz_compress_epi64(static_cast<__mmask8>(mask), eight));
        _mm512_storeu_si512(right + r, _mm512_maskz_compress_epi64(static_cast<__mmask8>(~mask), eight));
        const auto passed = static_cast<std::size_t>(std::popcount(mask));
        l += passed;
        r += 8 - passed;
    }
    for (; i < n; ++i) {
        if (marks[i / 8] >> (i % 8) & 1)
            left[l++] = one_of(i);
        else
            right[r++] = one_of(i);
    }
}

void pack_rows(RowIndex first_row, const Pair* pairs, std::size_t n, const std::uint8_t* marks, Record* left,
               std::size_t n_left, Record* right) {
    const __m512i lanes = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
    pack(
        n, marks, left, n_left, right,
        [=](std::size_t i) {
            const __m256i eight = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(pairs + i));
            const __m512i rows = _mm512_add_epi64(lanes, _mm512_set1_epi64(static_cast<std::int64_t>(first_row + i)));
            return _mm512_or_si512(_mm512_slli_epi64(_mm512_cvtepu32_epi64(eight), 32), rows);
        },
        [=](std::size_t i) { return make_record(first_row + static_cast<RowIndex>(i), pairs[i]); });
}

void pack_records(const Record* records, std::size_t n, const std::uint8_t* marks, Record* left, std::size_t n_left,
                  Record* right) {
    pack(
        n, marks, left, n_left, right, [=](std::size_t i) { return _mm512_loadu_si512(records + i); },
        [=](std::size_t i) { return records[i]; });
}

}  // namespace

PartitionKernels partition_kernels() {
    PartitionKernels all = avx2::partition_kernels();
    all.pack_rows = pack_rows;
    all.pack_records = pack_records;
    return all;
}

}  // namespace coterie::avx512

#endif
