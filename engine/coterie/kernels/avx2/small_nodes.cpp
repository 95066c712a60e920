// kernels/avx2/small_nodes.cpp: the cuts of small nodes: sixteen of one feature at once, or one of eight features.
#include "coterie/kernels/small_nodes.hpp"

#if defined(COTERIE_HAS_AVX2)

#include <immintrin.h>

#include <algorithm>

namespace coterie::avx2 {
namespace {

/// The best of the cuts that were scored so far, lane by lane.
class BestCut {
public:
    template <class Word>
    explicit BestCut(const SmallNode<Word>& rows)
        : sum_(_mm256_set1_epi32(static_cast<int>(rows.sum))),
          weight_(_mm256_set1_epi32(static_cast<int>(rows.weight))),
          salt_(_mm256_set1_epi32(rows.salt)) {}

    // Eight cuts: their codes, and the words on their left.
    void score(__m256i code, __m256i left) {
        const __m256i left_weight = _mm256_and_si256(left, _mm256_set1_epi32(0xff));
        const __m256i left_sum = _mm256_srli_epi32(left, 8);
        const __m256i right_weight = _mm256_sub_epi32(weight_, left_weight);
        const __m256 distance = _mm256_cvtepi32_ps(
            _mm256_sub_epi32(_mm256_mullo_epi32(left_sum, weight_), _mm256_mullo_epi32(left_weight, sum_)));
        const __m256 gain = _mm256_div_ps(_mm256_mul_ps(distance, distance),
                                          _mm256_cvtepi32_ps(_mm256_mullo_epi32(left_weight, right_weight)));
        const __m256i key = _mm256_xor_si256(code, salt_);
        const __m256i first = _mm256_cmpgt_epi32(key_, key);
        const __m256 equal = _mm256_and_ps(_mm256_cmp_ps(gain, gain_, _CMP_EQ_OQ), _mm256_castsi256_ps(first));
        const __m256 greater = _mm256_cmp_ps(gain, gain_, _CMP_GT_OQ);
        const __m256 is_cut = _mm256_castsi256_ps(_mm256_cmpgt_epi32(right_weight, _mm256_setzero_si256()));
        const __m256 better = _mm256_and_ps(is_cut, _mm256_or_ps(equal, greater));
        gain_ = _mm256_blendv_ps(gain_, gain, better);
        key_ = _mm256_blendv_epi8(key_, key, _mm256_castps_si256(better));
    }

    /// Lane by lane.
    void store(float* gain, std::uint32_t* code) const {
        _mm256_storeu_ps(gain, gain_);
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(code), _mm256_xor_si256(key_, salt_));
    }

    /// Of all lanes.
    SmallNodeCut best() const {
        alignas(32) float gains[8];
        alignas(32) std::uint32_t keys[8];
        _mm256_store_ps(gains, gain_);
        _mm256_store_si256(reinterpret_cast<__m256i*>(keys), key_);
        SmallNodeCut cut;
        for (int lane = 0; lane < 8; ++lane)
            if (gains[lane] > cut.gain || (gains[lane] == cut.gain && keys[lane] < cut.code))
                cut = {gains[lane], keys[lane]};
        cut.code ^= static_cast<std::uint32_t>(_mm256_extract_epi32(salt_, 0));
        return cut;
    }

private:
    __m256i sum_;
    __m256i weight_;
    __m256i salt_;
    __m256 gain_ = _mm256_set1_ps(-1.0f);
    __m256i key_ = _mm256_setzero_si256();
};

// Cuts of 16 * kVectors rows from `first` on.
template <std::size_t kVectors>
void score_classes(const std::uint16_t* codes, std::size_t first, const SmallClassNode& rows, BestCut& best) {
    __m256i code[kVectors];
    __m256i left[kVectors];
    for (std::size_t v = 0; v < kVectors; ++v) {
        code[v] = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(codes + first + 16 * v));
        left[v] = _mm256_setzero_si256();
    }
    for (std::size_t j = 0; j < rows.n; ++j) {
        const __m256i other = _mm256_set1_epi16(static_cast<short>(codes[j]));
        const __m256i statistic = _mm256_set1_epi16(static_cast<short>(rows.statistic[j]));
        for (std::size_t v = 0; v < kVectors; ++v) {
            const __m256i is_left = _mm256_cmpeq_epi16(_mm256_max_epu16(code[v], other), code[v]);
            left[v] = _mm256_add_epi16(left[v], _mm256_and_si256(statistic, is_left));
        }
    }
    for (std::size_t v = 0; v < kVectors; ++v) {
        best.score(_mm256_cvtepu16_epi32(_mm256_castsi256_si128(code[v])),
                   _mm256_cvtepu16_epi32(_mm256_castsi256_si128(left[v])));
        best.score(_mm256_cvtepu16_epi32(_mm256_extracti128_si256(code[v], 1)),
                   _mm256_cvtepu16_epi32(_mm256_extracti128_si256(left[v], 1)));
    }
}

