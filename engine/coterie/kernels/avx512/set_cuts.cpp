// kernels/avx512/set_cuts.cpp: the rows of a set are the lanes of one vector for each column. All columns meet a row
// together, so that they hide each other's latency, and the best lane is looked for once.
#include "coterie/kernels/set_cuts.hpp"

#if defined(COTERIE_HAS_AVX2)

#include <immintrin.h>

namespace coterie::avx512 {
namespace {

constexpr std::size_t kLanes = 32;
constexpr std::size_t kHalf = kLanes / 2;

std::uint64_t count(RowSet word) { return static_cast<std::uint64_t>(_mm_popcnt_u64(word)); }

#include "coterie/kernels/shared/set_statistics.inl"

/// The best of the cuts so far, lane by lane: their gains, and columns with code ^ salt, the least of equals.
struct BestLanes {
    __m512 gain = _mm512_set1_ps(-1.0f);
    __m512i key = _mm512_set1_epi32(-1);

    // Where nothing is on the right the gain is 0 / 0, which is neither greater than another nor the same.
    void add(__m256i distance, __m256i product, __m256i code_key, std::size_t column) {
        const __m512 far = _mm512_cvtepi32_ps(_mm512_cvtepi16_epi32(distance));
        const __m512 own = _mm512_div_ps(_mm512_mul_ps(far, far), _mm512_cvtepi32_ps(_mm512_cvtepi16_epi32(product)));
        const __m512i own_key =
            _mm512_or_si512(_mm512_cvtepu16_epi32(code_key), _mm512_set1_epi32(static_cast<int>(column << 16)));
        const __mmask16 equal = _mm512_cmp_ps_mask(own, gain, _CMP_EQ_OQ);
        const __mmask16 first = _mm512_mask_cmplt_epu32_mask(equal, own_key, key);
        const auto better = static_cast<__mmask16>(_mm512_cmp_ps_mask(own, gain, _CMP_GT_OQ) | first);
        gain = _mm512_mask_mov_ps(gain, better, own);
        key = _mm512_mask_mov_epi32(key, better, own_key);
    }
};

std::uint16_t least_of(__m512i lanes) {
    const __m256i half = _mm256_min_epu16(_mm512_castsi512_si256(lanes), _mm512_extracti64x4_epi64(lanes, 1));
    const __m128i quarter = _mm_min_epu16(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
    return static_cast<std::uint16_t>(_mm_extract_epi16(_mm_minpos_epu16(quarter), 0));
}

/// Gathers the codes of a set of at most 32 rows.
class Packing {
public:
    explicit Packing(RowSet set)
        : low_(static_cast<__mmask32>(set)),
          high_(static_cast<__mmask32>(set >> kLanes)),
          rest_(static_cast<__mmask32>(((std::uint64_t{1} << count(high_)) - 1) << count(low_))) {}

    __attribute__((target("avx512vbmi2"))) __m512i operator()(const std::uint16_t* column) const {
        const __m512i first = _mm512_maskz_compress_epi16(low_, _mm512_load_si512(column));
        const __m512i second = _mm512_maskz_compress_epi16(high_, _mm512_load_si512(column + kLanes));
        return _mm512_mask_expand_epi16(first, rest_, second);
    }

private:
    __mmask32 low_;
    __mmask32 high_;
    __mmask32 rest_;  // lanes of the second half
};

template <std::size_t kColumns>
__attribute__((target("avx512vbmi2"))) bool best_of(const TransposedCodes& codes, RowSet set,
                                                    const std::uint32_t* columns, const SmallClassNode& node,
                                                    const SetWeights& weights, SetCut& best) {
    const Packing pack(set);
    const auto present = static_cast<__mmask32>((std::uint64_t{1} << node.n) - 1);
    alignas(64) std::uint16_t statistic[kLanes];
    alignas(64) std::uint16_t packed[kColumns][kLanes];
    _mm512_store_si512(statistic, pack(node.statistic));
    __m512i code[kColumns];
    __m512i left[kColumns];
    __m512i least = _mm512_set1_epi16(-1);
    for (std::size_t k = 0; k < kColumns; ++k) {
        // Behind the last row everything is on the left, which is no cut.
        code[k] = _mm512_mask_mov_epi16(_mm512_set1_epi16(-1), present, pack(codes.column[columns[k]]));
        _mm512_store_si512(packed[k], code[k]);
        least = _mm512_min_epu16(least, code[k]);
        left[k] = _mm512_setzero_si512();
    }
    if (_mm512_cmpeq_epi16_mask(least, _mm512_setzero_si512()) != 0) return false;
    for (std::size_t j = 0; j < node.n; ++j) {
        const __m512i own = _mm512_set1_epi16(static_cast<short>(statistic[j]));
        for (std::size_t k = 0; k < kColumns; ++k) {
            const __m512i other = _mm512_set1_epi16(static_cast<short>(packed[k][j]));
            left[k] = _mm512_mask_add_epi16(left[k], _mm512_cmple_epu16_mask(other, code[k]), left[k], own);
        }
    }
    // Sums and weights are 64 at most, so that products have room in 16 bits.
    const __m512i all_weight = _mm512_set1_epi16(static_cast<short>(node.weight));
    const __m512i all_sum = _mm512_set1_epi16(static_cast<short>(node.sum));
    const __m512i salt = _mm512_set1_epi16(static_cast<short>(node.salt));
    BestLanes lanes;
    for (std::size_t k = 0; k < kColumns; ++k) {
        const __m512i weight = _mm512_and_si512(left[k], _mm512_set1_epi16(0xff));
        const __m512i sum = _mm512_srli_epi16(left[k], 8);
        const __m512i distance =
            _mm512_sub_epi16(_mm512_mullo_epi16(sum, all_weight), _mm512_mullo_epi16(weight, all_sum));
        const __m512i product = _mm512_mullo_epi16(weight, _mm512_sub_epi16(all_weight, weight));
        const __m512i key = _mm512_xor_si512(code[k], salt);
        lanes.add(_mm512_castsi512_si256(distance), _mm512_castsi512_si256(product), _mm512_castsi512_si256(key), k);
        if (node.n > kHalf)
            lanes.add(_mm512_extracti64x4_epi64(distance, 1), _mm512_extracti64x4_epi64(product, 1),
                      _mm512_extracti64x4_epi64(key, 1), k);
    }
    best.gain = _mm512_reduce_max_ps(lanes.gain);
    if (best.gain < 0.0f) return true;
    const __mmask16 greatest = _mm512_cmp_ps_mask(lanes.gain, _mm512_set1_ps(best.gain), _CMP_EQ_OQ);
    const std::uint32_t key = _mm512_mask_reduce_min_epu32(greatest, lanes.key);
    best.column = key >> 16;
    best.last = static_cast<std::uint16_t>((key & 0xffffu) ^ node.salt);
    const std::uint16_t* const column = codes.column[columns[best.column]];
    const __m512i first = _mm512_load_si512(column);
    const __m512i second = _mm512_load_si512(column + kLanes);
    const __m512i last = _mm512_set1_epi16(static_cast<short>(best.last));
    best.left = _mm512_kunpackd(_mm512_cmple_epu16_mask(second, last), _mm512_cmple_epu16_mask(first, last)) & set;
    best.statistic = statistic_of_word(weights, second_of(weights, 0), best.left);
    const RowSet right = set & ~best.left;
    const __m512i ones = _mm512_set1_epi16(-1);
    const __m512i low = _mm512_mask_mov_epi16(ones, static_cast<__mmask32>(right), first);
    const __m512i high = _mm512_mask_mov_epi16(ones, static_cast<__mmask32>(right >> kLanes), second);
    best.next = least_of(_mm512_min_epu16(low, high));
    return true;
}

bool best(const TransposedCodes& codes, RowSet set, const std::uint32_t* columns, std::size_t n_columns,
          const SmallClassNode& node, const SetWeights& weights, SetCut& best) {
    switch (n_columns) {
        case 1: return best_of<1>(codes, set, columns, node, weights, best);
        case 2: return best_of<2>(codes, set, columns, node, weights, best);
        case 3: return best_of<3>(codes, set, columns, node, weights, best);
        case 4: return best_of<4>(codes, set, columns, node, weights, best);
        case 5: return best_of<5>(codes, set, columns, node, weights, best);
        case 6: return best_of<6>(codes, set, columns, node, weights, best);
        case 7: return best_of<7>(codes, set, columns, node, weights, best);
        default: return best_of<8>(codes, set, columns, node, weights, best);
    }
}

}  // namespace

SetCutKernels set_cut_kernels() {
    if (!__builtin_cpu_supports("avx512vbmi2")) return generic::set_cut_kernels();
    return {.max_rows = kLanes, .best = best};
}

}  // namespace coterie::avx512

#endif
