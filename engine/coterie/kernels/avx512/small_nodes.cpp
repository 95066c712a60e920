// kernels/avx512/small_nodes.cpp: small nodes of numbers, a cut of sixteen features at once.
#include "coterie/kernels/small_nodes.hpp"

#if defined(COTERIE_HAS_AVX2)

#include <immintrin.h>

#include "coterie/kernels/avx512/picker.hpp"
#include "coterie/kernels/kernels.hpp"

namespace coterie::avx512 {
namespace {

__m256i sixteen_codes(const std::uint16_t* codes) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(codes));
}

template <bool kTwo>
std::uint32_t pick(const CodeRows& rows, const WordRecord* records, std::size_t n, const Picker<kTwo>& picker,
                   std::uint16_t* out) {
    __m256i least = _mm256_set1_epi16(-1);
    for (std::size_t i = 0; i < n; ++i) {
        const __m256i codes = picker(rows.codes + records[i].row * rows.stride);
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i * kSmallNodeFeatures), codes);
        least = _mm256_min_epu16(least, codes);
    }
    return _mm256_cmpeq_epi16_mask(least, _mm256_setzero_si256());
}

/// The best of the cuts that were scored so far, lane by lane.
class BestCuts {
public:
    explicit BestCuts(const SmallNumberNode& rows)
        : sum_(_mm512_set1_epi32(static_cast<int>(rows.sum))),
          weight_(_mm512_set1_epi32(static_cast<int>(rows.weight))),
          salt_(_mm512_set1_epi32(rows.salt)) {}

    // Where nothing is on the right the gain is 0 / 0, which is neither greater than another nor the same.
    void score(__m256i codes, __m512i left) {
        const __m512i left_weight = _mm512_and_si512(left, _mm512_set1_epi32(0xff));
        const __m512i left_sum = _mm512_srli_epi32(left, 8);
        const __m512i right_weight = _mm512_sub_epi32(weight_, left_weight);
        const __m512 distance = _mm512_cvtepi32_ps(
            _mm512_sub_epi32(_mm512_mullo_epi32(left_sum, weight_), _mm512_mullo_epi32(left_weight, sum_)));
        const __m512 gain = _mm512_div_ps(_mm512_mul_ps(distance, distance),
                                          _mm512_cvtepi32_ps(_mm512_mullo_epi32(left_weight, right_weight)));
        const __m512i key = _mm512_xor_si512(_mm512_cvtepu16_epi32(codes), salt_);
        const __mmask16 equal = _mm512_cmp_ps_mask(gain, gain_, _CMP_EQ_OQ);
        const __mmask16 first = _mm512_mask_cmplt_epi32_mask(equal, key, key_);
        const auto better = static_cast<__mmask16>(_mm512_cmp_ps_mask(gain, gain_, _CMP_GT_OQ) | first);
        gain_ = _mm512_mask_mov_ps(gain_, better, gain);
        key_ = _mm512_mask_mov_epi32(key_, better, key);
    }

    void store(SmallNodeCuts& cuts) const {
        _mm512_storeu_ps(cuts.gain, gain_);
        _mm512_storeu_si512(cuts.code, _mm512_xor_si512(key_, salt_));
    }

private:
    __m512i sum_;
    __m512i weight_;
    __m512i salt_;
    __m512 gain_ = _mm512_set1_ps(-1.0f);
    __m512i key_ = _mm512_setzero_si512();
};

// The cuts of kCuts rows from `first` on.
template <std::size_t kCuts>
void score(const std::uint16_t* codes, std::size_t first, const SmallNumberNode& rows, BestCuts& best) {
    __m256i code[kCuts];
    __m512i left[kCuts];
    for (std::size_t v = 0; v < kCuts; ++v) {
        code[v] = sixteen_codes(codes + (first + v) * kSmallNodeFeatures);
        left[v] = _mm512_setzero_si512();
    }
    for (std::size_t j = 0; j < rows.n; ++j) {
        const __m256i other = sixteen_codes(codes + j * kSmallNodeFeatures);
        const __m512i statistic = _mm512_set1_epi32(static_cast<int>(rows.statistic[j]));
        for (std::size_t v = 0; v < kCuts; ++v)
            left[v] = _mm512_mask_add_epi32(left[v], _mm256_cmple_epu16_mask(other, code[v]), left[v], statistic);
    }
    for (std::size_t v = 0; v < kCuts; ++v) best.score(code[v], left[v]);
}

// Of four rows, or of those that are left.
void score_four(const std::uint16_t* codes, std::size_t first, const SmallNumberNode& rows, BestCuts& best) {
    switch (rows.n - first) {
        case 1: return score<1>(codes, first, rows, best);
        case 2: return score<2>(codes, first, rows, best);
        case 3: return score<3>(codes, first, rows, best);
        default: return score<4>(codes, first, rows, best);
    }
}

std::uint32_t pick_codes(const CodeRows& rows, const WordRecord* records, std::size_t n, const std::uint32_t* columns,
                         std::size_t n_columns, std::uint16_t* out) {
    const auto used = static_cast<std::uint32_t>((1u << n_columns) - 1u);
    if (rows.stride <= kVectorCodes)
        return pick<false>(rows, records, n, {rows.stride, columns, n_columns}, out) & used;
    if (rows.stride <= 2 * kVectorCodes)
        return pick<true>(rows, records, n, {rows.stride, columns, n_columns}, out) & used;
    return generic_kernels().small_node.pick_codes(rows, records, n, columns, n_columns, out);
}

void cut_numbers(const SmallNodeCodes& codes, const SmallNumberNode& rows, SmallNodeCuts& cuts) {
    if (codes.n_features <= kSmallNodeFeatures / 2) return avx2_kernels().small_node.cut_numbers(codes, rows, cuts);
    BestCuts best(rows);
    for (std::size_t first = 0; first < rows.n; first += 4) score_four(codes.codes, first, rows, best);
    best.store(cuts);
}

}  // namespace

SmallNodeKernels small_node_kernels() {
    SmallNodeKernels all = avx2::small_node_kernels();
    all.pick_codes = pick_codes;
    all.cut_numbers = cut_numbers;
    return all;
}

}  // namespace coterie::avx512

#endif