__m256i eight_codes(const std::uint16_t* codes) {
    return _mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(codes)));
}

// The cuts of kCuts rows from `first` on, in eight features.
template <std::size_t kCuts>
void score_numbers(const std::uint16_t* codes, std::size_t first, const SmallNumberNode& rows, BestCut& best) {
    __m256i code[kCuts];
    __m256i left[kCuts];
    for (std::size_t v = 0; v < kCuts; ++v) {
        code[v] = eight_codes(codes + (first + v) * kSmallNodeFeatures);
        left[v] = _mm256_setzero_si256();
    }
    for (std::size_t j = 0; j < rows.n; ++j) {
        const __m256i other = eight_codes(codes + j * kSmallNodeFeatures);
        const __m256i statistic = _mm256_set1_epi32(static_cast<int>(rows.statistic[j]));
        for (std::size_t v = 0; v < kCuts; ++v)
            left[v] = _mm256_add_epi32(left[v], _mm256_andnot_si256(_mm256_cmpgt_epi32(other, code[v]), statistic));
    }
    for (std::size_t v = 0; v < kCuts; ++v) best.score(code[v], left[v]);
}

// Of four rows, or of those that are left.
void score_four(const std::uint16_t* codes, std::size_t first, const SmallNumberNode& rows, BestCut& best) {
    switch (rows.n - first) {
        case 1: return score_numbers<1>(codes, first, rows, best);
        case 2: return score_numbers<2>(codes, first, rows, best);
        case 3: return score_numbers<3>(codes, first, rows, best);
        default: return score_numbers<4>(codes, first, rows, best);
    }
}

// Behind the last row everything is on the left, which is no cut.
void fill_up(std::uint16_t* codes, std::size_t n, std::size_t n_lanes) {
    std::fill(codes + n, codes + (n + n_lanes - 1) / n_lanes * n_lanes, std::uint16_t{0xffff});
}

SmallNodeCut cut_classes(std::uint16_t* codes, const SmallClassNode& rows) {
    fill_up(codes, rows.n, 16);
    BestCut best(rows);
    if (rows.n <= 16)
        score_classes<1>(codes, 0, rows, best);
    else if (rows.n <= 32)
        score_classes<2>(codes, 0, rows, best);
    else if (rows.n <= 48)
        score_classes<3>(codes, 0, rows, best);
    else
        score_classes<4>(codes, 0, rows, best);
    return best.best();
}

void cut_numbers(const SmallNodeCodes& codes, const SmallNumberNode& rows, SmallNodeCuts& cuts) {
    for (std::size_t lane = 0; lane < codes.n_features; lane += 8) {
        BestCut best(rows);
        for (std::size_t first = 0; first < rows.n; first += 4) score_four(codes.codes + lane, first, rows, best);
        best.store(cuts.gain + lane, cuts.code + lane);
    }
}

}  // namespace

SmallNodeKernels small_node_kernels() {
    return {
        .pick_codes = generic::small_node_kernels().pick_codes, .cut_classes = cut_classes, .cut_numbers = cut_numbers};
}

}  // namespace coterie::avx2

#endif
