// kernels/avx512/feature_draws.cpp: eight hashes at once; the position of a bit is one instruction.
#include "coterie/kernels/feature_draws.hpp"

#if defined(COTERIE_HAS_AVX2)

#include <immintrin.h>

#include "coterie/base/random.hpp"

namespace coterie::avx512 {

void draw(FeatureChoice& choice, std::size_t n_draws, std::uint32_t* drawn, std::uint32_t* shares) {
    const __m512i lanes = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
    const auto set = [](std::uint64_t value) { return _mm512_set1_epi64(static_cast<long long>(value)); };
    __m512i bits = _mm512_add_epi64(set(draw_position(choice.seed, choice.n_drawn)),
                                    _mm512_mullo_epi64(lanes, set(draw_position(0, 0))));
    // mix of base/random.hpp
    bits = _mm512_xor_si512(bits, _mm512_srli_epi64(bits, 30));
    bits = _mm512_mullo_epi64(bits, set(0xbf58476d1ce4e5b9ull));
    bits = _mm512_xor_si512(bits, _mm512_srli_epi64(bits, 27));
    bits = _mm512_mullo_epi64(bits, set(0x94d049bb133111ebull));
    bits = _mm512_xor_si512(bits, _mm512_srli_epi64(bits, 31));
    const __m512i n_left = _mm512_sub_epi64(set(choice.n - choice.n_drawn), lanes);
    const __m512i rank = _mm512_srli_epi64(_mm512_mul_epu32(_mm512_srli_epi64(bits, 32), n_left), 32);
    alignas(64) std::uint64_t ranks[kMaxDraws];
    _mm512_store_si512(ranks, rank);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(shares), _mm512_cvtepi64_epi32(bits));
    std::uint64_t left = choice.left;
    for (std::size_t i = 0; i < n_draws; ++i) {
        const std::uint64_t own = _pdep_u64(std::uint64_t{1} << ranks[i], left);
        left ^= own;
        drawn[i] = choice.features[_tzcnt_u64(own)];
    }
    choice.left = left;
    choice.n_drawn += n_draws;
}

namespace {}  // namespace

FeatureDrawKernels feature_draw_kernels() { return {.draw = draw}; }

}  // namespace coterie::avx512

#endif
