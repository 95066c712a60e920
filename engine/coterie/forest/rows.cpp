#include "coterie/forest/rows.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "coterie/base/error.hpp"
#include "coterie/base/parallel.hpp"
#include "coterie/base/random.hpp"

namespace coterie {
namespace {

constexpr std::size_t kHashBlock = 256;

// Equal rows have equal hashes: both zeros are one number, and all missing values are one.
std::uint64_t bits_of(double value) {
    return std::isnan(value) ? 0x7ff8000000000000ull : std::bit_cast<std::uint64_t>(value + 0.0);
}

std::vector<std::uint64_t> hash_rows(const TableView& table, int n_threads) {
    std::vector<std::uint64_t> hash(table.n_rows, 0);
    parallel_ranges(table.n_rows, 64 * kHashBlock, n_threads, [&](std::size_t begin, std::size_t end) {
        double values[kHashBlock];
        for (std::size_t first = begin; first < end; first += kHashBlock) {
            const std::size_t n = std::min(kHashBlock, end - first);
            for (const ColumnView& column : table.columns) {
                column.read(first, n, values);
                for (std::size_t i = 0; i < n; ++i)
                    hash[first + i] =
                        (hash[first + i] ^ bits_of(values[i])) * 0x9e3779b97f4a7c15ull + 0x2545f4914f6cdd1dull;
            }
            for (std::size_t i = 0; i < n; ++i) hash[first + i] = mix(hash[first + i]);
        }
    });
    return hash;
}

// By targets, then by hash. Rows that agree in both are interchangeable.
std::vector<RowIndex> order_rows(const TableView& table, const TargetView& view, int n_threads) {
    const std::vector<std::uint64_t> hash = hash_rows(table, n_threads);
    std::vector<RowIndex> rows;
    rows.reserve(table.n_rows);
    for (std::size_t row = 0; row < table.n_rows; ++row)
        if (view.weight.empty() || view.weight[row] != 0.0) rows.push_back(static_cast<RowIndex>(row));
    require(!rows.empty(), "A forest needs at least one row with weight.");
    std::vector<double> column(table.n_rows);
    for (std::size_t row = 0; row < table.n_rows; ++row) column[row] = static_cast<double>(hash[row] >> 11);
    sort_stably(column, rows);
    for (std::uint32_t output = view.n_outputs; output-- > 0;) {
        for (std::size_t row = 0; row < table.n_rows; ++row) column[row] = view.value[row * view.n_outputs + output];
        sort_stably(column, rows);
    }
    return rows;
}

}  // namespace

std::uint32_t ForestRows::n_columns() const {
    if (!targets.are_classes()) return targets.n_outputs;
    return std::accumulate(targets.n_classes.begin(), targets.n_classes.end(), 0u);
}

ForestRows make_forest_rows(const TableView& table, const TargetView& view, CodeLayout layout, CodeSpacing spacing,
                            int n_threads, StopRequest& stop) {
    ForestRows rows;
    rows.n_table_rows = table.n_rows;
    rows.n_levels = table.n_levels;
    rows.order = order_rows(table, view, n_threads);
    rows.weighted = !view.weight.empty();
    stop.check();
    rows.table = rank_table(table, rows.order, n_threads, stop, layout, spacing);
    criterion::Targets& targets = rows.targets;
    targets.n_outputs = view.n_outputs;
    targets.n_classes.assign(view.n_classes.begin(), view.n_classes.end());
    targets.value.reserve(rows.order.size() * view.n_outputs);
    targets.weight.reserve(rows.order.size());
    for (const RowIndex row : rows.order) {
        const double* const value = view.value.data() + std::size_t{row} * view.n_outputs;
        targets.value.insert(targets.value.end(), value, value + view.n_outputs);
        targets.weight.push_back(view.weight.empty() ? 1.0 : view.weight[row]);
    }
    return rows;
}

// Of several outputs or classes, each tree looks at one, drawn for each feature.
std::vector<std::uint16_t> rank_levels(const ForestRows& rows, const Bag& bag, const PackedForest& forest) {
    constexpr double kPrior = 1.0;       // what the mean of all weighs in the mean of a level
    constexpr double kRareLevel = 50.0;  // rows of a level, on average
    std::vector<std::uint16_t> ranks(forest.n_ranks(), 0);
    const criterion::Targets& targets = rows.targets;
    for (std::size_t feature = 0; feature < rows.n_features(); ++feature) {
        const auto n_levels = static_cast<std::size_t>(rows.n_levels[feature]);
        if (n_levels == 0) continue;
        const std::uint32_t output = random_below(bag.seed, Purpose::level_order, 2 * feature, targets.n_outputs);
        const double chosen = targets.are_classes() ? random_below(bag.seed, Purpose::level_order, 2 * feature + 1,
                                                                   targets.n_classes[output])
                                                    : 0.0;
        std::vector<double> sum(n_levels + 1, 0.0);
        std::vector<double> weight(n_levels + 1, 0.0);
        double total = 0.0;
        double total_weight = 0.0;
        for (std::size_t i = 0; i < bag.in.size(); ++i) {
            const std::size_t place = bag.in[i];
            const double target = targets.value[place * targets.n_outputs + output];
            const double score = targets.are_classes() ? (target == chosen ? 1.0 : 0.0) : target;
            const Code code = rows.code(place, feature);
            sum[code] += bag.weight[i] * score;
            weight[code] += bag.weight[i];
            total += bag.weight[i] * score;
            total_weight += bag.weight[i];
        }
        const double mean = total / total_weight;
        std::vector<std::uint16_t> order(n_levels);
        std::iota(order.begin(), order.end(), std::uint16_t{1});
        const auto score = [&](std::uint16_t code) { return (sum[code] + kPrior * mean) / (weight[code] + kPrior); };
        // Means of few rows are mostly noise. Where levels are that rare, every other tree takes them as they come, in
        // the order of their names or numbers, which often means something.
        const bool rare = total_weight < kRareLevel * static_cast<double>(n_levels);
        const bool as_given = rare && (random_bits(bag.seed, Purpose::level_order, ~std::uint64_t{feature}) & 1);
        if (!as_given)
            std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return score(a) < score(b); });
        std::uint16_t* const out = ranks.data() + forest.first_rank[feature];
        for (std::size_t i = 0; i < n_levels; ++i) out[order[i]] = static_cast<std::uint16_t>(i + 1);
    }
    return ranks;
}

