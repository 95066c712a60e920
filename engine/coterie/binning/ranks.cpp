#include "coterie/binning/ranks.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <string>
#include <utility>

#include "coterie/base/error.hpp"
#include "coterie/base/parallel.hpp"

namespace coterie {
namespace {

struct Keyed {
    std::uint64_t key;
    std::uint32_t place;
};

// An integer that orders as the number does; both zeros are the same number.
std::uint64_t ordered_key(double value) {
    const auto bits = std::bit_cast<std::uint64_t>(value + 0.0);
    return bits >> 63 ? ~bits : bits | 0x8000000000000000ull;
}

double value_of_key(std::uint64_t key) { return std::bit_cast<double>(key >> 63 ? key & 0x7fffffffffffffffull : ~key); }

constexpr int kDigitBits = 11;
constexpr int kDigits = 6;
constexpr std::size_t kDigitValues = std::size_t{1} << kDigitBits;

// Radix sort by digits of eleven bits; a digit that all keys share costs nothing. Stable.
void sort_keys(std::vector<Keyed>& items, std::vector<Keyed>& twin) {
    if (items.size() < 512) {
        std::stable_sort(items.begin(), items.end(), [](const Keyed& a, const Keyed& b) { return a.key < b.key; });
        return;
    }
    std::vector<std::array<std::uint32_t, kDigitValues>> counts(kDigits);
    for (auto& count : counts) count.fill(0);
    for (const Keyed& item : items)
        for (int digit = 0; digit < kDigits; ++digit)
            ++counts[digit][item.key >> (digit * kDigitBits) & (kDigitValues - 1)];
    twin.resize(items.size());
    for (int digit = 0; digit < kDigits; ++digit) {
        auto& count = counts[digit];
        const int shift = digit * kDigitBits;
        if (count[items[0].key >> shift & (kDigitValues - 1)] == items.size()) continue;
        std::uint32_t begin = 0;
        for (auto& entry : count) begin += std::exchange(entry, begin);
        for (const Keyed& item : items) twin[count[item.key >> shift & (kDigitValues - 1)]++] = item;
        items.swap(twin);
    }
}

std::size_t count_distinct(const std::vector<Keyed>& sorted) {
    std::size_t distinct = 0;
    for (std::size_t i = 0; i < sorted.size(); ++i) distinct += i == 0 || sorted[i].key != sorted[i - 1].key;
    return distinct;
}

// Gives each distinct value its own code or, if there are too many, the code of its share of the mass:
// a value's share depends on how many rows lie below it, never on the order of the rows.
RankedFeature number_codes(const std::vector<Keyed>& sorted, Code* codes, std::size_t stride) {
    RankedFeature feature{.nominal = false, .n_codes = 1, .lowest_value = {NAN}, .highest_value = {}};
    const bool shared = count_distinct(sorted) > kMostCodes;
    if (shared) feature.highest_value.push_back(NAN);
    std::uint64_t last_share = ~std::uint64_t{0};
    for (std::size_t begin = 0, end = 0; begin < sorted.size(); begin = end) {
        while (end < sorted.size() && sorted[end].key == sorted[begin].key) ++end;
        const double value = value_of_key(sorted[begin].key);
        const std::uint64_t share = shared ? std::uint64_t{begin} * kMostCodes / sorted.size() : begin;
        if (share != last_share) {
            ++feature.n_codes;
            feature.lowest_value.push_back(value);
            if (shared) feature.highest_value.push_back(value);
        } else if (shared) {
            feature.highest_value.back() = value;
        }
        last_share = share;
        for (std::size_t i = begin; i < end; ++i)
            codes[sorted[i].place * stride] = static_cast<Code>(feature.n_codes - 1);
    }
    return feature;
}

RankedFeature rank_numeric(const ColumnView& column, std::span<const RowIndex> rows, Code* codes, std::size_t stride) {
    std::vector<Keyed> items;
    std::vector<Keyed> twin;
    items.reserve(rows.size());
    for (std::size_t place = 0; place < rows.size(); ++place) {
        const double value = column.value(rows[place]);
        if (std::isnan(value))
            codes[place * stride] = kMissingCode;
        else
            items.push_back({.key = ordered_key(value), .place = static_cast<std::uint32_t>(place)});
    }
    sort_keys(items, twin);
    return number_codes(items, codes, stride);
}

RankedFeature rank_nominal(const ColumnView& column, std::span<const RowIndex> rows, std::int32_t n_levels,
                           std::size_t index, Code* codes, std::size_t stride) {
    const std::string where = "Feature " + std::to_string(index) + " is nominal with ";
    require(n_levels <= kMostLevels, where + std::to_string(n_levels) + " levels; a tree takes at most " +
                                         std::to_string(kMostLevels) + ". Group the rare ones.");
    for (std::size_t place = 0; place < rows.size(); ++place) {
        const double level = column.value(rows[place]);
        const bool missing = std::isnan(level) || level < 0;
        require(missing || level < n_levels,
                where + std::to_string(n_levels) + " levels, but a row has the level " + std::to_string(level) + ".");
        codes[place * stride] = missing ? kMissingCode : static_cast<Code>(level + 1);
    }
    return {
        .nominal = true, .n_codes = static_cast<std::uint32_t>(n_levels) + 1, .lowest_value = {}, .highest_value = {}};
}

constexpr std::size_t kLineCodes = kCacheLine / sizeof(Code);

// A row that crosses as few cache lines as it can, for at most a third more memory.
std::size_t row_stride_for(std::size_t n_features) {
    for (std::size_t fit = 1; fit <= kLineCodes; fit *= 2)
        if (fit >= n_features && fit * 3 <= n_features * 4) return fit;
    const std::size_t lines = (n_features + kLineCodes - 1) / kLineCodes * kLineCodes;
    return lines * 3 <= n_features * 4 ? lines : (n_features + 3) / 4 * 4;
}

}  // namespace

RankedTable rank_table(const TableView& table, std::span<const RowIndex> rows, int n_threads, StopRequest stop,
                       CodeLayout layout) {
    const std::size_t n_features = table.columns.size();
    const bool by_row = layout == CodeLayout::by_row;
    RankedTable ranked;
    ranked.n_rows = rows.size();
    ranked.features.resize(n_features);
    ranked.row_stride = by_row ? row_stride_for(n_features) : 1;
    ranked.feature_stride = by_row ? 1 : rows.size();
    ranked.codes.resize(by_row ? ranked.row_stride * rows.size() + kLineCodes : n_features * rows.size());
    // A handful of features at a time, so that Ctrl-C is answered on the calling thread.
    const std::size_t handful = static_cast<std::size_t>(std::max(1, n_threads));
    for (std::size_t first = 0; first < n_features; first += handful) {
        stop.check();
        parallel_for(std::min(handful, n_features - first), n_threads, [&](std::size_t i) {
            const std::size_t feature = first + i;
            Code* const codes = ranked.codes.data() + feature * ranked.feature_stride;
            const std::size_t stride = ranked.row_stride;
            const std::int32_t n_levels = table.n_levels[feature];
            ranked.features[feature] =
                n_levels > 0 ? rank_nominal(table.columns[feature], rows, n_levels, feature, codes, stride)
                             : rank_numeric(table.columns[feature], rows, codes, stride);
        });
    }
    return ranked;
}

void sort_stably(std::span<const double> values, std::vector<RowIndex>& rows) {
    std::vector<Keyed> items(rows.size());
    std::vector<Keyed> twin;
    for (std::size_t i = 0; i < rows.size(); ++i) items[i] = {.key = ordered_key(values[rows[i]]), .place = rows[i]};
    sort_keys(items, twin);
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = items[i].place;
}

}  // namespace coterie
