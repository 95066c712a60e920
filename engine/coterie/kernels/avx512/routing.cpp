// kernels/avx512/routing.cpp: the codes of 128 rows are two vectors.
#include "coterie/kernels/routing.hpp"

#if defined(COTERIE_HAS_AVX2)

#include <immintrin.h>

namespace coterie::avx512 {
namespace {

constexpr std::size_t kPart = 64;  // rows of a vector
constexpr std::size_t kParts = kRouteRows / kPart;

__mmask64 passed_by(const RouteStep& step, __m512i bins) {
    if (step.set == nullptr) {
        const __m512i moved = _mm512_sub_epi8(bins, _mm512_set1_epi8(static_cast<char>(step.shift)));
        return _mm512_cmple_epu8_mask(moved, _mm512_set1_epi8(static_cast<char>(step.span)));
    }
    // Bits of a set: the byte bin / 8 from one of two tables of 16, then the bit bin % 8 of it.
    const __m512i low = _mm512_broadcast_i32x4(_mm_loadu_si128(reinterpret_cast<const __m128i*>(step.set)));
    const __m512i high = _mm512_broadcast_i32x4(_mm_loadu_si128(reinterpret_cast<const __m128i*>(step.set + 16)));
    const __m512i bit_of = _mm512_set1_epi64(static_cast<std::int64_t>(0x8040201008040201ull));
    const __m512i byte = _mm512_and_si512(_mm512_srli_epi16(bins, 3), _mm512_set1_epi8(0x1f));
    const __mmask64 in_high = _mm512_movepi8_mask(bins);
    const __m512i word =
        _mm512_mask_blend_epi8(in_high, _mm512_shuffle_epi8(low, byte), _mm512_shuffle_epi8(high, byte));
    const __m512i bit = _mm512_shuffle_epi8(bit_of, _mm512_and_si512(bins, _mm512_set1_epi8(7)));
    return _mm512_test_epi8_mask(word, bit) ^ (step.out_of_set ? ~__mmask64{0} : 0);
}

__mmask64 passed_by(const RouteStep& step, const Bin* columns, std::size_t part) {
    return passed_by(step, _mm512_loadu_si512(columns + step.column + part * kPart));
}

// The codes at hand stay in registers.
void route(const Bin* columns, const RouteStep* steps, std::size_t n_steps, std::size_t begin, std::uint8_t* codes) {
    __m512i aside[kMaxPutAside][kParts];
    std::size_t n_aside = 0;
    __m512i at_hand[kParts];
    for (__m512i& part : at_hand) part = _mm512_setzero_si512();
    columns += begin;
    for (const RouteStep* step = steps; step != steps + n_steps; ++step) {
        const __m512i code = _mm512_set1_epi8(static_cast<char>(step->code));
        if (step->way == RouteStep::Way::attach) {
            for (std::size_t k = 0; k < kParts; ++k)
                at_hand[k] = _mm512_mask_mov_epi8(at_hand[k], passed_by(*step, columns, k), code);
        } else if (step->way == RouteStep::Way::start) {
            const __m512i other = _mm512_set1_epi8(static_cast<char>(step->other));
            for (std::size_t k = 0; k < kParts; ++k) {
                aside[n_aside][k] = at_hand[k];
                at_hand[k] = _mm512_mask_mov_epi8(other, passed_by(*step, columns, k), code);
            }
            ++n_aside;
        } else {
            --n_aside;
            for (std::size_t k = 0; k < kParts; ++k)
                at_hand[k] = _mm512_mask_mov_epi8(at_hand[k], passed_by(*step, columns, k), aside[n_aside][k]);
        }
    }
    for (std::size_t k = 0; k < kParts; ++k) _mm512_storeu_si512(codes + k * kPart, at_hand[k]);
}

void route_symmetric(const Bin* columns, const RouteStep* steps, std::size_t n_steps, std::size_t begin,
                     std::uint8_t* codes) {
    __m512i sums[kParts];
    for (__m512i& part : sums) part = _mm512_setzero_si512();
    const __m512i one = _mm512_set1_epi8(1);
    columns += begin;
    for (std::size_t s = 0; s < n_steps; ++s)
        for (std::size_t k = 0; k < kParts; ++k) {
            const __m512i twice = _mm512_add_epi8(sums[k], sums[k]);
            sums[k] = _mm512_mask_add_epi8(twice, ~passed_by(steps[s], columns, k), twice, one);
        }
    for (std::size_t k = 0; k < kParts; ++k) _mm512_storeu_si512(codes + k * kPart, sums[k]);
}

}  // namespace

RoutingKernels routing_kernels() { return {.route = route, .route_symmetric = route_symmetric}; }

}  // namespace coterie::avx512

#endif
