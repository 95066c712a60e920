#include "coterie/boosting/leaf_quantiles.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numeric>

#include "coterie/base/parallel.hpp"
#include "coterie/boosting/leaf_values.hpp"

namespace coterie {
namespace {

constexpr std::size_t kRowsPerThread = 20'000;
constexpr std::size_t kNodesAtOnce = 1'024;  // whose sums are exchanged together
constexpr std::size_t kDigits = 256;

// Minus zero is zero, so that the order in which equal values come does not matter.
double number_of(float value) { return static_cast<double>(value) + 0.0; }

// Integers in the order of the numbers.
std::uint32_t key_of(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value + 0.0f);
    return bits >> 31 ? ~bits : bits | std::uint32_t{1} << 31;
}
double value_of_key(std::uint32_t key) {
    return number_of(std::bit_cast<float>(key >> 31 ? key & ~(std::uint32_t{1} << 31) : ~key));
}

// However light, a row counts.
std::uint64_t whole_weight(const Weighed& each, const FixedPoint* weights) {
    return weights == nullptr ? 1 : std::max<std::uint64_t>(1, (*weights)(static_cast<double>(each.weight)));
}

double quantile_of_equals(std::span<Weighed> values, double level) {
    const auto n = static_cast<double>(values.size());
    const double wanted = level * n;
    const auto rank = static_cast<std::size_t>(std::clamp(std::ceil(wanted), 1.0, n)) - 1;
    const auto nth = values.begin() + static_cast<std::ptrdiff_t>(rank);
    std::ranges::nth_element(values, nth, {}, &Weighed::value);
    const double here = number_of(nth->value);
    if (static_cast<double>(rank + 1) != wanted || rank + 1 == values.size()) return here;
    const auto next = std::ranges::min_element(nth + 1, values.end(), {}, &Weighed::value);
    return (here + number_of(next->value)) / 2;
}

// The search for the quantile of one node: among the keys that begin with `prefix`.
struct QuantileSearch {
    std::uint64_t total = 0;
    std::uint64_t below = 0;  // weight of the keys below those
    std::uint64_t here = 0;   // and of themselves
    std::uint32_t prefix = 0;
};

// One digit further: the first for which the weight up to it is enough.
void narrow(QuantileSearch& search, std::span<const std::uint64_t> by_digit, double level) {
    std::uint32_t digit = 0;
    while (digit + 1 < kDigits &&
           static_cast<double>(search.below + by_digit[digit]) < level * static_cast<double>(search.total))
        search.below += by_digit[digit++];
    search.here = by_digit[digit];
    search.prefix = search.prefix << 8 | digit;
}

std::vector<QuantileSearch> search_quantiles(std::span<const std::vector<Weighed>> values, double level,
                                             const FixedPoint* weights, Communicator& communicator) {
    std::vector<QuantileSearch> searches(values.size());
    for (int shift = 24; shift >= 0; shift -= 8) {
        std::vector<std::uint64_t> sums(values.size() * kDigits, 0);
        for (std::size_t i = 0; i < values.size(); ++i)
            for (const Weighed& each : values[i]) {
                const std::uint32_t key = key_of(each.value);
                if (shift == 24 || key >> (shift + 8) == searches[i].prefix)
                    sums[i * kDigits + (key >> shift) % kDigits] += whole_weight(each, weights);
            }
        communicator.sum(sums);
        for (std::size_t i = 0; i < values.size(); ++i) {
            const auto own = std::span<const std::uint64_t>(sums).subspan(i * kDigits, kDigits);
            if (shift == 24) searches[i].total = std::accumulate(own.begin(), own.end(), std::uint64_t{0});
            narrow(searches[i], own, level);
        }
    }
    return searches;
}

// Every inner node gets the residuals of its children.
void fill_inner_nodes(const Tree& tree, std::vector<std::vector<Weighed>>& residuals) {
    for (auto node = static_cast<NodeIndex>(tree.n_nodes()); node-- > 0;) {
        if (tree.is_leaf(node)) continue;
        for (const NodeIndex child : {tree.left[node], tree.left[node] + 1})
            residuals[node].insert(residuals[node].end(), residuals[child].begin(), residuals[child].end());
    }
}

// Parents come first, so a node is smoothed with a value that is final.
void keep_options(const Tree& tree, const GrowOptions& options, std::vector<double>& values) {
    std::vector<Bounds> bounds(tree.n_nodes());
    bounds[0] = bounds_of(options);
    values[0] = bounds[0].clip(values[0]);
    for (NodeIndex node = 0; node < tree.n_nodes(); ++node) {
        if (tree.is_leaf(node)) continue;
        const NodeIndex left = tree.left[node];
        bounds[left] = bounds[left + 1] = bounds[node];
        const int direction =
            options.monotone.empty() ? 0 : options.monotone[static_cast<std::size_t>(tree.feature[node])];
        if (direction != 0) {
            const double middle = (bounds[node].clip(values[left]) + bounds[node].clip(values[left + 1])) / 2;
            (direction > 0 ? bounds[left].high : bounds[left].low) = middle;
            (direction > 0 ? bounds[left + 1].low : bounds[left + 1].high) = middle;
        }
        for (const NodeIndex child : {left, left + 1})
            values[child] =
                bounds[child].clip(smoothed(values[child], values[node], tree.n_rows[child], options.path_smoothing));
    }
}

}  // namespace

