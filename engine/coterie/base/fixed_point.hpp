// base/fixed_point.hpp: sums of real numbers that come out the same in any order and grouping.
//
// A number is rounded to a whole multiple of a unit, and whole numbers are added. The unit is a power of two, the least
// one for which n numbers up to the bound fit 63 bits, and a single one 52.
//
// Error: half a unit for each number, so at most n / 2 units = bound * n * 2^-b for the sum, where b = min(51, 62 -
// bits of n): 2^-42 of the bound per number for a million of them. Sums of doubles one after the other are off by up to
// n * 2^-53 of the sum of sizes, 2^-33 for a million, and by another amount for each order.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace coterie {

class FixedPoint {
public:
    FixedPoint() = default;

    /// For at most n numbers, none further from zero than `bound`, which is finite.
    FixedPoint(double bound, std::uint64_t n) {
        int exponent = 0;
        std::frexp(bound, &exponent);  // bound < 2^exponent
        const int bits = std::min(51, 62 - static_cast<int>(std::bit_width(n)));
        const int shift = std::clamp(bits - exponent, -1020, 1020);
        scale_ = std::ldexp(1.0, shift);
        unit_ = std::ldexp(1.0, -shift);
    }

    /// What a number adds to a sum. The product is exact; adding 1.5 * 2^52 rounds it to the low bits of the result,
    /// which needs no conversion and is as fast for vectors as the addition of doubles.
    std::uint64_t operator()(double value) const {
        return std::bit_cast<std::uint64_t>(value * scale_ + kShift) - std::bit_cast<std::uint64_t>(kShift);
    }

    double value_of(std::uint64_t sum) const { return static_cast<double>(static_cast<std::int64_t>(sum)) * unit_; }

private:
    static constexpr double kShift = 0x1.8p52;

    double scale_ = 1;
    double unit_ = 1;
};

}  // namespace coterie
