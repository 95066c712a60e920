#include "coterie/split/criterion_rows.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace coterie::criterion {
namespace {

constexpr double kFarFromZero = 100.0;                           // in standard deviations
constexpr double kFar = std::numeric_limits<double>::max() / 2;  // the difference of lesser numbers is finite

void rank_targets(std::uint32_t n_outputs, NodeRows& node) {
    const std::size_t n = node.size();
    node.rank.resize(n * n_outputs);
    node.sorted_target.resize(n * n_outputs);
    std::vector<std::uint32_t> positions(n);
    for (std::uint32_t output = 0; output < n_outputs; ++output) {
        const auto target = [&](std::uint32_t position) { return node.target[position * n_outputs + output]; };
        std::iota(positions.begin(), positions.end(), 0u);
        // The grower's order of rows is by the first output.
        if (output > 0)
            std::stable_sort(positions.begin(), positions.end(), [&](auto a, auto b) { return target(a) < target(b); });
        for (std::size_t r = 0; r < n; ++r) {
            node.rank[output * n + positions[r]] = static_cast<std::uint32_t>(r);
            node.sorted_target[output * n + r] = target(positions[r]);
        }
    }
}

// Two passes over the bytes of the code; the pairs arrive by position, and the sort is stable.
void radix_sort_by_code(std::vector<std::uint32_t>& keys, std::vector<std::uint32_t>& twin) {
    twin.resize(keys.size());
    for (const int shift : {16, 24}) {
        std::array<std::uint32_t, 256> count{};
        for (const std::uint32_t key : keys) ++count[key >> shift & 255];
        std::uint32_t begin = 0;
        for (auto& entry : count) begin += std::exchange(entry, begin);
        for (const std::uint32_t key : keys) twin[count[key >> shift & 255]++] = key;
        keys.swap(twin);
    }
}

void insertion_sort(std::vector<std::uint32_t>& keys) {
    for (std::size_t i = 1; i < keys.size(); ++i) {
        const std::uint32_t key = keys[i];
        std::size_t hole = i;
        for (; hole > 0 && keys[hole - 1] > key; --hole) keys[hole] = keys[hole - 1];
        keys[hole] = key;
    }
}

void sort_pairs(std::vector<std::uint32_t>& keys, std::vector<std::uint32_t>& twin) {
    if (keys.size() <= 24)
        insertion_sort(keys);
    else if (keys.size() < 200)
        std::sort(keys.begin(), keys.end());
    else
        radix_sort_by_code(keys, twin);
}

// Fewer rows than codes, so a code and a position fit into one word.
void sort_few(std::span<const Code> column, std::span<const RowIndex> rows, Groups& groups) {
    groups.key.resize(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i)
        groups.key[i] = std::uint32_t{column[rows[i]]} << 16 | static_cast<std::uint32_t>(i);
    sort_pairs(groups.key, groups.position);
    groups.position.resize(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const auto code = static_cast<Code>(groups.key[i] >> 16);
        if (i == 0 || code != groups.code.back()) {
            groups.code.push_back(code);
            groups.begin.push_back(static_cast<std::uint32_t>(i));
        }
        groups.position[i] = groups.key[i] & 0xffff;
    }
}

void sort_many(std::span<const Code> column, std::span<const RowIndex> rows, std::uint32_t n_codes, Groups& groups) {
    groups.key.assign(n_codes, 0);
    for (const RowIndex row : rows) ++groups.key[column[row]];
    std::uint32_t begin = 0;
    for (std::uint32_t code = 0; code < n_codes; ++code) {
        if (groups.key[code] > 0) {
            groups.code.push_back(static_cast<Code>(code));
            groups.begin.push_back(begin);
        }
        begin += std::exchange(groups.key[code], begin);
    }
    groups.position.resize(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i)
        groups.position[groups.key[column[rows[i]]]++] = static_cast<std::uint32_t>(i);
}

}  // namespace

RowValues::RowValues(std::span<const RankedFeature* const> features, std::span<const Code> codes, std::size_t n_rows)
    : stride((features.size() + 3) / 4 * 4), value(stride * n_rows), usable(features.size()) {
    std::ranges::fill(value, 0.0);
    for (std::size_t feature = 0; feature < features.size(); ++feature) {
        const RankedFeature& ranks = *features[feature];
        const std::span<const Code> own = codes.subspan(feature * n_rows, n_rows);
        const auto [first, last] = std::ranges::minmax(own);
        usable[feature] = !ranks.nominal && first != kMissingCode && std::abs(ranks.lowest(first)) < kFar &&
                          std::abs(ranks.lowest(last)) < kFar;
        if (!usable[feature]) continue;
        for (std::size_t row = 0; row < n_rows; ++row) value[row * stride + feature] = ranks.lowest(own[row]);
    }
}

std::vector<double> shift_for_search(const Targets& targets, Criterion criterion) {
    std::vector<double> shift(targets.n_outputs, 0.0);
    if (criterion != Criterion::squared_error) return shift;
    const std::size_t n = targets.weight.size();
    for (std::uint32_t output = 0; output < targets.n_outputs; ++output) {
        double weight = 0.0;
        double sum = 0.0;
        for (std::size_t row = 0; row < n; ++row) {
            weight += targets.weight[row];
            sum += targets.weight[row] * targets.value[row * targets.n_outputs + output];
        }
        const double mean = sum / weight;
        double squares = 0.0;
        for (std::size_t row = 0; row < n; ++row) {
            const double distance = targets.value[row * targets.n_outputs + output] - mean;
            squares += targets.weight[row] * distance * distance;
        }
        if (std::abs(mean) > kFarFromZero * std::sqrt(squares / weight)) shift[output] = mean;
    }
    return shift;
}

void gather_rows(const Targets& targets, Criterion criterion, std::span<const double> shift,
                 std::span<const RowIndex> rows, NodeRows& node) {
    const std::uint32_t n_outputs = targets.n_outputs;
    node.rows = rows;
    node.shift.assign(shift.begin(), shift.end());
    node.weight.resize(rows.size());
    node.target.resize(rows.size() * n_outputs);
    node.total_weight = 0.0;
    const bool by_class = targets.are_classes() && !targets.need_one_sum();
    const std::uint32_t n_columns =
        by_class ? std::accumulate(targets.n_classes.begin(), targets.n_classes.end(), 0u) : n_outputs;
    node.total.assign(n_columns, 0.0);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const double weight = node.weight[i] = targets.weight[rows[i]];
        node.total_weight += weight;
        std::uint32_t first_column = 0;
        for (std::uint32_t output = 0; output < n_outputs; ++output) {
            const double target = targets.value[std::size_t{rows[i]} * n_outputs + output] - shift[output];
            node.target[i * n_outputs + output] = target;
            if (by_class) {
                node.total[first_column + static_cast<std::uint32_t>(target)] += weight;
                first_column += targets.n_classes[output];
            } else {
                node.total[output] += weight * target;
            }
        }
    }
    if (criterion == Criterion::absolute_error) rank_targets(n_outputs, node);
}

void sort_positions(std::span<const Code> column, std::span<const RowIndex> rows, std::uint32_t n_codes,
                    Groups& groups) {
    groups.code.clear();
    groups.begin.clear();
    groups.dense = false;
    if (rows.size() < n_codes)
        sort_few(column, rows, groups);
    else
        sort_many(column, rows, n_codes, groups);
    groups.begin.push_back(static_cast<std::uint32_t>(rows.size()));
}

}  // namespace coterie::criterion
