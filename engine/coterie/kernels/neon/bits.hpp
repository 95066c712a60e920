// kernels/neon/bits.hpp: 64 lanes of ones or zeros as the bits of a word.
#pragma once

#if defined(COTERIE_HAS_NEON)

#include <arm_neon.h>

#include <cstdint>

namespace coterie::neon {
namespace {

// Each byte keeps the bit of its lane among eight; three sums of neighbours join eight bytes, and the first lane the
// lowest bit.
inline std::uint64_t bits_of(uint8x16_t a, uint8x16_t b, uint8x16_t c, uint8x16_t d) {
    const uint8x16_t bit_of_lane = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    const uint8x16_t low = vpaddq_u8(vandq_u8(a, bit_of_lane), vandq_u8(b, bit_of_lane));
    const uint8x16_t high = vpaddq_u8(vandq_u8(c, bit_of_lane), vandq_u8(d, bit_of_lane));
    const uint8x16_t fours = vpaddq_u8(low, high);
    return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(fours, fours)), 0);
}

}  // namespace
}  // namespace coterie::neon

#endif
