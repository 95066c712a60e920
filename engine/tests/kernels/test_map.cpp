// Values to bins: the two-level search of every table finds what std::lower_bound finds.
#include <algorithm>

#include "random_inputs.hpp"
#include "reference/bin_of.hpp"

namespace coterie::tests {
namespace {

using reference::slow_bin;

template <class Float>
CutTable<Float> table_of(const std::vector<Float>& cuts) {
    constexpr Float kNever = std::numeric_limits<Float>::infinity();
    CutTable<Float> table;
    table.n_cuts = cuts.size();
    std::fill(std::begin(table.cuts), std::end(table.cuts), kNever);
    std::copy(cuts.begin(), cuts.end(), std::begin(table.cuts));
    for (std::size_t k = 0; k < 16; ++k) table.pivots[k] = k < 15 ? table.cuts[16 * k + 15] : kNever;
    return table;
}

template <class Float>
std::vector<Float> random_cuts(std::uint64_t seed, std::size_t n_cuts) {
    std::vector<Float> cuts;
    for (std::size_t i = 0; i < n_cuts; ++i) cuts.push_back(static_cast<Float>(unit_at(seed, i) * 20 - 10));
    std::sort(cuts.begin(), cuts.end());
    return cuts;
}

/// Edge values, each cut with its neighbours, and numbers in between.
template <class Float>
std::vector<Float> values_to_map(const std::vector<Float>& cuts) {
    constexpr Float kInfinity = std::numeric_limits<Float>::infinity();
    std::vector<Float> values = edge_values<Float>();
    values.push_back(std::numeric_limits<Float>::quiet_NaN());
    values.push_back(-std::numeric_limits<Float>::quiet_NaN());
    for (const Float cut : cuts) {
        values.push_back(cut);
        values.push_back(std::nextafter(cut, kInfinity));
        values.push_back(std::nextafter(cut, -kInfinity));
    }
    for (std::size_t i = 0; i < 100; ++i) values.push_back(static_cast<Float>(unit_at(99, i) * 24 - 12));
    return values;
}

template <class Float>
auto map_of(const Kernels& table) {
    if constexpr (std::same_as<Float, float>)
        return table.binning.map_float;
    else
        return table.binning.map_double;
}

template <class Float>
void check_map(const std::vector<Float>& cuts, const std::vector<Float>& values, std::ptrdiff_t step) {
    const CutTable<Float> table = table_of(cuts);
    const std::size_t room = values.size() * static_cast<std::size_t>(std::abs(step));
    std::vector<Float> spread(room + 1, Float{-5});
    // A negative step reads backwards from the end.
    const std::size_t first = step < 0 ? room : 0;
    const auto position = [&](std::size_t i) { return first + i * static_cast<std::size_t>(step); };
    for (std::size_t i = 0; i < values.size(); ++i) spread[position(i)] = values[i];
    for (const Kernels* kernels : kernel_tables()) {
        std::vector<Bin> bins(values.size() + 1, Bin{77});
        map_of<Float> (*kernels)(reinterpret_cast<const std::byte*>(spread.data() + first),
                                 step* static_cast<std::ptrdiff_t>(sizeof(Float)), values.size(), table, bins.data());
        for (std::size_t i = 0; i < values.size(); ++i) check_equal(bins[i], slow_bin(cuts, values[i]));
        check_equal(bins.back(), Bin{77});
    }
}

template <class Float>
void check_every_number_of_cuts() {
    for (std::size_t n_cuts = 0; n_cuts <= 254; ++n_cuts) {
        const std::vector<Float> cuts = random_cuts<Float>(n_cuts, n_cuts);
        for (const std::ptrdiff_t step : {1, 3, -2}) check_map(cuts, values_to_map(cuts), step);
    }
}

const Test lower_bound("a value's bin is one more than the number of cuts below it, and 0 if it is missing", [] {
    check_every_number_of_cuts<float>();
    check_every_number_of_cuts<double>();
});

template <class Float>
void check_edges() {
    std::vector<Float> cuts = edge_values<Float>();
    std::sort(cuts.begin(), cuts.end());
    cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
    cuts.pop_back();  // nothing lies above infinity, so it is never a cut
    check_map(cuts, values_to_map(cuts), 1);
}

const Test edges("infinities, denormal numbers and both zeros may be cuts as well as values", [] {
    check_edges<float>();
    check_edges<double>();
});

const Test tails("every short column is mapped to its end and not further", [] {
    const std::vector<float> cuts = random_cuts<float>(3, 100);
    for (std::size_t n = 0; n <= 100; ++n) {
        std::vector<float> values(n);
        for (std::size_t i = 0; i < n; ++i) values[i] = static_cast<float>(unit_at(n, i) * 24 - 12);
        check_map(cuts, values, 1);
    }
});

template <class Float>
void check_strip(std::size_t n, std::size_t gap) {
    constexpr Float kNever = std::numeric_limits<Float>::infinity();
    StripCuts<Float> cuts;
    std::vector<std::vector<Float>> of_feature;
    for (std::size_t k = 0; k < kStripFeatures; ++k) {
        of_feature.push_back(random_cuts<Float>(31 * n + k, k % (kMaxStripCuts + 1)));
        cuts.n_cuts = std::max(cuts.n_cuts, of_feature[k].size());
        for (std::size_t j = 0; j < kMaxStripCuts; ++j)
            cuts.cuts[j][k] = j < of_feature[k].size() ? of_feature[k][j] : kNever;
    }
    const std::size_t stride = kStripFeatures + gap;
    std::vector<Float> rows(n * stride + 1);  // from the second on: not where vectors would like it
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t k = 0; k < kStripFeatures; ++k) {
            const std::vector<Float> values = values_to_map(of_feature[k]);
            rows[1 + i * stride + k] = values[bits_at(n, i * kStripFeatures + k) % values.size()];
        }
    const std::size_t out_stride = (n + 15) / 16 * 16 + 3;
    for (const Kernels* table : kernel_tables()) {
        std::vector<Bin> out(kStripFeatures * out_stride, Bin{99});
        const auto* const first = reinterpret_cast<const std::byte*>(rows.data() + 1);
        const auto bytes = static_cast<std::ptrdiff_t>(stride * sizeof(Float));
        if constexpr (std::same_as<Float, float>)
            table->binning.map_strip_float(first, bytes, n, cuts, out_stride, out.data());
        else
            table->binning.map_strip_double(first, bytes, n, cuts, out_stride, out.data());
        for (std::size_t k = 0; k < kStripFeatures; ++k) {
            for (std::size_t i = 0; i < n; ++i)
                check_equal(int{out[k * out_stride + i]}, int{slow_bin(of_feature[k], rows[1 + i * stride + k])});
            for (std::size_t i = out_stride - 3; i < out_stride; ++i) check_equal(int{out[k * out_stride + i]}, 99);
        }
    }
}

const Test strips("features side by side get the bins that each gets alone, and nothing else is written", [] {
    for (const std::size_t n : {1u, 2u, 15u, 16u, 17u, 64u, 129u})
        for (const std::size_t gap : {0u, 1u, 20u}) {
            check_strip<float>(n, gap);
            check_strip<double>(n, gap);
        }
});

}  // namespace
}  // namespace coterie::tests
