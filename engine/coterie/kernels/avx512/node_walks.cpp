// kernels/avx512/node_walks.cpp: the codes of a row are in one or two vectors, and one permutation picks those that the
// nodes of a block compare.
#include "coterie/kernels/node_walks.hpp"

#if defined(COTERIE_HAS_AVX2)

#include <immintrin.h>

#include <algorithm>
#include <array>

namespace coterie::avx512 {
namespace {

constexpr std::size_t kVectorCodes = 32;
constexpr std::size_t kAhead = 16;  // rows between a fetch and its use

// The exit of a block by the results of its entries, a bit each.
constexpr auto kExitOf = [] {
    std::array<std::uint8_t, 256> exits{};
    for (unsigned results = 0; results < exits.size(); ++results) {
        unsigned entry = 1;
        while (entry < NodeBlock::kEntries) entry = 2 * entry + (results >> entry & 1);
        exits[results] = static_cast<std::uint8_t>(entry - NodeBlock::kEntries);
    }
    return exits;
}();

template <bool kTwo>
class RowCodes {
public:
    RowCodes(const std::uint16_t* row, __mmask32 first, __mmask32 second)
        : first_(_mm512_maskz_loadu_epi16(first, row)) {
        if constexpr (kTwo) second_ = _mm512_maskz_loadu_epi16(second, row + kVectorCodes);
    }

