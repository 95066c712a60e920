// The logarithm is right in nearly every last bit, and its bits are the same on every machine.
#include <bit>
#include <cmath>
#include <limits>

#include "check.hpp"
#include "coterie/base/logarithm.hpp"
#include "coterie/base/random.hpp"

namespace coterie::tests {
namespace {

// The distance between two numbers of one sign, counted in the numbers between them.
std::int64_t steps_between(double a, double b) {
    return std::abs(std::bit_cast<std::int64_t>(a) - std::bit_cast<std::int64_t>(b));
}

void check_like_std(double x) {
    const double received = logarithm(x);
    const double expected = std::log(x);
    if (received == expected) return;
    check(steps_between(received, expected) <= 1,
          "log(" + shown(x) + ") = " + shown(received) + " is next to " + shown(expected));
}

const Test like_the_library("the logarithm is that of the C library, or its neighbour", [] {
    for (std::uint64_t i = 0; i < 200'000; ++i) {
        const std::uint64_t bits = random_bits(5, Purpose::threshold, i);
        const double unit = random_unit(6, Purpose::threshold, i);
        check_like_std(std::bit_cast<double>(1 + bits % 0x7fefffffffffffff));  // any positive number
        check_like_std(1.0 - unit / 2);                                        // shares
        check_like_std(0.5 + unit);                                            // around the changes of the table
        check_like_std(1.0 + (unit - 0.5) / 32);                               // around 1, where it vanishes
        check_like_std(static_cast<double>(bits % 1'000 + 1) / static_cast<double>((bits >> 20) % 1'000 + 1));
    }
});

const Test limits_of_it("the logarithm is defined for all numbers", [] {
    using Limits = std::numeric_limits<double>;
    check_equal(logarithm(1.0), 0.0);
    check_equal(logarithm(0.0), -Limits::infinity());
    check_equal(logarithm(-0.0), -Limits::infinity());
    check_equal(logarithm(Limits::infinity()), Limits::infinity());
    check(std::isnan(logarithm(-1.0)), "a negative number has none");
    check(std::isnan(logarithm(Limits::quiet_NaN())), "NaN has none");
});

const Test recorded("the bits of logarithms are those that were recorded", [] {
    struct Known {
        double x, logarithm;
    };
    constexpr Known kKnown[] = {
        {0x1.999999999999ap-4, -0x1.26bb1bbb55515p+1},
        {0x1p-1, -0x1.62e42fefa39efp-1},
        {0x1.6p-1, -0x1.7fafa3bd8151cp-2},
        {0x1.5555555555555p-2, -0x1.193ea7aad030bp+0},
        {0x1.fae147ae147aep-1, -0x1.495453e6fd4bcp-7},
        {0x1.fffffffffffffp-1, -0x1p-53},
        {0x1.0000000000001p+0, 0x1.fffffffffffffp-53},
        {0x1.04p+0, 0x1.fc0a8b0fc03e4p-7},
        {0x1.051eb851eb852p+0, 0x1.44723d272a7f6p-6},
        {0x1.6p+0, 0x1.4618bc21c5ec2p-2},
        {0x1p+1, 0x1.62e42fefa39efp-1},
        {0x1.8p+1, 0x1.193ea7aad030bp+0},
        {0x1.4p+3, 0x1.26bb1bbb55516p+1},
        {0x1.f4p+9, 0x1.ba18a998fffap+2},
        {0x1.03d4b7f5ece0ep+0, 0x1.e6b9faf5f0e0ap-7},
        {0x0.0000000000001p-1022, -0x1.74385446d71c3p+9},
        {0x1p-1022, -0x1.6232bdd7abcd2p+9},
        {0x1.fffffffffffffp+1023, 0x1.62e42fefa39efp+9},
    };
    for (const Known& known : kKnown) check_equal(logarithm(known.x), known.logarithm);
    std::uint64_t all = 0;
    for (int i = 1; i <= 100'000; ++i)
        all = all * 0x9e3779b97f4a7c15ull + std::bit_cast<std::uint64_t>(logarithm(i / 977.0));
    check_equal(all, std::uint64_t{0x7728f12f381b81f3});
});

}  // namespace
}  // namespace coterie::tests
