// Random numbers are a function of where they are used.
#include "check.hpp"
#include "coterie/base/random.hpp"

namespace coterie::tests {
namespace {

const Test same_position("the same seed, purpose and position give the same number", [] {
    check_equal(random_bits(7, Purpose::bootstrap, 12), random_bits(7, Purpose::bootstrap, 12));
    static_assert(random_bits(7, Purpose::bootstrap, 12) == random_bits(7, Purpose::bootstrap, 12));
});

const Test another_position("seed, purpose and position each change the number", [] {
    const auto bits = random_bits(7, Purpose::bootstrap, 12);
    check(bits != random_bits(8, Purpose::bootstrap, 12), "another seed gives another number");
    check(bits != random_bits(7, Purpose::rounding, 12), "another purpose gives another number");
    check(bits != random_bits(7, Purpose::bootstrap, 13), "another position gives another number");
});

const Test unit_interval("a random unit lies in [0, 1) and has the mean and spread of a uniform number", [] {
    constexpr int n = 100'000;
    double sum = 0;
    double squares = 0;
    for (std::uint64_t position = 0; position < n; ++position) {
        const double unit = random_unit(3, Purpose::threshold, position);
        check(unit >= 0 && unit < 1, "a unit is at least 0 and below 1");
        sum += unit;
        squares += unit * unit;
    }
    check_near(sum / n, 1.0 / 2, 0.005);
    check_near(squares / n, 1.0 / 3, 0.005);
});

const Test dice("every face of a die comes up about as often", [] {
    std::vector<int> faces(6);
    for (std::uint64_t roll = 0; roll < 60'000; ++roll) ++faces[random_below(11, Purpose::feature_draw, roll, 6)];
    for (const int count : faces) check_near(count, 10'000, 400);
});

const Test seeds_are_strangers("neighbouring seeds agree on no more bits than strangers would", [] {
    int agreeing = 0;
    for (std::uint64_t position = 0; position < 1'000; ++position) {
        const auto here = random_bits(41, Purpose::rounding, position);
        const auto there = random_bits(42, Purpose::rounding, position);
        for (int bit = 0; bit < 64; ++bit) agreeing += (here >> bit & 1) == (there >> bit & 1);
    }
    check_near(agreeing / 64'000.0, 0.5, 0.01);
});

const Test normal("normal numbers have mean 0, variance 1, and a twentieth of them beyond 1.96", [] {
    constexpr int n = 100'000;
    double sum = 0, squares = 0;
    int beyond = 0;
    for (std::uint64_t i = 0; i < n; ++i) {
        const auto x = static_cast<double>(random_normal(9, Purpose::split_noise, i));
        sum += x;
        squares += x * x;
        beyond += x > 1.96 || x < -1.96;
    }
    check_near(sum / n, 0, 0.01);
    check_near(squares / n, 1, 0.015);
    check_near(beyond / double{n}, 0.05, 0.005);
});

}  // namespace
}  // namespace coterie::tests