void AllowedFeatures::start_tree(std::uint64_t seed) {
    drawn_.resize(n_features_);
    std::iota(drawn_.begin(), drawn_.end(), 0u);
    const std::size_t wanted = options_.features_per_tree;
    if (wanted > 0 && wanted < n_features_) {
        for (std::size_t i = 0; i < wanted; ++i)
            std::swap(
                drawn_[i],
                drawn_[i + random_below(seed, Purpose::tree_features, i, static_cast<std::uint32_t>(n_features_ - i))]);
        drawn_.resize(wanted);
        std::ranges::sort(drawn_);
    }
    states_.clear();
    std::vector<std::uint32_t> sets(options_.interaction_sets.size());
    std::iota(sets.begin(), sets.end(), 0u);
    add(std::move(sets));
}

std::uint32_t AllowedFeatures::add(std::vector<std::uint32_t> sets) {
    State state{.sets = std::move(sets), .features = drawn_};
    if (!options_.interaction_sets.empty()) {
        std::vector<std::uint8_t> allowed(n_features_, 0);
        for (const std::uint32_t set : state.sets)
            for (const FeatureIndex feature : options_.interaction_sets[set]) allowed[feature] = 1;
        std::erase_if(state.features, [&](FeatureIndex feature) { return !allowed[feature]; });
    }
    states_.push_back(std::move(state));
    return static_cast<std::uint32_t>(states_.size() - 1);
}

std::uint32_t AllowedFeatures::after(std::uint32_t state, FeatureIndex feature) {
    if (options_.interaction_sets.empty()) return state;
    std::vector<std::uint32_t> kept;
    for (const std::uint32_t set : states_[state].sets)
        if (std::ranges::count(options_.interaction_sets[set], feature) > 0) kept.push_back(set);
    if (kept == states_[state].sets) return state;
    for (std::uint32_t known = 0; known < states_.size(); ++known)
        if (states_[known].sets == kept) return known;
    return add(std::move(kept));
}

}  // namespace coterie
