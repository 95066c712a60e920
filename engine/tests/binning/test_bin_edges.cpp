// Where a column is cut: between its values, evenly by mass, whatever the numbers look like.
#include "coterie/binning/bin_edges.hpp"

#include <algorithm>
#include <map>

#include "random_inputs.hpp"
#include "reference/bin_of.hpp"
#include "tables_by_hand.hpp"

namespace coterie::tests {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// What distinct values mean: counted by a map; it knows one zero, and -0 is that zero.
std::vector<WeightedValue> slow_values(std::span<const double> values, std::span<const double> weight) {
    std::map<double, double> mass;
    for (std::size_t i = 0; i < values.size(); ++i)
        if (!std::isnan(values[i])) mass[values[i]] += weight.empty() ? 1.0 : weight[i];
    std::vector<WeightedValue> all;
    for (const auto& [value, sum] : mass) all.push_back({value, sum});
    return all;
}

void check_distinct(std::span<const double> values, std::span<const double> weight, bool narrow) {
    const auto slow = slow_values(values, weight);
    const auto fast = distinct_values(values, weight, narrow);
    check_equal(fast.size(), slow.size());
    for (std::size_t i = 0; i < slow.size(); ++i) {
        check_equal(fast[i].value, slow[i].value);
        check_near(fast[i].weight, slow[i].weight, 1e-9 * slow[i].weight);
    }
}

const Test sorted("the radix sort finds the values that a map finds, of every size and sign", [] {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        std::vector<double> wide = edge_values<double>(), narrow, weight;
        for (const float edge : edge_values<float>()) narrow.push_back(static_cast<double>(edge));
        for (std::size_t i = 0; i < 3000; ++i) {
            const double size = std::pow(10.0, 60 * unit_at(seed, i) - 30) * (bits_at(seed, i) & 1 ? 1 : -1);
            const auto number = i % 3 == 0 ? std::floor(unit_at(seed, i) * 20 - 10) : size;
            wide.push_back(i % 10 == 0 ? kMissing : number);
            narrow.push_back(static_cast<double>(static_cast<float>(wide.back())));
        }
        for (std::size_t i = 0; i < wide.size(); ++i) weight.push_back(0.1 + unit_at(50 + seed, i));
        check_distinct(wide, {}, false);
        check_distinct(narrow, {}, true);
        check_distinct(wide, weight, false);
    }
});

const Test nothing("a column of missing values, or of nothing, has no values and no cuts", [] {
    const std::vector<double> missing(5, kMissing), none;
    for (const auto& column : {missing, none}) {
        check(distinct_values(column, {}, false).empty(), "there is no value");
        check(distinct_values(column, {}, true).empty(), "there is no float");
        check(choose_cuts(distinct_values(column, {}, false), 255).empty(), "there is no cut");
    }
});

const Test half_way("a cut lies at or above the lower value and below the higher one", [] {
    std::vector<double> values = edge_values<double>();
    for (const double each : {1e-300, 1e308, 0.1, 3.0})
        for (const double sign : {-1.0, 1.0}) values.push_back(sign * each);
    for (std::size_t i = 0, n = values.size(); i < n; ++i) values.push_back(std::nextafter(values[i], kInfinity));
    for (const double low : values)
        for (const double high : values) {
            if (!(low < high)) continue;
            const double cut = between(low, high);
            check(low <= cut && cut < high, "the cut separates both");
        }
    check_equal(between(1, 2), 1.5);
    check_equal(between(-1e308, 1e308), 0.0);
});

/// Cuts ascend strictly, are few enough, and put every value between its neighbours' bins.
void check_cuts(const std::vector<WeightedValue>& values, int max_bins) {
    const std::vector<double> cuts = choose_cuts(values, max_bins);
    check(cuts.size() + 1 <= static_cast<std::size_t>(max_bins), "there are no more bins than requested");
    for (std::size_t i = 1; i < cuts.size(); ++i) check(cuts[i - 1] < cuts[i], "cuts ascend");
    if (values.size() <= static_cast<std::size_t>(max_bins)) check_equal(cuts.size() + 1, values.size());
    std::vector<bool> used(cuts.size() + 2, false);
    for (const WeightedValue& each : values) used[reference::slow_bin(cuts, each.value)] = true;
    for (std::size_t bin = 1; bin < used.size(); ++bin) check(used[bin], "no bin is empty");
}

