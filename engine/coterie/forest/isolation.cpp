#include "coterie/forest/isolation.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "coterie/base/error.hpp"
#include "coterie/base/logarithm.hpp"
#include "coterie/base/parallel.hpp"
#include "coterie/base/random.hpp"

namespace coterie {
namespace {

constexpr std::size_t kTreesBetweenStops = 8;  // for each thread
constexpr double kLargest = std::numeric_limits<double>::max() / 4;

std::uint64_t tree_seed(const IsolationOptions& options, std::size_t tree) {
    return random_bits(~options.seed, Purpose::forest_tree, options.first_tree + tree);  // not those of other forests
}

/// So many different numbers of {0, ..., n - 1}, ascending.
std::vector<RowIndex> drawn_below(std::uint64_t seed, Purpose purpose, std::size_t n, std::size_t wanted) {
    const auto below = static_cast<std::uint32_t>(n);
    std::vector<RowIndex> drawn;
    if (wanted >= n) {
        drawn.resize(n);
        std::iota(drawn.begin(), drawn.end(), RowIndex{0});
        return drawn;
    }
    if (wanted > n / 2) {
        drawn.resize(n);
        std::iota(drawn.begin(), drawn.end(), RowIndex{0});
        for (std::size_t k = 0; k < wanted; ++k)
            std::swap(drawn[k], drawn[k + random_below(seed, purpose, k, below - static_cast<std::uint32_t>(k))]);
        drawn.resize(wanted);
        std::ranges::sort(drawn);
        return drawn;
    }
    for (std::uint64_t position = 0; drawn.size() < wanted;) {
        for (std::size_t missing = wanted - drawn.size(); missing > 0; --missing)
            drawn.push_back(random_below(seed, purpose, position++, below));
        std::ranges::sort(drawn);
        drawn.erase(std::unique(drawn.begin(), drawn.end()), drawn.end());
    }
    return drawn;
}

/// Draws the rows of one tree after the other.
class Bags {
public:
    Bags(std::size_t n_rows, std::span<const double> weight, const IsolationOptions& options)
        : n_rows_(n_rows), weight_(weight), options_(options) {
        require(n_rows > 0, "An isolation forest needs at least one row.");
        require(n_rows < std::numeric_limits<RowIndex>::max(), "An isolation forest takes fewer than 2^32 - 1 rows.");
        require(weight.empty() || weight.size() == n_rows, "There must be one weight for each row.");
        require(options.max_samples > 0, "A tree needs at least one row.");
        if (weight.empty() || !options.bootstrap) return;
        sums_.resize(n_rows);
        std::partial_sum(weight.begin(), weight.end(), sums_.begin());
    }

    std::vector<RowIndex> draw(std::size_t tree) const {
        const std::uint64_t seed = tree_seed(options_, tree);
        if (options_.bootstrap) return with_replacement(seed);
        if (weight_.empty()) return drawn_below(seed, Purpose::bootstrap, n_rows_, options_.max_samples);
        return by_weight(seed);
    }

private:
    std::vector<RowIndex> with_replacement(std::uint64_t seed) const {
        std::vector<RowIndex> drawn(options_.max_samples);
        for (std::size_t k = 0; k < drawn.size(); ++k) {
            if (sums_.empty()) {
                drawn[k] = random_below(seed, Purpose::bootstrap, k, static_cast<std::uint32_t>(n_rows_));
            } else {
                const double at = random_unit(seed, Purpose::bootstrap, k) * sums_.back();
                const auto found = std::upper_bound(sums_.begin(), sums_.end(), at);
                drawn[k] = static_cast<RowIndex>(
                    std::min<std::ptrdiff_t>(found - sums_.begin(), static_cast<std::ptrdiff_t>(n_rows_) - 1));
            }
        }
        std::ranges::sort(drawn);
        drawn.erase(std::unique(drawn.begin(), drawn.end()), drawn.end());
        return drawn;
    }

    // Who arrives first, if rows arrive as often as they weigh: as if they were drawn one after the other.
    std::vector<RowIndex> by_weight(std::uint64_t seed) const {
        std::vector<std::pair<double, RowIndex>> arrivals;
        for (std::size_t row = 0; row < n_rows_; ++row) {
            if (!(weight_[row] > 0.0)) continue;
            const double unit = 1.0 - random_unit(seed, Purpose::bootstrap, row);
            arrivals.emplace_back(-logarithm(unit) / weight_[row], static_cast<RowIndex>(row));
        }
        const std::size_t wanted = std::min(options_.max_samples, arrivals.size());
        std::nth_element(arrivals.begin(), arrivals.begin() + static_cast<std::ptrdiff_t>(wanted), arrivals.end());
        std::vector<RowIndex> drawn(wanted);
        for (std::size_t k = 0; k < wanted; ++k) drawn[k] = arrivals[k].second;
        std::ranges::sort(drawn);
        return drawn;
    }