double quantile_of(std::span<Weighed> values, double level, const FixedPoint* weights) {
    if (values.empty()) return 0;
    if (weights == nullptr) return quantile_of_equals(values, level);
    std::ranges::sort(values, {}, &Weighed::value);
    std::uint64_t total = 0;
    for (const Weighed& each : values) total += whole_weight(each, weights);
    const double wanted = level * static_cast<double>(total);
    std::uint64_t below = 0;
    std::size_t i = 0;
    for (; i + 1 < values.size(); ++i) {
        below += whole_weight(values[i], weights);
        if (static_cast<double>(below) >= wanted) break;
    }
    const double here = number_of(values[i].value);
    if (i + 1 == values.size() || static_cast<double>(below) != wanted) return here;
    return (here + number_of(values[i + 1].value)) / 2;
}

std::vector<double> shared_quantiles(std::span<const std::vector<Weighed>> values, double level,
                                     const FixedPoint* weights, Communicator& communicator) {
    std::vector<double> quantiles;
    for (std::size_t first = 0; first < values.size(); first += kNodesAtOnce) {
        const auto some = values.subspan(first, std::min(kNodesAtOnce, values.size() - first));
        const std::vector<QuantileSearch> searches = search_quantiles(some, level, weights, communicator);
        std::vector<std::uint64_t> next(some.size(), 0);  // 2^32 minus the least key above; 0: there is none
        for (std::size_t i = 0; i < some.size(); ++i)
            for (const Weighed& each : some[i]) {
                const std::uint32_t key = key_of(each.value);
                if (key > searches[i].prefix) next[i] = std::max(next[i], (std::uint64_t{1} << 32) - key);
            }
        communicator.max(next);
        for (std::size_t i = 0; i < some.size(); ++i) {
            const QuantileSearch& search = searches[i];
            const double here = search.total == 0 ? 0.0 : value_of_key(search.prefix);
            const bool met =
                static_cast<double>(search.below + search.here) == level * static_cast<double>(search.total);
            const auto key = static_cast<std::uint32_t>((std::uint64_t{1} << 32) - next[i]);
            quantiles.push_back(met && next[i] > 0 ? (here + value_of_key(key)) / 2 : here);
        }
    }
    return quantiles;
}

std::vector<double> leaf_quantiles(const Tree& tree, LeafResiduals residuals, double level, const GrowOptions& options,
                                   const Slice& slice, int n_threads) {
    const bool related = !options.monotone.empty() || options.path_smoothing > 0 || options.growth == Growth::oblivious;
    if (related) fill_inner_nodes(tree, residuals.by_node);
    std::size_t n_rows = 0;
    std::uint64_t heaviest[] = {0};
    for (const auto& own : residuals.by_node) {
        n_rows += own.size();
        for (const Weighed& each : own)
            heaviest[0] = std::max<std::uint64_t>(heaviest[0], std::bit_cast<std::uint32_t>(each.weight));
    }
    slice.max(heaviest);
    const auto bound = std::bit_cast<float>(static_cast<std::uint32_t>(heaviest[0]));
    const FixedPoint whole(static_cast<double>(bound), slice.sum_of(n_rows));
    const FixedPoint* const weights = residuals.equal ? nullptr : &whole;
    std::vector<double> values(tree.n_nodes(), 0.0);
    if (slice.shared())
        values = shared_quantiles(residuals.by_node, level, weights, *slice.communicator);
    else
        parallel_for(tree.n_nodes(), n_rows < kRowsPerThread ? 1 : n_threads,
                     [&](std::size_t node) { values[node] = quantile_of(residuals.by_node[node], level, weights); });
    if (related || options.max_step > 0) keep_options(tree, options, values);
    return values;
}

}  // namespace coterie