std::vector<WeightedValue> random_values(std::uint64_t seed, std::size_t n, double skew) {
    std::vector<WeightedValue> values;
    double value = -100;
    for (std::size_t i = 0; i < n; ++i) {
        value += 1e-6 + unit_at(seed, i);
        values.push_back({value, std::pow(unit_at(seed + 1, i), skew) + 1e-9});
    }
    return values;
}

const Test valid("cuts ascend, no bin is empty and none is too many, for flat and for steep masses", [] {
    for (const std::size_t n : {1u, 2u, 3u, 16u, 17u, 254u, 255u, 256u, 257u, 3000u})
        for (const int max_bins : {2, 3, 16, 255})
            for (const double skew : {0.0, 3.0, 40.0}) check_cuts(random_values(n, n, skew), max_bins);
});

const Test heavy("a value with more than a bin's mass has a bin of its own", [] {
    std::vector<WeightedValue> values = random_values(3, 1000, 0);
    values[500].weight = 5000;
    values[501].weight = 4000;
    const std::vector<double> cuts = choose_cuts(values, 16);
    const auto bin = [&](std::size_t i) { return reference::slow_bin(cuts, values[i].value); };
    check(bin(499) < bin(500) && bin(500) < bin(501) && bin(501) < bin(502), "both stand alone");
    check(cuts.size() >= 12, "the light values still have most of the bins");
});

const Test even("light values share the bins evenly", [] {
    const std::vector<WeightedValue> values = random_values(5, 10'000, 0);
    const std::vector<double> cuts = choose_cuts(values, 20);
    check_equal(cuts.size(), std::size_t{19});
    std::vector<int> count(21);
    for (const WeightedValue& each : values) ++count[reference::slow_bin(cuts, each.value)];
    for (std::size_t bin = 1; bin <= 20; ++bin) check_near(count[bin], 500, 2);
});

TableSlice table_of(std::size_t n_rows) { return {.n_rows = n_rows, .first_row = 0, .n_total = n_rows}; }

const Test sample("large tables are cut by a sample that depends on nothing but the seed, and weightless rows stay out",
                  [] {
                      check_equal(sample_rows(table_of(100'000), {}, 1).size(), std::size_t{100'000});
                      const std::vector<RowIndex> rows = sample_rows(table_of(400'000), {}, 1);
                      check_near(static_cast<double>(rows.size()), 65'536, 1500);
                      check(rows == sample_rows(table_of(400'000), {}, 1), "the same seed draws the same rows");
                      check(rows != sample_rows(table_of(400'000), {}, 2), "another seed draws others");
                      check(std::is_sorted(rows.begin(), rows.end()), "rows ascend");
                      std::vector<double> weight(400'000, 1.0);
                      for (const RowIndex row : rows) weight[row] = 0;
                      check(sample_rows(table_of(400'000), weight, 1).empty(), "weightless rows are not drawn");
                  });

const Test slices("the slices of a table have the sample of the whole table", [] {
    constexpr std::size_t n_total = 150'000;
    std::vector<RowIndex> joined;
    std::size_t first_row = 0;
    for (const std::size_t n_rows : {1u, 60'000u, 0u, 89'999u}) {
        for (const RowIndex row : sample_rows({.n_rows = n_rows, .first_row = first_row, .n_total = n_total}, {}, 1))
            joined.push_back(static_cast<RowIndex>(first_row + row));
        first_row += n_rows;
    }
    check(joined == sample_rows(table_of(n_total), {}, 1), "the same rows");
});

}  // namespace
}  // namespace coterie::tests