    std::size_t n_rows_;
    std::span<const double> weight_;
    const IsolationOptions& options_;
    std::vector<double> sums_;  // of the weights up to each row, for draws with replacement
};

std::vector<FeatureIndex> features_of(std::size_t n_features, const IsolationOptions& options, std::size_t tree) {
    const std::size_t wanted = options.max_features == 0 ? n_features : options.max_features;
    return drawn_below(tree_seed(options, tree), Purpose::tree_features, n_features, wanted);
}

struct DrawnSplit {
    double threshold = 0.0;
    bool is_nominal = false;
    std::array<std::uint64_t, 4> levels{};  // that go left
    std::array<std::uint64_t, 4> seen{};    // levels of the node's rows
    std::optional<bool> missing_left;       // drawn if the node has missing values
};

constexpr bool holds(const std::array<std::uint64_t, 4>& set, std::uint32_t level) {
    return set[level / 64] >> (level % 64) & 1u;
}

class IsolationGrower {
public:
    IsolationGrower(const TableView& table, std::uint32_t max_depth, std::uint64_t seed)
        : table_(table), max_depth_(max_depth), seed_(seed) {}

    Tree grow(std::vector<RowIndex> rows, std::vector<FeatureIndex> features) {
        rows_ = std::move(rows);
        features_ = std::move(features);
        values_.resize(rows_.size());
        add_node(rows_.size(), 0);
        open_.push_back({.node = 0, .begin = 0, .end = rows_.size(), .depth = 0, .n_constant = 0});
        while (!open_.empty()) {
            const Open open = open_.back();
            open_.pop_back();
            if (open.end - open.begin > 1 && open.depth < max_depth_) split(open);
        }
        return std::move(tree_);
    }

private:
    struct Open {
        NodeIndex node;
        std::size_t begin;
        std::size_t end;
        std::uint32_t depth;
        std::size_t n_constant;  // the first so many of `features_` are constant in the node

        std::uint64_t position(std::size_t draw) const { return std::uint64_t{node} << 32 | draw; }
    };

    void add_node(std::size_t n_rows, std::uint32_t depth) {
        tree_.feature.push_back(kLeaf);
        tree_.threshold.push_back(0.0);
        tree_.levels.push_back(-1);
        tree_.missing_left.push_back(0);
        tree_.left.push_back(0);
        tree_.value.push_back(depth + average_path_length(n_rows));
        tree_.gain.push_back(0.0);
        tree_.cover.push_back(static_cast<double>(n_rows));
        tree_.n_rows.push_back(static_cast<std::uint32_t>(n_rows));
    }

    void split(Open open) {
        for (std::size_t draw = 0; open.n_constant < features_.size(); ++draw) {
            const auto left = static_cast<std::uint32_t>(features_.size() - open.n_constant);
            const std::size_t index =
                open.n_constant + random_below(seed_, Purpose::feature_draw, open.position(draw), left);
            const FeatureIndex feature = features_[index];
            table_.columns[feature].read({rows_.data() + open.begin, open.end - open.begin}, values_.data(), 1);
            const bool is_nominal = table_.n_levels[feature] > 0;
            if (auto drawn = is_nominal ? drawn_levels(open) : drawn_threshold(open)) {
                write(open, feature, *drawn);
                return;
            }
            std::swap(features_[index], features_[open.n_constant++]);
        }
    }

    /// Nothing if the feature is constant in the node.
    std::optional<DrawnSplit> drawn_threshold(const Open& open) const {
        const std::size_t n = open.end - open.begin;
        double low = std::numeric_limits<double>::infinity();
        double high = -low;
        std::size_t n_known = 0;
        for (std::size_t k = 0; k < n; ++k) {
            low = values_[k] < low ? values_[k] : low;
            high = values_[k] > high ? values_[k] : high;
            n_known += !std::isnan(values_[k]);
        }
        const bool parts_missing = n_known > 0 && n_known < n;
        if (n_known == 0 || (low >= high && !parts_missing)) return std::nullopt;
        DrawnSplit split;
        if (low >= high) {
            split.threshold = high;
            split.missing_left = false;
            return split;
        }
        const double from = std::clamp(low, -kLargest, kLargest);
        const double way = random_unit(seed_, Purpose::threshold, open.node);
        split.threshold = from + way * (std::clamp(high, -kLargest, kLargest) - from);
        if (!(split.threshold >= low && split.threshold < high)) split.threshold = low;
        if (parts_missing) split.missing_left = missing_goes_left(open);
        return split;
    }

    std::optional<DrawnSplit> drawn_levels(const Open& open) const {
        const std::size_t n = open.end - open.begin;
        DrawnSplit split{.is_nominal = true};
        std::size_t n_known = 0;
        for (std::size_t k = 0; k < n; ++k) {
            if (!(values_[k] >= 0.0)) continue;
            const auto level = static_cast<std::uint32_t>(values_[k]);
            split.seen[level / 64] |= std::uint64_t{1} << (level % 64);
            ++n_known;
        }
        std::size_t n_seen = 0;
        for (const std::uint64_t word : split.seen) n_seen += static_cast<std::size_t>(std::popcount(word));
        const bool parts_missing = n_known > 0 && n_known < n;
        if (n_seen == 0 || (n_seen == 1 && !parts_missing)) return std::nullopt;
        if (n_seen == 1) {
            split.levels = split.seen;
            split.missing_left = false;
            return split;
        }
        for (std::size_t attempt = 0; split.levels == std::array<std::uint64_t, 4>{} || split.levels == split.seen;
             ++attempt)
            for (std::size_t word = 0; word < 4; ++word)
                split.levels[word] =
                    split.seen[word] & random_bits(seed_, Purpose::level_order, open.position(attempt * 4 + word));
        if (parts_missing) split.missing_left = missing_goes_left(open);
        return split;
    }

