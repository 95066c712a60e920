// kernels/neon/routing.cpp: the codes of 128 rows are eight vectors, which stay in registers; a set of levels is
// one table of 32 bytes.
#include "coterie/kernels/routing.hpp"

#if defined(COTERIE_HAS_NEON)

#include <arm_neon.h>

namespace coterie::neon {
namespace {

struct NumericRule {
    uint8x16_t shift;
    uint8x16_t span;

    explicit NumericRule(const RouteStep& step) : shift(vdupq_n_u8(step.shift)), span(vdupq_n_u8(step.span)) {}

    uint8x16_t passed(uint8x16_t bins) const { return vcleq_u8(vsubq_u8(bins, shift), span); }
};

// Bits of a set: the byte bin / 8, then the bit bin % 8 of it.
struct NominalRule {
    uint8x16x2_t bytes;
    uint8x16_t out;

    explicit NominalRule(const RouteStep& step)
        : bytes{vld1q_u8(step.set), vld1q_u8(step.set + 16)},
          out(vdupq_n_u8(static_cast<std::uint8_t>(step.out_of_set ? 0xff : 0))) {}

    uint8x16_t passed(uint8x16_t bins) const {
        const uint8x16_t byte = vqtbl2q_u8(bytes, vshrq_n_u8(bins, 3));
        const uint8x16_t bit = vshlq_u8(vdupq_n_u8(1), vreinterpretq_s8_u8(vandq_u8(bins, vdupq_n_u8(7))));
        return veorq_u8(vtstq_u8(byte, bit), out);
    }
};

constexpr std::size_t kPart = 16;  // rows of a vector
constexpr std::size_t kParts = kRouteRows / kPart;

// For each part of the rows, who passes.
template <class Rule, class Take>
inline void for_passed(const Bin* columns, const RouteStep& step, Take take) {
    const Rule rule(step);
    const Bin* const bins = columns + step.column;
    for (std::size_t part = 0; part < kParts; ++part) take(part, rule.passed(vld1q_u8(bins + part * kPart)));
}

template <class Take>
inline void for_passed(const Bin* columns, const RouteStep& step, Take take) {
    if (step.set == nullptr)
        for_passed<NumericRule>(columns, step, take);
    else
        for_passed<NominalRule>(columns, step, take);
}

void route(const Bin* columns, const RouteStep* steps, std::size_t n_steps, std::size_t begin, std::uint8_t* codes) {
    uint8x16_t aside[kMaxPutAside][kParts];
    std::size_t n_aside = 0;
    uint8x16_t at_hand[kParts];
    for (uint8x16_t& part : at_hand) part = vdupq_n_u8(0);
    for (const RouteStep* step = steps; step != steps + n_steps; ++step) {
        const uint8x16_t code = vdupq_n_u8(step->code);
        if (step->way == RouteStep::Way::attach) {
            for_passed(columns + begin, *step, [&](std::size_t part, uint8x16_t passed) {
                at_hand[part] = vbslq_u8(passed, code, at_hand[part]);
            });
        } else if (step->way == RouteStep::Way::start) {
            const uint8x16_t other = vdupq_n_u8(step->other);
            for_passed(columns + begin, *step, [&](std::size_t part, uint8x16_t passed) {
                aside[n_aside][part] = at_hand[part];
                at_hand[part] = vbslq_u8(passed, code, other);
            });
            ++n_aside;
        } else {
            --n_aside;
            for_passed(columns + begin, *step, [&](std::size_t part, uint8x16_t passed) {
                at_hand[part] = vbslq_u8(passed, aside[n_aside][part], at_hand[part]);
            });
        }
    }
    for (std::size_t part = 0; part < kParts; ++part) vst1q_u8(codes + part * kPart, at_hand[part]);
}

// Twice the code, and one more where a row does not pass: passed is minus one where it does.
void route_symmetric(const Bin* columns, const RouteStep* steps, std::size_t n_steps, std::size_t begin,
                     std::uint8_t* codes) {
    uint8x16_t sums[kParts];
    for (uint8x16_t& part : sums) part = vdupq_n_u8(0);
    const uint8x16_t one = vdupq_n_u8(1);
    for (std::size_t s = 0; s < n_steps; ++s)
        for_passed(columns + begin, steps[s], [&](std::size_t part, uint8x16_t passed) {
            sums[part] = vaddq_u8(vaddq_u8(sums[part], sums[part]), vaddq_u8(passed, one));
        });
    for (std::size_t part = 0; part < kParts; ++part) vst1q_u8(codes + part * kPart, sums[part]);
}

}  // namespace

RoutingKernels routing_kernels() { return {.route = route, .route_symmetric = route_symmetric}; }

}  // namespace coterie::neon

#endif
