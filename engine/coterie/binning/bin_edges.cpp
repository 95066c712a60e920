#include "coterie/binning/bin_edges.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numeric>

#include "coterie/base/random.hpp"

namespace coterie {
namespace {

constexpr std::size_t kAllRows = 100'000;
constexpr std::size_t kSampleRows = 65'536;

// Order-preserving integers for floating-point numbers; -0.0 and 0.0 are one value.
std::uint64_t key_of(double value) {
    const auto bits = std::bit_cast<std::uint64_t>(value + 0.0);
    return bits >> 63 ? ~bits : bits | std::uint64_t{1} << 63;
}
std::uint32_t key_of(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value + 0.0f);
    return bits >> 31 ? ~bits : bits | std::uint32_t{1} << 31;
}
double value_of(std::uint64_t key) { return std::bit_cast<double>(key >> 63 ? key & ~(std::uint64_t{1} << 63) : ~key); }
double value_of(std::uint32_t key) {
    return static_cast<double>(std::bit_cast<float>(key >> 31 ? key & ~(std::uint32_t{1} << 31) : ~key));
}

// The upper 33 bits by radix, least significant digit first, 11 bits a pass; passes in which all keys agree are
// skipped. Longer keys that differ only below are next to one another then, and rarely many.
template <class Key>
void radix_sort(std::vector<Key>& keys) {
    constexpr int kDigit = 11;
    constexpr int kBits = static_cast<int>(8 * sizeof(Key));
    constexpr int kFirst = kBits > 3 * kDigit ? kBits - 3 * kDigit : 0;
    std::vector<Key> other(keys.size());
    for (int shift = kFirst; shift < kBits; shift += kDigit) {
        std::array<std::uint32_t, 1 << kDigit> starts{};
        for (const Key key : keys) ++starts[key >> shift & ((1 << kDigit) - 1)];
        if (starts[keys[0] >> shift & ((1 << kDigit) - 1)] == keys.size()) continue;
        std::exclusive_scan(starts.begin(), starts.end(), starts.begin(), std::uint32_t{0});
        for (const Key key : keys) other[starts[key >> shift & ((1 << kDigit) - 1)]++] = key;
        keys.swap(other);
    }
    if constexpr (kFirst > 0) {
        for (std::size_t i = 0; i < keys.size();) {
            std::size_t end = i + 1;
            while (end < keys.size() && keys[end] >> kFirst == keys[i] >> kFirst) ++end;
            if (end - i > 1) std::sort(keys.data() + i, keys.data() + end);
            i = end;
        }
    }
}

template <class Float, class Key>
std::vector<WeightedValue> sorted_counts(std::span<const double> all) {
    std::vector<Key> keys;
    keys.reserve(all.size());
    for (const double each : all)
        if (each == each) keys.push_back(key_of(static_cast<Float>(each)));
    std::vector<WeightedValue> values;
    if (keys.empty()) return values;
    radix_sort(keys);
    values.reserve(keys.size());
    for (std::size_t i = 0; i < keys.size();) {
        std::size_t end = i + 1;
        while (end < keys.size() && keys[end] == keys[i]) ++end;
        values.push_back({value_of(keys[i]), static_cast<double>(end - i)});
        i = end;
    }
    return values;
}

std::vector<WeightedValue> sorted_weights(std::span<const double> raw, std::span<const double> weight) {
    std::vector<WeightedValue> all;
    all.reserve(raw.size());
    for (std::size_t i = 0; i < raw.size(); ++i)
        if (raw[i] == raw[i]) all.push_back({raw[i] + 0.0, weight[i]});
    // By weight too, so that equal values are added up in an order that does not depend on the rows'.
    std::sort(all.begin(), all.end(), [](const WeightedValue& a, const WeightedValue& b) {
        return a.value < b.value || (a.value == b.value && a.weight < b.weight);
    });
    std::vector<WeightedValue> values;
    for (const WeightedValue& each : all) {
        if (!values.empty() && values.back().value == each.value)
            values.back().weight += each.weight;
        else
            values.push_back(each);
    }
    return values;
}

// The cuts when no value is heavy: what choose_cuts does, in the same order, without a check of each value.
std::vector<double> even_cuts(std::span<const WeightedValue> values, std::size_t n_bins, double mass) {
    std::vector<double> cuts;
    std::size_t bins_left = n_bins;
    double filled = 0, average = mass / static_cast<double>(bins_left);
    for (std::size_t i = 0; i + 1 < values.size() && cuts.size() + 1 < n_bins; ++i) {
        filled += values[i].weight;
        if (filled + values[i + 1].weight / 2 < average) continue;
        cuts.push_back(between(values[i].value, values[i + 1].value));
        if (bins_left > 1) --bins_left;
        mass -= filled;
        filled = 0;
        average = mass / static_cast<double>(bins_left);
    }
    return cuts;
}

}  // namespace

