// A grid over thresholds finds what a count of all thresholds finds.

#include <algorithm>
#include <limits>

#include "check.hpp"
#include "coterie/base/random.hpp"
#include "coterie/predict/threshold_grid.hpp"

namespace coterie::tests {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::vector<double> ascending(std::size_t n, double (*shape)(double)) {
    std::vector<double> thresholds;
    for (std::size_t i = 0; i < n; ++i) thresholds.push_back(shape(random_unit(n, Purpose::threshold, i)));
    std::ranges::sort(thresholds);
    thresholds.erase(std::unique(thresholds.begin(), thresholds.end()), thresholds.end());
    return thresholds;
}

void check_codes(const std::vector<double>& thresholds) {
    const ThresholdGrid grid(thresholds);
    check(grid.is_useful() || thresholds.size() < 500, "many thresholds are spread over the grid");
    if (!grid.is_useful()) return;  // by chance, one of few cells has too many
    std::vector<double> values{std::numeric_limits<double>::quiet_NaN(), -kInfinity, kInfinity, 0.0, -1e300, 1e300};
    for (const double threshold : thresholds) {
        values.push_back(threshold);
        values.push_back(std::nextafter(threshold, kInfinity));
        values.push_back(std::nextafter(threshold, -kInfinity));
    }
    std::vector<std::uint16_t> codes(values.size());
    grid.code(values, codes.data());
    for (std::size_t i = 0; i < values.size(); ++i) {
        const auto below = std::ranges::lower_bound(thresholds, values[i]) - thresholds.begin();
        check_equal(std::size_t{codes[i]}, std::isnan(values[i]) ? 0 : static_cast<std::size_t>(below) + 1);
    }
}

const Test twins("a value has as many thresholds below it as a search of all finds", [] {
    for (const std::size_t n : {64, 100, 1000, 20'000}) {
        check_codes(ascending(n, [](double unit) { return unit; }));
        check_codes(ascending(n, [](double unit) { return 1e6 + unit; }));
        check_codes(ascending(n, [](double unit) { return unit * (unit + 0.4); }));
        check_codes(ascending(n, [](double unit) { return 1e-300 * std::floor(unit * 4096); }));
    }
});

const Test useless("thresholds that are few, infinite or all in one place need no grid", [] {
    check(!ThresholdGrid({}).is_useful(), "there are none");
    check(!ThresholdGrid(ascending(20, [](double unit) { return unit; })).is_useful(), "there are few");
    std::vector<double> thresholds = ascending(1000, [](double unit) { return unit; });
    thresholds.back() = 1e300;
    check(!ThresholdGrid(thresholds).is_useful(), "one is far away");
    thresholds.back() = kInfinity;
    check(!ThresholdGrid(thresholds).is_useful(), "one is infinite");
    thresholds.back() = 1.0;
    thresholds.front() = -kInfinity;
    check(!ThresholdGrid(thresholds).is_useful(), "one is infinite");
});

}  // namespace
}  // namespace coterie::tests
