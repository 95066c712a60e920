// The steps, in additions, multiplications and integers alone:
//   1. x = 2^k z with z in [0.6875, 1.375): next to 1 k is 0, so nothing cancels there.
//   2. z c = 1 + r for the c of a table, |r| < 1 / 64. z is multiplied in two parts, whose products are exact.
//   3. log(x) = k log(2) - log(c) + log(1 + r), the last by its series; larger terms are added to smaller ones last,
//   and
//      what the large ones lose by rounding is kept.
#include "coterie/base/logarithm.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace coterie {
namespace {

struct Part {
    double c;
    double high;  // of -log(c)
    double low;
};

constexpr Part kParts[] = {
#include "coterie/base/logarithm_table.inl"
};
constexpr int kPartBits = 6;
static_assert(sizeof(kParts) / sizeof(Part) == 1 << kPartBits);

constexpr std::uint64_t kLeast = 0x3fe6000000000000;  // 0.6875
constexpr double kLog2High = 0x1.62e42fefa38p-1;
constexpr double kLog2Low = 0x1.ef35793c7673p-45;

double of_normal(double x, std::int64_t added_exponent) {
    const std::uint64_t distance = std::bit_cast<std::uint64_t>(x) - kLeast;
    const auto exponent = static_cast<std::int64_t>(distance) >> 52;
    const std::uint64_t z_bits = std::bit_cast<std::uint64_t>(x) - (static_cast<std::uint64_t>(exponent) << 52);
    const Part& part = kParts[distance >> (52 - kPartBits) & ((1 << kPartBits) - 1)];
    const auto k = static_cast<double>(exponent + added_exponent);

    const auto z_high = std::bit_cast<double>(z_bits & ~std::uint64_t{0x7ffffff});
    const double z_low = std::bit_cast<double>(z_bits) - z_high;
    const double r_high = z_high * part.c - 1.0;
    const double r_low = z_low * part.c;
    const double r = r_high + r_low;
    const double lost_of_r = r_low - (r - r_high);

    const double square = r * r;
    const double series =
        square * (-0.5 + r * (1.0 / 3) +
                  square * (-0.25 + r * (1.0 / 5) +
                            square * (-1.0 / 6 + r * (1.0 / 7) + square * (-0.125 + r * (1.0 / 9) + square * -0.1))));

    const double coarse = k * kLog2High + part.high;
    const double sum = coarse + r;
    const double lost = (coarse - sum) + r + (k * kLog2Low + part.low + lost_of_r);
    return sum + (lost + series);
}

}  // namespace

double logarithm(double x) {
    using Limits = std::numeric_limits<double>;
    if (x >= Limits::min() && x <= Limits::max()) return of_normal(x, 0);
    if (x == 0.0) return -Limits::infinity();
    if (x > 0.0 && x < Limits::min()) return of_normal(x * 0x1.0p54, -54);
    return x > 0.0 ? x : Limits::quiet_NaN();
}

}  // namespace coterie