std::vector<RowIndex> sample_rows(const TableSlice& slice, std::span<const double> weight, std::uint64_t seed) {
    std::vector<RowIndex> rows;
    const bool all = slice.n_total <= kAllRows;
    const double share = static_cast<double>(kSampleRows) / static_cast<double>(slice.n_total);
    const auto limit = all ? ~std::uint64_t{0} : static_cast<std::uint64_t>(share * 0x1.0p64);
    rows.reserve(all ? slice.n_rows : std::min(slice.n_rows, kSampleRows + kSampleRows / 16));
    for (std::size_t row = 0; row < slice.n_rows; ++row) {
        if (!weight.empty() && !(weight[row] > 0)) continue;
        if (all || random_bits(seed, Purpose::row_sample, slice.first_row + row) < limit)
            rows.push_back(static_cast<RowIndex>(row));
    }
    return rows;
}

std::vector<WeightedValue> distinct_values(std::span<const double> values, std::span<const double> weight,
                                           bool narrow) {
    if (!weight.empty()) return sorted_weights(values, weight);
    return narrow ? sorted_counts<float, std::uint32_t>(values) : sorted_counts<double, std::uint64_t>(values);
}

double between(double low, double high) {
    const double middle = std::isinf(low) || std::isinf(high) ? low : low + (high - low) / 2;
    const double safe = std::isfinite(middle) || middle == low ? middle : low / 2 + high / 2;
    return safe < high && safe >= low ? safe : low;
}

std::vector<double> choose_cuts(std::span<const WeightedValue> values, int max_bins) {
    std::vector<double> cuts;
    if (values.size() < 2) return cuts;
    const auto n_bins = static_cast<std::size_t>(max_bins);
    if (values.size() <= n_bins) {
        for (std::size_t i = 0; i + 1 < values.size(); ++i)
            cuts.push_back(between(values[i].value, values[i + 1].value));
        return cuts;
    }
    double light_mass = 0, most = 0;
    for (const WeightedValue& each : values) {
        light_mass += each.weight;
        most = std::max(most, each.weight);
    }
    if (most < light_mass / static_cast<double>(n_bins)) return even_cuts(values, n_bins, light_mass);
    // Heavy values first: each takes a bin and its mass away, which may make others heavy in turn.
    std::vector<std::uint8_t> heavy(values.size(), 0);
    std::size_t light_bins = n_bins;
    for (bool changed = true; changed && light_bins > 1;) {
        changed = false;
        const double average = light_mass / static_cast<double>(light_bins);
        for (std::size_t i = 0; i < values.size() && light_bins > 1; ++i) {
            if (heavy[i] || values[i].weight < average) continue;
            heavy[i] = 1;
            changed = true;
            light_mass -= values[i].weight;
            --light_bins;
        }
    }
    double filled = 0;
    const auto even_share = [&] { return light_mass / static_cast<double>(std::max<std::size_t>(light_bins, 1)); };
    double average = even_share();
    for (std::size_t i = 0; i + 1 < values.size() && cuts.size() + 1 < n_bins; ++i) {
        if (!heavy[i]) filled += values[i].weight;
        // Cut where stopping here is nearer to an even share than taking the next value as well.
        const bool full = filled + (heavy[i + 1] ? 0 : values[i + 1].weight / 2) >= average;
        if (!heavy[i] && !heavy[i + 1] && !full) continue;
        if (!heavy[i] && heavy[i + 1] && light_bins <= 1 && cuts.size() + 2 >= n_bins) continue;
        cuts.push_back(between(values[i].value, values[i + 1].value));
        if (!heavy[i] && light_bins > 1) --light_bins;
        light_mass -= filled;
        filled = 0;
        average = even_share();
    }
    return cuts;
}

}  // namespace coterie
