// kernels/avx2/routing.cpp: the codes of 128 rows are four vectors.
#include "coterie/kernels/routing.hpp"

#if defined(COTERIE_HAS_AVX2)

#include <immintrin.h>

namespace coterie::avx2 {
namespace {

struct NumericRule {
    __m256i shift;
    __m256i span;

    explicit NumericRule(const RouteStep& step)
        : shift(_mm256_set1_epi8(static_cast<char>(step.shift))),
          span(_mm256_set1_epi8(static_cast<char>(step.span))) {}

    __m256i passed(__m256i bins) const {
        const __m256i moved = _mm256_sub_epi8(bins, shift);
        return _mm256_cmpeq_epi8(_mm256_min_epu8(moved, span), moved);
    }
};

// Bits of a set: the byte bin / 8 from one of two tables of 16, then the bit bin % 8 of it.
struct NominalRule {
    __m256i low;
    __m256i high;
    __m256i out;

    explicit NominalRule(const RouteStep& step)
        : low(_mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(step.set)))),
          high(_mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(step.set + 16)))),
          out(_mm256_set1_epi8(step.out_of_set ? -1 : 0)) {}

    __m256i passed(__m256i bins) const {
        const __m256i bit_of = _mm256_set1_epi64x(static_cast<std::int64_t>(0x8040201008040201ull));
        const __m256i byte = _mm256_and_si256(_mm256_srli_epi16(bins, 3), _mm256_set1_epi8(0x1f));
        const __m256i in_high = _mm256_cmpgt_epi8(byte, _mm256_set1_epi8(15));
        const __m256i word =
            _mm256_blendv_epi8(_mm256_shuffle_epi8(low, byte), _mm256_shuffle_epi8(high, byte), in_high);
        const __m256i bit = _mm256_shuffle_epi8(bit_of, _mm256_and_si256(bins, _mm256_set1_epi8(7)));
        return _mm256_xor_si256(_mm256_cmpeq_epi8(_mm256_and_si256(word, bit), bit), out);
    }
};

constexpr std::size_t kParts = kRouteRows / 32;  // of a vector each

// For each part of the rows, who passes.
template <class Rule, class Take>
inline void for_passed(const Bin* columns, const RouteStep& step, Take take) {
    const Rule rule(step);
    const auto* const bins = reinterpret_cast<const __m256i*>(columns + step.column);
    for (std::size_t part = 0; part < kParts; ++part) take(part, rule.passed(_mm256_loadu_si256(bins + part)));
}

template <class Take>
inline void for_passed(const Bin* columns, const RouteStep& step, Take take) {
    if (step.set == nullptr)
        for_passed<NumericRule>(columns, step, take);
    else
        for_passed<NominalRule>(columns, step, take);
}

// The codes at hand stay in registers.
void route(const Bin* columns, const RouteStep* steps, std::size_t n_steps, std::size_t begin, std::uint8_t* codes) {
    __m256i aside[kMaxPutAside][kParts];
    std::size_t n_aside = 0;
    __m256i at_hand[kParts];
    for (__m256i& part : at_hand) part = _mm256_setzero_si256();
    for (const RouteStep* step = steps; step != steps + n_steps; ++step) {
        const __m256i code = _mm256_set1_epi8(static_cast<char>(step->code));
        if (step->way == RouteStep::Way::attach) {
            for_passed(columns + begin, *step, [&](std::size_t part, __m256i passed) {
                at_hand[part] = _mm256_blendv_epi8(at_hand[part], code, passed);
            });
        } else if (step->way == RouteStep::Way::start) {
            const __m256i other = _mm256_set1_epi8(static_cast<char>(step->other));
            for_passed(columns + begin, *step, [&](std::size_t part, __m256i passed) {
                aside[n_aside][part] = at_hand[part];
                at_hand[part] = _mm256_blendv_epi8(other, code, passed);
            });
            ++n_aside;
        } else {
            --n_aside;
            for_passed(columns + begin, *step, [&](std::size_t part, __m256i passed) {
                at_hand[part] = _mm256_blendv_epi8(at_hand[part], aside[n_aside][part], passed);
            });
        }
    }
    for (std::size_t part = 0; part < kParts; ++part)
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(codes) + part, at_hand[part]);
}

// Twice the code, and one more where a row does not pass: passed is minus one where it does.
void route_symmetric(const Bin* columns, const RouteStep* steps, std::size_t n_steps, std::size_t begin,
                     std::uint8_t* codes) {
    __m256i sums[kParts];
    for (__m256i& part : sums) part = _mm256_setzero_si256();
    const __m256i one = _mm256_set1_epi8(1);
    for (std::size_t s = 0; s < n_steps; ++s)
        for_passed(columns + begin, steps[s], [&](std::size_t part, __m256i passed) {
            sums[part] = _mm256_add_epi8(_mm256_add_epi8(sums[part], sums[part]), _mm256_add_epi8(passed, one));
        });
    for (std::size_t part = 0; part < kParts; ++part)
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(codes) + part, sums[part]);
}

}  // namespace

RoutingKernels routing_kernels() { return {.route = route, .route_symmetric = route_symmetric}; }

}  // namespace coterie::avx2

#endif
