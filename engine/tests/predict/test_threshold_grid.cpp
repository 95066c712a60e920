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

void check_codes_of_all(const std::vector<double>& thresholds) {
    std::vector<double> values{std::numeric_limits<double>::quiet_NaN(), -kInfinity, kInfinity, 0.0, -1e300, 1e300};
    for (const double threshold : thresholds) {
        values.push_back(threshold);
        values.push_back(std::nextafter(threshold, kInfinity));
        values.push_back(std::nextafter(threshold, -kInfinity));
    }
    for (const std::size_t n_values : {thresholds.size(), std::size_t{0}}) {  // with cells, and all in one
        std::vector<std::uint16_t> codes(values.size());
        ThresholdGrid(thresholds, n_values).code(values, codes.data());
        for (std::size_t i = 0; i < values.size(); ++i) {
            const auto below = std::ranges::lower_bound(thresholds, values[i]) - thresholds.begin();
            check_equal(std::size_t{codes[i]}, std::isnan(values[i]) ? 0 : static_cast<std::size_t>(below) + 1);
        }
    }
}

void check_codes(const std::vector<double>& thresholds) {
    check(ThresholdGrid(thresholds, thresholds.size()).has_cells() || thresholds.size() < 500,
          "many thresholds are spread over the grid");
    check_codes_of_all(thresholds);
}

const Test twins("a value has as many thresholds below it as a search of all finds", [] {
    for (const std::size_t n : {1, 2, 3, 64, 100, 1000, 20'000}) {
        check_codes(ascending(n, [](double unit) { return unit; }));
        check_codes(ascending(n, [](double unit) { return 1e6 + unit; }));
        check_codes(ascending(n, [](double unit) { return unit * (unit + 0.4); }));
        check_codes(ascending(n, [](double unit) { return 1e-300 * std::floor(unit * 4096); }));
    }
});

const Test useless("thresholds that are few, infinite or all close together are one cell", [] {
    const auto has_cells = [](const std::vector<double>& thresholds) {
        return ThresholdGrid(thresholds, thresholds.size()).has_cells();
    };
    check(!has_cells({}), "there are none");
    check(!has_cells(ascending(20, [](double unit) { return unit; })), "there are few");
    std::vector<double> thresholds = ascending(1000, [](double unit) { return unit; });
    check(!ThresholdGrid(thresholds, 200).has_cells(), "values are few");
    for (const double odd : {1e300, kInfinity}) {
        thresholds.back() = odd;
        check(!has_cells(thresholds), "one is far away, or infinite");
        check_codes_of_all(thresholds);
    }
    thresholds.back() = 1.0;
    thresholds.front() = -kInfinity;
    check(!has_cells(thresholds), "one is infinite");
    check_codes_of_all(thresholds);
    const double values[] = {-kInfinity, 0.0, std::numeric_limits<double>::quiet_NaN()};
    std::uint16_t codes[3];
    ThresholdGrid({}, 3).code(values, codes);
    check(codes[0] == 1 && codes[1] == 1 && codes[2] == 0, "without thresholds all known values are alike");
});

}  // namespace
}  // namespace coterie::tests
