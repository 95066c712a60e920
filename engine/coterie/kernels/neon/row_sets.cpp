// kernels/neon/row_sets.cpp: the codes of a word are compared eight at once, and the comparisons are joined to a word.
#include "coterie/kernels/row_sets.hpp"

#if defined(COTERIE_HAS_NEON)

#include <algorithm>
#include <bit>

#include "coterie/kernels/neon/bits.hpp"

namespace coterie::neon {
namespace {

std::uint64_t count(RowSet word) { return static_cast<std::uint64_t>(std::popcount(word)); }

class Cut {
public:
    Cut(std::uint16_t shift, std::uint16_t last)
        : shift_(vdupq_n_u16(shift)), span_(vdupq_n_u16(static_cast<std::uint16_t>(last - shift))) {}

    // Of the 64 codes of a word.
    RowSet left_of(const std::uint16_t* codes) const {
        return bits_of(sixteen(codes), sixteen(codes + 16), sixteen(codes + 32), sixteen(codes + 48));
    }

private:
    uint8x16_t sixteen(const std::uint16_t* codes) const {
        return vcombine_u8(vmovn_u16(eight(codes)), vmovn_u16(eight(codes + 8)));
    }
    uint16x8_t eight(const std::uint16_t* codes) const { return vcleq_u16(vsubq_u16(vld1q_u16(codes), shift_), span_); }

    uint16x8_t shift_;
    uint16x8_t span_;
};

#include "coterie/kernels/shared/set_sides.inl"

}  // namespace

RowSetKernels row_set_kernels() {
    RowSetKernels all = generic::row_set_kernels();
    all.sum_left = sum_left;
    all.partition = partition;
    return all;
}

}  // namespace coterie::neon

#endif