    bool missing_goes_left(const Open& open) const {
        return random_bits(seed_, Purpose::split_noise, open.node) >> 63 != 0;
    }

    void write(const Open& open, FeatureIndex feature, DrawnSplit& split) {
        const std::size_t n = open.end - open.begin;
        RowIndex* const rows = rows_.data() + open.begin;
        right_.clear();
        std::size_t n_left = 0;
        for (std::size_t k = 0; k < n; ++k) {
            const double value = values_[k];
            const bool missing = split.is_nominal ? !(value >= 0.0) : std::isnan(value);
            const bool goes_left = missing            ? split.missing_left.value_or(false)
                                   : split.is_nominal ? holds(split.levels, static_cast<std::uint32_t>(value))
                                                      : value <= split.threshold;
            if (goes_left)
                rows[n_left++] = rows[k];
            else
                right_.push_back(rows[k]);
        }
        std::ranges::copy(right_, rows + n_left);
        if (split.is_nominal && 2 * n_left < n)
            for (std::size_t word = 0; word < 4; ++word) split.levels[word] |= ~split.seen[word];

        const auto left = static_cast<NodeIndex>(tree_.n_nodes());
        tree_.feature[open.node] = static_cast<std::int32_t>(feature);
        tree_.threshold[open.node] = split.is_nominal ? 0.0 : split.threshold;
        tree_.missing_left[open.node] = split.missing_left.value_or(2 * n_left >= n);
        tree_.left[open.node] = left;
        if (split.is_nominal) {
            tree_.levels[open.node] = static_cast<std::int32_t>(tree_.level_bits.size() / 4);
            tree_.level_bits.insert(tree_.level_bits.end(), split.levels.begin(), split.levels.end());
        }
        add_node(n_left, open.depth + 1);
        add_node(n - n_left, open.depth + 1);
        const std::size_t middle = open.begin + n_left;
        open_.push_back({left + 1, middle, open.end, open.depth + 1, open.n_constant});
        open_.push_back({left, open.begin, middle, open.depth + 1, open.n_constant});
    }

    const TableView& table_;
    std::uint32_t max_depth_;
    std::uint64_t seed_;
    Tree tree_;
    std::vector<RowIndex> rows_;  // node after node
    std::vector<FeatureIndex> features_;
    std::vector<double> values_;  // of the rows of the node, in the feature that was drawn
    std::vector<RowIndex> right_;
    std::vector<Open> open_;
};

}  // namespace

double average_path_length(std::size_t n_rows) {
    constexpr double kEulerGamma = 0.57721566490153286061;
    if (n_rows <= 1) return 0.0;
    if (n_rows == 2) return 1.0;
    const auto n = static_cast<double>(n_rows);
    return 2.0 * (logarithm(n - 1.0) + kEulerGamma) - 2.0 * (n - 1.0) / n;
}

std::vector<std::vector<RowIndex>> isolation_bags(std::size_t n_rows, std::span<const double> weight,
                                                  const IsolationOptions& options) {
    const Bags bags(n_rows, weight, options);
    std::vector<std::vector<RowIndex>> drawn(options.n_trees);
    parallel_for(options.n_trees, options.n_threads, [&](std::size_t tree) { drawn[tree] = bags.draw(tree); });
    return drawn;
}

std::vector<std::vector<FeatureIndex>> isolation_features(std::size_t n_features, const IsolationOptions& options) {
    std::vector<std::vector<FeatureIndex>> drawn(options.n_trees);
    for (std::size_t tree = 0; tree < options.n_trees; ++tree) drawn[tree] = features_of(n_features, options, tree);
    return drawn;
}

std::vector<std::shared_ptr<const Tree>> grow_isolation_trees(const TableView& table, std::span<const double> weight,
                                                              const IsolationOptions& options, StopRequest& stop) {
    const Bags bags(table.n_rows, weight, options);
    std::vector<std::shared_ptr<const Tree>> trees(options.n_trees);
    const std::size_t step = kTreesBetweenStops * static_cast<std::size_t>(std::max(1, options.n_threads));
    for (std::size_t first = 0; first < options.n_trees; first += step) {
        stop.check();
        parallel_for(std::min(step, options.n_trees - first), options.n_threads, [&](std::size_t k) {
            const std::size_t tree = first + k;
            IsolationGrower grower(table, options.max_depth, tree_seed(options, tree));
            trees[tree] = std::make_shared<const Tree>(
                grower.grow(bags.draw(tree), features_of(table.columns.size(), options, tree)));
        });
    }
    return trees;
}

}  // namespace coterie
