#include "coterie/binning/ranks.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include "coterie/base/error.hpp"
#include "coterie/base/parallel.hpp"
#include "coterie/binning/bin_edges.hpp"

namespace coterie {
namespace {

struct Keyed {
    std::uint64_t key;
    std::uint32_t row;
};

// An integer that orders as the number does; both zeros are the same number.
std::uint64_t ordered_key(double value) {
    const auto bits = std::bit_cast<std::uint64_t>(value + 0.0);
    return bits >> 63 ? ~bits : bits | 0x8000000000000000ull;
}

constexpr RowIndex kNoPlace = std::numeric_limits<RowIndex>::max();

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

/// The known values of a column in ascending order: a word holds the upper half of a value's key, and its place.
struct SortedColumn {
    std::vector<std::uint64_t> words;
    std::vector<double> value;  // by place

    double value_at(std::size_t i) const { return value[static_cast<std::uint32_t>(words[i])]; }
};

// Radix sort by the upper halves, then what they cannot tell apart by the values themselves. Stable in the first part
// only: equal values may come in any order.
void sort_words(SortedColumn& column, std::vector<std::uint64_t>& twin) {
    std::vector<std::uint64_t>& words = column.words;
    std::array<std::array<std::uint32_t, kDigitValues>, 3> counts{};
    for (const std::uint64_t word : words) {
        ++counts[0][word >> 32 & (kDigitValues - 1)];
        ++counts[1][word >> 43 & (kDigitValues - 1)];
        ++counts[2][word >> 54];
    }
    twin.resize(words.size());
    for (int digit = 0; digit < 3; ++digit) {
        auto& count = counts[static_cast<std::size_t>(digit)];
        const int shift = 32 + digit * kDigitBits;
        if (words.empty() || count[words[0] >> shift & (kDigitValues - 1)] == words.size()) continue;
        std::uint32_t begin = 0;
        for (auto& entry : count) begin += std::exchange(entry, begin);
        for (const std::uint64_t word : words) twin[count[word >> shift & (kDigitValues - 1)]++] = word;
        words.swap(twin);
    }
    const auto by_value = [&](std::uint64_t a, std::uint64_t b) {
        return column.value[static_cast<std::uint32_t>(a)] < column.value[static_cast<std::uint32_t>(b)];
    };
    for (std::size_t begin = 0, end = 0; begin < words.size(); begin = end) {
        const std::uint64_t key = words[begin] >> 32;
        for (end = begin + 1; end < words.size() && words[end] >> 32 == key;) ++end;
        const auto first = words.begin() + static_cast<std::ptrdiff_t>(begin);
        const auto last = words.begin() + static_cast<std::ptrdiff_t>(end);
        if (end - begin > 1 && !std::is_sorted(first, last, by_value)) std::sort(first, last, by_value);
    }
}

std::size_t count_distinct(const SortedColumn& sorted) {
    std::size_t distinct = 0;
    double last = NAN;
    for (std::size_t i = 0; i < sorted.words.size(); ++i) {
        const double value = sorted.value_at(i);
        distinct += !(value == last);
        last = value;
    }
    return distinct;
}

// Gives each distinct value its own code or, if there are too many, the code of its share of the mass:
// a value's share depends on how many rows lie below it, never on the order of the rows.
RankedFeature number_codes(const SortedColumn& sorted, Code* codes) {
    RankedFeature feature{.lowest_value = {NAN}, .highest_value = {}};
    const std::size_t n = sorted.words.size();
    const bool shared = count_distinct(sorted) > kMaxCodes;
    if (shared) feature.highest_value.push_back(NAN);
    std::uint64_t last_share = ~std::uint64_t{0};
    for (std::size_t begin = 0, end = 0; begin < n; begin = end) {
        const double value = sorted.value_at(begin);
        for (end = begin + 1; end < n && sorted.value_at(end) == value;) ++end;
        const std::uint64_t share = shared ? std::uint64_t{begin} * kMaxCodes / n : begin;
        if (share != last_share) {
            ++feature.n_codes;
            feature.lowest_value.push_back(value);
            if (shared) feature.highest_value.push_back(value);
        } else if (shared) {
            feature.highest_value.back() = value;
        }
        last_share = share;
        for (std::size_t i = begin; i < end; ++i)
            codes[static_cast<std::uint32_t>(sorted.words[i])] = static_cast<Code>(feature.n_codes - 1);
    }
    return feature;
}

constexpr std::size_t kLeastSpaced = 16'384;  // codes with values, if values share codes

// Where spaced codes end is exact if a step is at least so many times what numbers of this size can differ by.
constexpr double kFineSteps = 8.0;

bool is_fine(double step, double from, double to) {
    const double size = std::max(std::abs(from), std::abs(to));
    return step >= kFineSteps * (std::nextafter(size, std::numeric_limits<double>::infinity()) - size);
}

/// A feature whose values are whole numbers of steps from the least, such as 0, 1, 2, 5, ..., and their codes.
struct Lattice {
    RankedFeature feature;
    std::vector<Code> codes;  // of each distinct value
};

std::optional<Lattice> lattice_of(std::span<const double> values) {
    if (values.size() < 2) return std::nullopt;
    double step = std::numeric_limits<double>::infinity();
    for (std::size_t i = 1; i < values.size(); ++i) step = std::min(step, values[i] - values[i - 1]);
    const double n_steps = std::round((values.back() - values.front()) / step);
    if (!(n_steps < static_cast<double>(std::min(kMaxCodes, std::max<std::size_t>(256, 4 * values.size())))))
        return std::nullopt;
    step = (values.back() - values.front()) / n_steps;
    if (!is_fine(step, values.front(), values.back())) return std::nullopt;
    Lattice lattice{.feature = {.spaced = true,
                                .n_codes = static_cast<std::uint32_t>(n_steps) + 2,
                                .lowest_value = {},
                                .highest_value = {},
                                .edge = values.front() - 0.5 * step,
                                .step = step},
                    .codes = {}};
    for (const double value : values) {
        const double steps = (value - values.front()) / step;
        const auto code = static_cast<Code>(std::round(steps) + 1.0);
        const bool taken = !lattice.codes.empty() && lattice.codes.back() == code;
        if (std::abs(steps - std::round(steps)) > 1e-3 || taken) return std::nullopt;
        lattice.codes.push_back(code);
    }
    return lattice;
}

// Codes become those of a lattice of the same distinct values; `known` are the old ones, ascending.
RankedFeature take_lattice(Lattice lattice, std::span<const Code> known, std::span<Code> codes) {
    std::vector<Code> new_code(known.back() + std::size_t{1}, kMissingCode);
    for (std::size_t i = 0; i < known.size(); ++i) new_code[known[i]] = lattice.codes[i];
    for (Code& code : codes) code = new_code[code];
    return std::move(lattice.feature);
}

// Codes by how far a value is from the least one; NaN is missing. What is decided follows from the distinct values.
std::optional<RankedFeature> space_codes(std::span<const double> values, Code* codes) {
    if (values.size() < kLeastSpaced) return std::nullopt;
    double from = std::numeric_limits<double>::infinity();
    double to = -from;
    for (const double value : values) {
        from = value < from ? value : from;
        to = value > to ? value : to;
    }
    const double steps_per_value = static_cast<double>(kMaxCodes - 1) / (to - from);
    const double step = 1.0 / steps_per_value;
    if (!std::isfinite(to - from) || !std::isfinite(steps_per_value) || !is_fine(step, from, to)) return std::nullopt;
    std::vector<std::uint8_t> is_filled(kMaxCodes + 1, 0);  // codes with values
    for (std::size_t place = 0; place < values.size(); ++place) {
        const double value = values[place];
        const bool known = value == value;
        const auto whole = static_cast<std::int32_t>(known ? (value - from) * steps_per_value : 0.0);
        std::int32_t code = std::min(whole, static_cast<std::int32_t>(kMaxCodes - 1)) + 1;
        // Rounding may have put it beside the code that ends above it.
        code += value > from + static_cast<double>(code) * step;
        code -= (value <= from + static_cast<double>(code - 1) * step) & (code > 1);
        code = known ? code : kMissingCode;
        codes[place] = static_cast<Code>(code);
        is_filled[static_cast<std::size_t>(code)] = 1;
    }
    const auto n_filled = static_cast<std::size_t>(std::count(is_filled.begin() + 1, is_filled.end(), 1));
    if (n_filled >= kLeastSpaced)
        return RankedFeature{.spaced = true,
                             .n_codes = kMaxCodes + 1,
                             .lowest_value = {},
                             .highest_value = {},
                             .edge = from,
                             .step = step};
    std::vector<double> first(kMaxCodes + 1, NAN);  // value of each code
    for (std::size_t place = 0; place < values.size(); ++place) {
        double& own = first[codes[place]];
        if (std::isnan(own)) own = values[place];
        if (values[place] < own || values[place] > own) return std::nullopt;  // two values share a code
    }
    std::vector<Code> filled;
    std::vector<double> distinct;
    for (std::size_t code = 1; code <= kMaxCodes; ++code) {
        if (!is_filled[code]) continue;
        filled.push_back(static_cast<Code>(code));
        distinct.push_back(first[code]);
    }
    std::optional<Lattice> lattice = lattice_of(distinct);
    if (!lattice) return std::nullopt;
    return take_lattice(*std::move(lattice), filled, {codes, values.size()});
}

// Codes by place. The column is read in the order of the table, which is the order of memory.
RankedFeature rank_numeric(const ColumnView& column, std::span<const RowIndex> place_of, std::size_t n_places,
                           CodeSpacing spacing, Code* codes) {
    constexpr std::size_t kBlock = 1024;
    SortedColumn sorted;
    sorted.value.resize(n_places);
    double values[kBlock];
    for (std::size_t first = 0; first < place_of.size(); first += kBlock) {
        const std::size_t n = std::min(kBlock, place_of.size() - first);
        column.read(first, n, values);
        for (std::size_t i = 0; i < n; ++i) {
            const RowIndex place = place_of[first + i];
            if (place != kNoPlace) sorted.value[place] = values[i] + 0.0;  // both zeros are the same number
        }
    }
    if (spacing == CodeSpacing::by_value)
        if (std::optional<RankedFeature> feature = space_codes(sorted.value, codes)) return *std::move(feature);
    sorted.words.reserve(n_places);
    for (std::size_t place = 0; place < n_places; ++place) {
        const double value = sorted.value[place];
        if (std::isnan(value))
            codes[place] = kMissingCode;
        else
            sorted.words.push_back(ordered_key(value) >> 32 << 32 | place);
    }
    std::vector<std::uint64_t> twin;
    sort_words(sorted, twin);
    RankedFeature feature = number_codes(sorted, codes);
    if (spacing == CodeSpacing::by_rank || !feature.highest_value.empty()) return feature;
    std::optional<Lattice> lattice = lattice_of(std::span(feature.lowest_value).subspan(1));
    if (!lattice) return feature;
    std::vector<Code> ranks(feature.n_codes - 1);
    std::iota(ranks.begin(), ranks.end(), Code{1});
    return take_lattice(*std::move(lattice), ranks, {codes, n_places});
}

RankedFeature rank_nominal(const ColumnView& column, std::span<const RowIndex> rows, std::int32_t n_levels,
                           std::size_t index, Code* codes) {
    const std::string where = "Feature " + std::to_string(index) + " is nominal with ";
    require(n_levels <= kMaxLevels, where + std::to_string(n_levels) + " levels; a tree takes at most " +
                                        std::to_string(kMaxLevels) + ". Group the rare ones.");
    for (std::size_t place = 0; place < rows.size(); ++place) {
        const double level = column.value(rows[place]);
        const bool missing = std::isnan(level) || level < 0;
        require(missing || level < n_levels,
                where + std::to_string(n_levels) + " levels, but a row has the level " + std::to_string(level) + ".");
        codes[place] = missing ? kMissingCode : static_cast<Code>(level + 1);
    }
    return {
        .nominal = true, .n_codes = static_cast<std::uint32_t>(n_levels) + 1, .lowest_value = {}, .highest_value = {}};
}

constexpr std::size_t kLineCodes = kCacheLine / sizeof(Code);
constexpr std::size_t kColumnBytes = std::size_t{64} << 20;  // of codes that wait to be laid side by side

// A row that crosses as few cache lines as it can, for at most a third more memory.
std::size_t row_stride_for(std::size_t n_features) {
    for (std::size_t fit = 1; fit <= kLineCodes; fit *= 2)
        if (fit >= n_features && fit * 3 <= n_features * 4) return fit;
    const std::size_t lines = (n_features + kLineCodes - 1) / kLineCodes * kLineCodes;
    return lines * 3 <= n_features * 4 ? lines : (n_features + 3) / 4 * 4;
}

}  // namespace

RankedTable rank_table(const TableView& table, std::span<const RowIndex> rows, int n_threads, StopRequest stop,
                       CodeLayout layout, CodeSpacing spacing) {
    const std::size_t n_features = table.columns.size();
    const std::size_t n = rows.size();
    const bool by_row = layout == CodeLayout::by_row;
    RankedTable ranked;
    ranked.n_rows = n;
    ranked.features.resize(n_features);
    ranked.row_stride = by_row ? row_stride_for(n_features) : 1;
    ranked.feature_stride = by_row ? 1 : n;
    Buffer<Code>& all = ranked.codes.own();
    all.resize(by_row ? ranked.row_stride * n + kLineCodes : n_features * n);
    std::vector<RowIndex> place_of(table.n_rows, kNoPlace);
    for (std::size_t place = 0; place < n; ++place) place_of[rows[place]] = static_cast<RowIndex>(place);

    // A handful of features at a time, so that Ctrl-C is noticed on the calling thread. By row, their codes are first
    // made column by column and then laid side by side.
    const auto n_workers = static_cast<std::size_t>(std::max(1, n_threads));
    const std::size_t handful =
        by_row ? std::clamp(kColumnBytes / (n * sizeof(Code) + 1) / n_workers * n_workers, n_workers, 16 * n_workers)
               : n_workers;
    Buffer<Code> columns(by_row ? std::min(handful, n_features) * n : 0);
    for (std::size_t first = 0; first < n_features; first += handful) {
        stop.check();
        const std::size_t n_now = std::min(handful, n_features - first);
        parallel_for(n_now, n_threads, [&](std::size_t i) {
            const std::size_t feature = first + i;
            Code* const codes = by_row ? columns.data() + i * n : all.data() + feature * n;
            const std::int32_t n_levels = table.n_levels[feature];
            ranked.features[feature] = n_levels > 0
                                           ? rank_nominal(table.columns[feature], rows, n_levels, feature, codes)
                                           : rank_numeric(table.columns[feature], place_of, n, spacing, codes);
            ranked.features[feature].has_missing = std::find(codes, codes + n, kMissingCode) != codes + n;
        });
        if (!by_row) continue;
        parallel_ranges(n, 4096, n_threads, [&](std::size_t begin, std::size_t end) {
            for (std::size_t place = begin; place < end; ++place) {
                Code* const row = all.data() + place * ranked.row_stride + first;
                for (std::size_t i = 0; i < n_now; ++i) row[i] = columns[i * n + place];
            }
        });
    }
    if (by_row) {  // nothing else is in the memory between rows
        for (std::size_t place = 0; place < n; ++place)
            std::fill_n(all.data() + place * ranked.row_stride + n_features, ranked.row_stride - n_features, Code{0});
        std::fill_n(all.data() + n * ranked.row_stride, kLineCodes, Code{0});
    }
    return ranked;
}

double RankedFeature::threshold_above(Code code) const {
    if (spaced) return edge + static_cast<double>(code) * step;
    return between(highest(code), lowest(static_cast<Code>(code + 1)));
}

void sort_stably(std::span<const double> values, std::vector<RowIndex>& rows) {
    std::vector<Keyed> items(rows.size());
    std::vector<Keyed> twin;
    for (std::size_t i = 0; i < rows.size(); ++i) items[i] = {.key = ordered_key(values[rows[i]]), .row = rows[i]};
    sort_keys(items, twin);
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = items[i].row;
}

}  // namespace coterie
