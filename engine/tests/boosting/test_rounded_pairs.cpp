// Derivatives as small integers: as fine as the fields allow, never finer, and the same for any number of threads.
#include <cmath>

#include "coterie/base/error.hpp"
#include "coterie/boosting/rounded_pairs.hpp"
#include "random_inputs.hpp"

namespace coterie::tests {
namespace {

struct Rounded {
    Units units;
    Buffer<Pair> pairs;
    double gradient = 0;  // sums of the rounded numbers
    double hessian = 0;
    double gradient_mass = 0;
};

Rounded rounded(std::span<const float> gradient, std::span<const float> hessian, bool counted, int n_threads = 1) {
    Rounded result;
    result.units = round_all_pairs(gradient, hessian, counted, 11, n_threads, result.pairs);
    for (const Pair pair : result.pairs) {
        const double rounded_gradient = static_cast<std::int16_t>(pair >> 16);
        result.gradient += rounded_gradient;
        result.gradient_mass += std::abs(rounded_gradient);
        result.hessian += pair & 0xffffu;
    }
    return result;
}

/// Neither a row nor the sum of all leaves its field, and every row lies next to its true value.
void check_fits(std::span<const float> gradient, std::span<const float> hessian, bool counted) {
    const Rounded all = rounded(gradient, hessian, counted);
    check(all.gradient_mass <= (counted ? 0x1.0p25 - 1 : 0x1.0p31 - 1), "gradients fit the cell");
    check(all.hessian <= (counted ? 0x1.0p22 - 1 : 0x1.0p31 - 1), "hessians fit the cell");
    for (std::size_t i = 0; i < gradient.size(); ++i) {
        const double g = static_cast<double>(gradient[i]) / all.units.gradient;
        const double h = (hessian.empty() ? 1.0 : static_cast<double>(hessian[i])) / all.units.hessian;
        check_near(static_cast<std::int16_t>(all.pairs[i] >> 16), g, 1.01);
        check_near(all.pairs[i] & 0xffffu, h, 1.01);
        check((all.pairs[i] & 0xffffu) <= all.units.hessian_max, "no row is above the largest hessian");
    }
}

const Test never_overflow("sums stay inside their fields for equal, spread and very large or small derivatives", [] {
    for (const std::size_t n : {1u, 2u, 63u, 64u, 65u, 1023u, 1025u, 65'535u, 70'000u})
        for (const float size : {1e-30f, 1e-6f, 1.0f, 1e6f, 1e30f}) {
            const bool counted = n < 65'536;
            const Buffer<float> equal(n, size), negative(n, -size);
            Buffer<float> spread(n);
            for (std::size_t i = 0; i < n; ++i) spread[i] = size * static_cast<float>(std::pow(unit_at(n, i), 8));
            check_fits(equal, equal, counted);
            check_fits(negative, spread, counted);
            check_fits(spread, {}, counted);
        }
});

const Test wild_weights("weights from a millionth to a million leave nothing overflowed", [] {
    for (const std::size_t n : {1000u, 65'535u, 100'000u}) {
        Buffer<float> gradient(n), hessian(n);
        for (std::size_t i = 0; i < n; ++i) {
            const auto weight = static_cast<float>(std::pow(10.0, 12 * unit_at(1, i) - 6));
            gradient[i] = weight * static_cast<float>(unit_at(2, i) - 0.5);
            hessian[i] = weight * static_cast<float>(unit_at(3, i));
        }
        check_fits(gradient, hessian, n < 65'536);
    }
});

const Test nearly_right("rounded sums are near the true ones", [] {
    constexpr std::size_t n = 50'000;
    const Buffer<float> gradient = random_floats(1, n, -1, 2);
    const Buffer<float> hessian = random_floats(2, n, 0, 0.25);
    double g = 0, h = 0;
    for (std::size_t i = 0; i < n; ++i) g += static_cast<double>(gradient[i]), h += static_cast<double>(hessian[i]);
    for (const bool counted : {false, true}) {
        const Rounded all = rounded(gradient, hessian, counted);
        check_near(all.gradient * all.units.gradient, g, 1e-3 * std::abs(g));
        check_near(all.hessian * all.units.hessian, h, 2e-3 * h);
    }
});

const Test any_threads("threads do not change a rounding", [] {
    constexpr std::size_t n = 100'001;
    const Buffer<float> gradient = random_floats(3, n, -1, 2);
    const Buffer<float> hessian = random_floats(4, n, 0, 0.25);
    const Rounded one = rounded(gradient, hessian, false);
    for (const int n_threads : {2, 3, 8}) {
        const Rounded many = rounded(gradient, hessian, false, n_threads);
        check_same_bits(many.pairs, one.pairs);
        check_equal(many.units.gradient, one.units.gradient);
        check_equal(many.units.hessian, one.units.hessian);
    }
});

const Test zeros("derivatives that are all zero stay zero", [] {
    const Buffer<float> zero(100, 0.0f);
    const Rounded all = rounded(zero, zero, true);
    check_equal(all.gradient_mass, 0.0);
    check_equal(all.hessian, 0.0);
});

const Test refused("derivatives that are no numbers, or differ in length, are refused", [] {
    const Buffer<float> three(3, 1.0f), two(2, 1.0f);
    for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
        Buffer<float> broken = three;
        broken[1] = bad;
        check_throws<InvalidInput>([&] { rounded(broken, three, true); }, "must be finite");
        check_throws<InvalidInput>([&] { rounded(three, broken, true); }, "must be finite");
    }
    check_throws<InvalidInput>([&] { rounded(three, two, true); }, "differ in length");
});

}  // namespace
}  // namespace coterie::tests