    std::size_t exit_of(const NodeBlock& block) const {
        const __m256i both = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(&block));
        const __m512i column = _mm512_castsi256_si512(both);
        __m512i own;
        if constexpr (kTwo)
            own = _mm512_permutex2var_epi16(first_, column, second_);
        else
            own = _mm512_permutexvar_epi16(column, first_);
        return kExitOf[_mm_cmpgt_epu16_mask(_mm512_castsi512_si128(own), _mm256_extracti128_si256(both, 1))];
    }

private:
    __m512i first_;
    __m512i second_;
};

template <bool kTwo>
void walk(const NodeBlock* blocks, const std::uint16_t* codes, std::size_t stride, const std::uint32_t* rows,
          std::size_t n, std::uint32_t* exits) {
    const std::size_t n_first = std::min(stride, kVectorCodes);
    const auto mask_of = [](std::size_t count) { return static_cast<__mmask32>((std::uint64_t{1} << count) - 1); };
    const __mmask32 first = mask_of(n_first);
    const __mmask32 second = mask_of(stride - n_first);
    for (std::size_t i = 0; i < n; ++i) {
        const std::uint16_t* const later = codes + rows[std::min(i + kAhead, n - 1)] * stride;
        __builtin_prefetch(later);
        __builtin_prefetch(later + stride - 1);
        const RowCodes<kTwo> row(codes + rows[i] * stride, first, second);
        std::size_t at = row.exit_of(blocks[0]);
        at = 8 * at + row.exit_of(blocks[1 + at]);
        at = 8 * at + row.exit_of(blocks[1 + 8 + at]);
        at = 8 * at + row.exit_of(blocks[1 + 8 + 64 + at]);
        exits[i] = static_cast<std::uint32_t>(at);
    }
}

void walk_top(const NodeBlock* blocks, const std::uint16_t* codes, std::size_t stride, const std::uint32_t* rows,
              std::size_t n, std::uint32_t* exits) {
    if (stride <= kVectorCodes)
        walk<false>(blocks, codes, stride, rows, n, exits);
    else
        walk<true>(blocks, codes, stride, rows, n, exits);
}

constexpr std::size_t kNodes = 16;         // laid out in a step
constexpr std::size_t kFetchWords = 1024;  // ahead of their use: what processors fetch by themselves ends with a page

// Every third of 48 words, from `first` on: of the first two vectors, and with the last one.
class ThirdWords {
public:
    explicit ThirdWords(int first) {
        alignas(64) std::int32_t of_two[kNodes];
        alignas(64) std::int32_t of_all[kNodes];
        for (int i = 0; i < static_cast<int>(kNodes); ++i) {
            const int word = 3 * i + first;
            of_two[i] = word & 31;
            of_all[i] = word < 32 ? i : word - 16;  // of the last vector: 16 and more
        }
        of_two_ = _mm512_loadu_si512(of_two);
        of_all_ = _mm512_loadu_si512(of_all);
    }
    __m512i operator()(__m512i a, __m512i b, __m512i c) const {
        return _mm512_permutex2var_epi32(_mm512_permutex2var_epi32(a, of_two_, b), of_all_, c);
    }

private:
    __m512i of_two_;
    __m512i of_all_;
};

std::uint32_t lay_out(const void* packed, std::size_t n, std::uint32_t begin, bool leaf_values, void* laid) {
    const auto* from = static_cast<const std::uint32_t*>(packed);
    auto* to = static_cast<std::uint32_t*>(laid);
    const ThirdWords lefts(0);
    const ThirdWords conditions(1);
    const ThirdWords codes(2);
    const __m512i lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const __m512i low_pairs = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    const __m512i high_pairs = _mm512_add_epi32(low_pairs, _mm512_set1_epi32(8));
    const __m512i begins = _mm512_set1_epi32(static_cast<int>(begin));
    const __m512i one = _mm512_set1_epi32(1);
    __m512i own = _mm512_add_epi32(lanes, one);
    __m512i farthest = _mm512_setzero_si512();
    for (std::size_t i = 0; i < n; i += kNodes, from += 3 * kNodes, to += 2 * kNodes) {
        const std::size_t n_now = std::min(kNodes, n - i);
        for (std::size_t line = 0; line < 3; ++line) __builtin_prefetch(from + kFetchWords + 16 * line);
        const auto words_from = [n_now](std::size_t nodes_words, std::size_t first) {
            const std::size_t all = nodes_words * n_now;
            const std::size_t here = all <= first ? 0 : std::min<std::size_t>(16, all - first);
            return static_cast<__mmask16>((1u << here) - 1u);
        };
        const __m512i a = _mm512_maskz_loadu_epi32(words_from(3, 0), from);
        const __m512i b = _mm512_maskz_loadu_epi32(words_from(3, 16), from + 16);
        const __m512i c = _mm512_maskz_loadu_epi32(words_from(3, 32), from + 32);
        const __m512i condition = conditions(a, b, c);
        const __m512i packed_left = lefts(a, b, c);
        const __m512i left = _mm512_sub_epi32(packed_left, begins);
        const __mmask16 leaf = _mm512_movepi32_mask(condition);
        const auto present = static_cast<__mmask16>((1u << n_now) - 1u);
        farthest = _mm512_mask_max_epu32(farthest, static_cast<__mmask16>(present & ~leaf), farthest, left);
        __m512i code = _mm512_slli_epi32(codes(a, b, c), 16);
        code = _mm512_mask_mov_epi32(code, leaf, _mm512_set1_epi32(static_cast<int>(0xffff0000u)));
        const __m512i column = _mm512_mask_mov_epi32(condition, leaf_values ? leaf : __mmask16{0}, packed_left);
        const __m512i column_and_code = _mm512_or_si512(code, _mm512_and_si512(column, _mm512_set1_epi32(0xffff)));
        const __m512i next = _mm512_mask_mov_epi32(_mm512_add_epi32(left, one), leaf, own);
        _mm512_mask_storeu_epi32(to, words_from(2, 0), _mm512_permutex2var_epi32(column_and_code, low_pairs, next));
        _mm512_mask_storeu_epi32(to + 16, words_from(2, 16),
                                 _mm512_permutex2var_epi32(column_and_code, high_pairs, next));
        own = _mm512_add_epi32(own, _mm512_set1_epi32(kNodes));
    }
    return _mm512_reduce_max_epu32(farthest);
}

}  // namespace

NodeWalkKernels node_walk_kernels() {
    return {.max_top_columns = 2 * kVectorCodes, .walk_top = walk_top, .lay_out = lay_out};
}

}  // namespace coterie::avx512

#endif
