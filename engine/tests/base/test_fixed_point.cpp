// Sums in fixed point: the same in any order and grouping, and as near to the true sum as promised.
#include "coterie/base/fixed_point.hpp"

#include <algorithm>
#include <cmath>

#include "random_inputs.hpp"

namespace coterie::tests {
namespace {

const Test any_order("order and grouping do not change a bit of a sum, and its error is below the bound", [] {
    for (const std::size_t n : {1u, 2u, 1'000u, 100'000u})
        for (const double size : {1e-30, 1.0, 1e30}) {
            std::vector<double> values;
            double bound = 0;
            long double exact = 0;
            for (std::size_t i = 0; i < n; ++i) {
                values.push_back(size * (unit_at(n, i) - 0.4) * std::pow(unit_at(7, i), 6));
                bound = std::max(bound, std::abs(values.back()));
                exact += static_cast<long double>(values.back());
            }
            const FixedPoint fixed(bound, n);
            const auto sum = [&](std::size_t begin, std::size_t end) {
                std::uint64_t all = 0;
                for (std::size_t i = begin; i < end; ++i) all += fixed(values[i]);
                return all;
            };
            const std::uint64_t forward = sum(0, n);
            check_equal(sum(0, n / 3) + sum(n / 3, n), forward);
            std::ranges::reverse(values);
            check_equal(sum(0, n), forward);
            const int bits = std::min(51, 62 - static_cast<int>(std::bit_width(n)));
            const double most = static_cast<double>(n) * bound * std::ldexp(1.0, -bits);
            check_near(fixed.value_of(forward), static_cast<double>(exact), most);
        }
});

const Test fits("as many numbers as promised fit, all at the bound", [] {
    for (const std::uint64_t n : {1ull, 3ull, 4096ull, 1ull << 40})
        for (const double bound : {1.0, 1.5, 3e38, 1e-45}) {
            const FixedPoint fixed(bound, n);
            check_near(fixed.value_of(fixed(bound) * n), bound * static_cast<double>(n),
                       bound * static_cast<double>(n) * 1e-5);
            check_near(fixed.value_of(fixed(-bound) * n), -bound * static_cast<double>(n),
                       bound * static_cast<double>(n) * 1e-5);
        }
});

const Test nothing("zeros add up to zero", [] {
    const FixedPoint fixed(0.0, 10);
    check_equal(fixed.value_of(fixed(0.0) + fixed(-0.0)), 0.0);
});

}  // namespace
}  // namespace coterie::tests
