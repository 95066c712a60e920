// Derivatives as small integers: as fine as the fields allow, never finer, and the same for any number of threads.
#include <cmath>

#include "coterie/base/error.hpp"
#include "coterie/base/random.hpp"
#include "coterie/boosting/rounded_pairs.hpp"
#include "random_inputs.hpp"

#include "boosting/problems.hpp"
#include "coterie/base/error.hpp"
#include "coterie/boosting/grow_joint.hpp"

namespace coterie::tests {
namespace {

struct RoundedRows {
    Units units;
    Buffer<Pair> pairs;
    double gradient = 0;  // sums of the rounded numbers
    double hessian = 0;
    double gradient_mass = 0;
};

RoundedRows rounded(std::span<const float> gradient, std::span<const float> hessian, int n_threads = 1) {
    RoundedRows result;
    const std::span<const float> gradients[] = {gradient};
    result.units =
        round_pairs({.gradients = gradients, .hessian = hessian, .rows = {}},
                    sizes_of(see_sizes(gradients, hessian, n_threads), {}), 11, {}, n_threads, {&result.pairs, 1})
            .units;
    for (const Pair pair : result.pairs) {
        const double rounded_gradient = static_cast<std::int16_t>(pair >> 16);
        result.gradient += rounded_gradient;
        result.gradient_mass += std::abs(rounded_gradient);
        result.hessian += pair & 0xffffu;
    }
    return result;
}

/// Neither a row nor the sum of all leaves its field, and every row lies next to its true value.
void check_fits(std::span<const float> gradient, std::span<const float> hessian) {
    const RoundedRows all = rounded(gradient, hessian);
    const bool counted = gradient.size() < 65'536;
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
            const Buffer<float> equal(n, size), negative(n, -size);
            Buffer<float> spread(n);
            for (std::size_t i = 0; i < n; ++i) spread[i] = size * static_cast<float>(std::pow(unit_at(n, i), 8));
            check_fits(equal, equal);
            check_fits(negative, spread);
            check_fits(spread, {});
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
        check_fits(gradient, hessian);
    }
});

const Test nearly_right("rounded sums are near the true ones", [] {
    for (const std::size_t n : {50'000u, 70'000u}) {
        const Buffer<float> gradient = random_floats(1, n, -1, 2);
        const Buffer<float> hessian = random_floats(2, n, 0, 0.25);
        double g = 0, h = 0;
        for (std::size_t i = 0; i < n; ++i) g += static_cast<double>(gradient[i]), h += static_cast<double>(hessian[i]);
        const RoundedRows all = rounded(gradient, hessian);
        check_near(all.gradient * all.units.gradient, g, 1e-3 * std::abs(g));
        check_near(all.hessian * all.units.hessian, h, 2e-3 * h);
    }
});

const Test any_threads("threads do not change a rounding", [] {
    constexpr std::size_t n = 100'001;
    const Buffer<float> gradient = random_floats(3, n, -1, 2);
    const Buffer<float> hessian = random_floats(4, n, 0, 0.25);
    const RoundedRows one = rounded(gradient, hessian);
    for (const int n_threads : {2, 3, 8}) {
        const RoundedRows many = rounded(gradient, hessian, n_threads);
        check_same_bits(many.pairs, one.pairs);
        check_equal(many.units.gradient, one.units.gradient);
        check_equal(many.units.hessian, one.units.hessian);
    }
});

const Test by_number("a row is rounded by its number, whatever the rows beside it, and the slice that it is in", [] {
    constexpr std::size_t n = 5'000;
    const Buffer<float> gradient = random_floats(5, n, -1, 2);
    const Buffer<float> hessian = random_floats(6, n, 0, 0.25);
    const Rounding rounding{.gradient_scale = 900.0f,
                            .hessian_scale = 3000.0f,
                            .salt = static_cast<std::uint32_t>(random_bits(11, Purpose::rounding, 0))};
    Buffer<Pair> whole(n), some;
    kernels().rounding.round_pairs(gradient.data(), hessian.data(), nullptr, 0, n, rounding, whole.data());
    Buffer<RowIndex> rows;
    Buffer<float> own_gradient, own_hessian;
    for (RowIndex row = 3; row < n; row += 7) {
        rows.push_back(row);
        own_gradient.push_back(gradient[row]);
        own_hessian.push_back(hessian[row]);
    }
    some.resize(rows.size());
    kernels().rounding.round_pairs(own_gradient.data(), own_hessian.data(), rows.data(), 0, rows.size(), rounding,
                                   some.data());
    for (std::size_t i = 0; i < rows.size(); ++i) check_equal(some[i], whole[rows[i]]);
    for (const std::uint64_t first_row : {1'000ull, 4'000ull}) {
        Rounding in_slice = rounding;
        in_slice.salt = salt_of_slice(rounding.salt, first_row);
        const std::size_t n_own = n - first_row;
        Buffer<Pair> own(n_own);
        kernels().rounding.round_pairs(gradient.data() + first_row, hessian.data() + first_row, nullptr, 0, n_own,
                                       in_slice, own.data());
        for (std::size_t i = 0; i < n_own; ++i) check_equal(own[i], whole[first_row + i]);
    }
    check_equal(salt_of_slice(7, std::uint64_t{1} << 32), 7u);
});

const Test zeros("derivatives that are all zero stay zero", [] {
    const Buffer<float> zero(100, 0.0f);
    const RoundedRows all = rounded(zero, zero);
    check_equal(all.gradient_mass, 0.0);
    check_equal(all.hessian, 0.0);
});

const Test refused("derivatives that are no numbers, or differ in length, are refused", [] {
    const Buffer<float> three(3, 1.0f), two(2, 1.0f);
    for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
        Buffer<float> broken = three;
        broken[1] = bad;
        check_throws<InvalidInput>([&] { rounded(broken, three); }, "must be finite");
        check_throws<InvalidInput>([&] { rounded(three, broken); }, "must be finite");
    }
    check_throws<InvalidInput>([&] { rounded(three, two); }, "differ in length");
});

const Test no_negative("a negative hessian is refused with its row and value, and -0 is none", [] {
    std::vector<float> hessian(100'000, 0.5f);
    hessian[77] = -0.0f;
    const std::vector<float> gradient(hessian.size(), 1.0f);
    const std::span<const float> gradients[] = {gradient};
    const auto check_them = [&](std::span<const float> given, int n_threads) {
        checked_sizes(given, see_sizes(gradients, given, n_threads), true, {});
    };
    check_them(hessian, 2);
    check_them({}, 2);
    hessian[70'001] = -0.25f;
    hessian[90'000] = -3.0f;
    for (const int n_threads : {1, 2, 3})
        check_throws<InvalidInput>([&] { check_them(hessian, n_threads); }, "row 70001 is -0.25");
    const Problem problem{.table = {.values = {std::vector<double>(40, 1.0)}, .n_levels = {0}},
                          .gradient = std::vector<float>(40, 1.0f),
                          .hessian = std::vector<float>(40, -1.0f)};
    check_throws<InvalidInput>([&] { grow(problem, {}); }, "row 0 is -1");
    JointGrower joint(binned(problem.table, 1), {}, {1.0}, 1);
    check_throws<InvalidInput>(
        [&] { joint.grow({.gradients = {problem.gradient}, .hessian = problem.hessian, .rows = {}}, 1); },
        "row 0 is -1");
});

}  // namespace
}  // namespace coterie::tests
