#include "coterie/split/criterion_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "coterie/base/error.hpp"
#include "coterie/base/random.hpp"
#include "coterie/split/criterion_median.hpp"
#include "coterie/split/criterion_walk.hpp"

namespace coterie::criterion {
namespace {

// Halfway between two values, computed so that it cannot overflow; the left one if rounding leaves the gap.
double between(double left, double right) {
    const double middle = left / 2.0 + right / 2.0;
    return middle >= left && middle < right ? middle : left;
}

bool is_monotone(const SplitLimits& limits, double left, double right) {
    const bool inside = left >= limits.lower && right >= limits.lower && left <= limits.upper && right <= limits.upper;
    return inside && (left - right) * limits.monotone <= 0;
}

struct Cut {
    double score = kForbidden;
    std::size_t n_groups_left = 0;
    double weight_left = 0.0;
};

struct CodeRange {
    Code first = kMissingCode;  // of the values present; missing if there are none
    Code last = kMissingCode;
    bool has_missing = false;
};

// The codes of all rows, and their range. Without a branch: which rows miss a value cannot be foreseen.
CodeRange gather_codes(std::span<const Code> column, std::span<const RowIndex> rows, std::vector<Code>& codes) {
    if (codes.size() < rows.size()) codes.resize(rows.size());
    Code least = std::numeric_limits<Code>::max();
    Code least_known_less_one = std::numeric_limits<Code>::max();  // missing wraps around to the highest
    Code greatest = kMissingCode;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const Code code = column[rows[i]];
        codes[i] = code;
        least = std::min(least, code);
        least_known_less_one = std::min(least_known_less_one, static_cast<Code>(code - 1));
        greatest = std::max(greatest, code);
    }
    return {.first = greatest == kMissingCode ? kMissingCode : static_cast<Code>(least_known_less_one + 1),
            .last = greatest,
            .has_missing = least == kMissingCode};
}

// A random threshold lies between the least value of the first code and that of the last. Where they are infinite, one
// of the gaps between codes is drawn instead.
struct ThresholdDraw {
    double low;
    double high;
    double unit;

    bool is_finite() const { return std::isfinite(high - low); }
    double threshold() const { return low + unit * (high - low); }
};

ThresholdDraw draw_of(const RankedFeature& feature, CodeRange range, std::uint64_t seed) {
    return {.low = feature.lowest(range.first),
            .high = feature.lowest(range.last),
            .unit = random_unit(seed, Purpose::threshold, 0)};
}

// The last code below the threshold, of all codes that the feature has in the range.
Code drawn_code(const RankedFeature& feature, CodeRange range, const ThresholdDraw& draw) {
    if (range.first == range.last) return range.first;  // the only split is that of missing values
    if (!draw.is_finite())
        return static_cast<Code>(range.first + static_cast<int>(draw.unit * (range.last - range.first)));
    const auto begin = feature.lowest_value.begin() + range.first;
    const auto above = std::upper_bound(begin, feature.lowest_value.begin() + range.last, draw.threshold());
    return static_cast<Code>(std::max<std::ptrdiff_t>(above - begin, 1) + range.first - 1);
}

template <SplitWalk Walk>
class Search final : public FeatureSearch {
public:
    explicit Search(const Targets& targets) : walk_(targets) {}

    FeatureSplit best(const NodeRows& node, std::span<const Code> column, const RankedFeature& feature,
                      const SplitLimits& limits) override {
        walk_.group(column, node, feature.n_codes, groups_);
        if (groups_.size() < 2) return {};
        return feature.nominal ? best_levels(node, feature, limits) : best_threshold(node, feature, limits);
    }

    FeatureSplit drawn(const NodeRows& node, std::span<const Code> column, const RankedFeature& feature,
                       const SplitLimits& limits, std::uint64_t seed) override {
        if (!feature.nominal) return drawn_threshold(node, column, feature, limits, seed);
        walk_.group(column, node, feature.n_codes, groups_);
        return groups_.size() < 2 ? FeatureSplit{} : drawn_levels(node, feature, limits, seed);
    }

    bool draws_all() const override { return kHasSums; }

    void draw_all(const NodeRows& node, const RowValues& values, std::span<const FeatureIndex> features,
                  const SplitLimits& limits, std::span<const std::int8_t> monotone, std::uint64_t node_seed,
                  std::span<FeatureSplit> found) override {
        if constexpr (kHasSums) {
            find_ranges(node, values);
            thresholds_.assign(values.stride, -std::numeric_limits<double>::infinity());
            for (const FeatureIndex feature : features) {
                const ThresholdDraw draw{
                    .low = low_[feature],
                    .high = high_[feature],
                    .unit = random_unit(threshold_seed(node_seed, feature), Purpose::threshold, 0)};
                const double threshold = draw.threshold();
                thresholds_[feature] = threshold < draw.high ? threshold : draw.low;
            }
            sum_left(node, values);
            for (std::size_t i = 0; i < features.size(); ++i)
                if (values.usable[features[i]])
                    found[i] = drawn_from_sums(node, features[i], limits, monotone.empty() ? 0 : monotone[features[i]]);
        }
    }

    void locate(const NodeRows& node, std::span<const Code> column, const RankedFeature& feature, std::uint64_t seed,
                FeatureSplit& split) override {
        const CodeRange range = gather_codes(column, node.rows, codes_);
        const ThresholdDraw draw = draw_of(feature, range, seed);
        split.located = true;
        split.last_left = range.first;
        split.threshold = feature.highest(range.last);
        if (range.first == range.last) return;
        const auto [left, right] = codes_beside(node.size(), feature, range, draw);
        split.last_left = left;
        if (!draw.is_finite()) {
            split.threshold = between(feature.highest(left), feature.lowest(right));
            return;
        }
        // Where values share a code, the whole code stays on one side.
        split.threshold = std::max(draw.threshold(), feature.highest(left));
        if (!(split.threshold < feature.lowest(right))) split.threshold = feature.highest(left);
    }

private:
    static constexpr bool kHasSums =
        requires(Walk walk, const NodeRows& node) { walk.move_sums(node, 0.0, nullptr, 0); };
    static constexpr std::size_t kFewRows = 32;  // whose values are compared: see take_sides

    bool is_allowed(const NodeRows& node, const SplitLimits& limits, std::size_t n_left) const {
        if (n_left < limits.min_rows || node.size() - n_left < limits.min_rows) return false;
        if (limits.monotone != 0 && !is_monotone(limits, walk_.left_value(), walk_.right_value())) return false;
        return walk_.left_weight() >= limits.min_weight && walk_.right_weight() >= limits.min_weight;
    }

    // The best cut of order_; cuts before the given one are not scored.
    Cut best_cut(const NodeRows& node, const SplitLimits& limits, std::size_t first_cut = 1) {
        Cut best;
        std::size_t n_left = 0;
        walk_.start(node, groups_, order_);
        for (std::size_t cut = 1; cut < order_.size(); ++cut) {
            walk_.move(order_[cut - 1]);
            n_left += groups_.count(order_[cut - 1]);
            if (cut < first_cut || !is_allowed(node, limits, n_left)) continue;
            const double score = walk_.score();
            if (score > best.score) best = {.score = score, .n_groups_left = cut, .weight_left = walk_.left_weight()};
        }
        return best;
    }

    // Missing values first, or last.
    void order_by_code(bool missing_first) {
        order_.resize(groups_.size());
        std::iota(order_.begin(), order_.end(), 0u);
        if (groups_.has_missing() && !missing_first) std::rotate(order_.begin(), order_.begin() + 1, order_.end());
    }

    FeatureSplit best_threshold(const NodeRows& node, const RankedFeature& feature, const SplitLimits& limits) {
        order_by_code(false);
        const Cut right = best_cut(node, limits);
        if (!groups_.has_missing()) return numeric_split(feature, right, 2 * right.weight_left > node.total_weight);
        FeatureSplit best = numeric_split(feature, right, false);
        order_by_code(true);
        // Missing values alone on the left is the same partition as missing values alone on the right.
        const Cut left = best_cut(node, limits, 2);
        return left.score > right.score ? numeric_split(feature, left, true) : best;
    }

    FeatureSplit numeric_split(const RankedFeature& feature, const Cut& cut, bool missing_left) const {
        FeatureSplit split{.constant = false, .score = cut.score, .missing_left = missing_left};
        if (cut.score == kForbidden) return split;
        split.last_left = groups_.code[order_[cut.n_groups_left - 1]];
        const Code first_right = groups_.code[order_[cut.n_groups_left]];
        split.threshold = first_right == kMissingCode
                              ? std::numeric_limits<double>::infinity()
                              : between(feature.highest(split.last_left), feature.lowest(first_right));
        return split;
    }

    FeatureSplit best_levels(const NodeRows& node, const RankedFeature& feature, const SplitLimits& limits) {
        FeatureSplit best{.constant = false};
        keys_.resize(groups_.size());
        for (std::size_t column = 0; column < walk_.n_orders(); ++column) {
            order_by_code(true);
            walk_.order_keys(node, groups_, column, keys_);
            std::stable_sort(order_.begin(), order_.end(), [&](auto a, auto b) { return keys_[a] < keys_[b]; });
            const Cut cut = best_cut(node, limits);
            if (cut.score > best.score) best = nominal_split(feature, cut, node.total_weight);
        }
        return best;
    }

    // A level that the node has not seen goes to the heavier side; so do missing values, if there were none.
    FeatureSplit nominal_split(const RankedFeature& feature, const Cut& cut, double weight) const {
        FeatureSplit split{.constant = false, .score = cut.score};
        const bool more_left = 2 * cut.weight_left > weight;
        std::vector<bool> left(feature.n_codes, more_left);
        for (std::size_t i = 0; i < order_.size(); ++i) left[groups_.code[order_[i]]] = i < cut.n_groups_left;
        split.missing_left = left[kMissingCode];
        for (std::uint32_t level = 0; level + 1 < feature.n_codes; ++level)
            if (left[level + 1]) split.left_levels[level / 64] |= std::uint64_t{1} << (level % 64);
        return split;
    }

    // The one cut after n_left groups of order_, scored.
    Cut drawn_cut(const NodeRows& node, const SplitLimits& limits, std::size_t n_left) {
        if (n_left == order_.size()) return {};
        std::size_t rows_left = 0;
        walk_.start(node, groups_, order_);
        for (std::size_t i = 0; i < n_left; ++i) {
            walk_.move(order_[i]);
            rows_left += groups_.count(order_[i]);
        }
        if (!is_allowed(node, limits, rows_left)) return {};
        return {.score = walk_.score(), .n_groups_left = n_left, .weight_left = walk_.left_weight()};
    }

    FeatureSplit drawn_threshold(const NodeRows& node, std::span<const Code> column, const RankedFeature& feature,
                                 const SplitLimits& limits, std::uint64_t seed) {
        const CodeRange range = gather_codes(column, node.rows, codes_);
        if (range.first == range.last && (range.first == kMissingCode || !range.has_missing)) return {};
        FeatureSplit split{.constant = false};
        // One known value goes left: then what is missing goes right, or nothing would be parted.
        split.missing_left =
            range.has_missing && range.first != range.last && random_below(seed, Purpose::threshold, 1, 2) == 1;
        split.located = false;
        const std::size_t n_left =
            take_sides(node.size(), feature, range, draw_of(feature, range, seed), split.missing_left);
        const double weight_left = score_sides(node, limits, n_left, split);
        if (!range.has_missing) split.missing_left = 2 * weight_left > node.total_weight;
        return split;
    }

    // Who goes left, in left_; returns how many. To look a threshold up among all values takes longer than to compare
    // it with those of a few rows: each step of a search waits for memory.
    std::size_t take_sides(std::size_t n, const RankedFeature& feature, CodeRange range, const ThresholdDraw& draw,
                           bool missing_left) {
        if (left_.size() < n) left_.resize(n);
        std::size_t n_left = 0;
        if (n <= kFewRows && range.first != range.last && draw.is_finite()) {
            const double threshold = draw.threshold();
            for (std::size_t i = 0; i < n; ++i) {
                const Code code = codes_[i];
                const bool below = (code == range.first) | ((code != range.last) & (feature.lowest(code) <= threshold));
                left_[i] = code == kMissingCode ? missing_left : below;
                n_left += left_[i];
            }
            return n_left;
        }
        const auto shift = static_cast<Code>(missing_left ? 0 : 1);  // missing wraps around to the highest code
        const auto last = static_cast<Code>(drawn_code(feature, range, draw) - shift);
        for (std::size_t i = 0; i < n; ++i) {
            left_[i] = static_cast<Code>(codes_[i] - shift) <= last;
            n_left += left_[i];
        }
        return n_left;
    }

    struct Neighbours {
        Code left;
        Code right;
    };

    // The greatest code of the node below the threshold, and the least above it. Those of the table do not matter, so
    // that a few rows need not search it.
    Neighbours codes_beside(std::size_t n, const RankedFeature& feature, CodeRange range, const ThresholdDraw& draw) {
        Neighbours codes{.left = range.first, .right = range.last};
        const bool few = n <= kFewRows && draw.is_finite();
        const Code last = few ? range.first : drawn_code(feature, range, draw);
        const double threshold = draw.threshold();
        for (std::size_t i = 0; i < n; ++i) {
            const Code code = codes_[i];
            if (code == kMissingCode || code == range.first || code == range.last) continue;
            if (few ? feature.lowest(code) <= threshold : code <= last)
                codes.left = std::max(codes.left, code);
            else
                codes.right = std::min(codes.right, code);
        }
        return codes;
    }

    // The least and the greatest value of each feature.
    void find_ranges(const NodeRows& node, const RowValues& values) {
        const std::size_t n_features = values.stride;
        low_.assign(n_features, std::numeric_limits<double>::infinity());
        high_.assign(n_features, -std::numeric_limits<double>::infinity());
        double* const low = low_.data();
        double* const high = high_.data();
        for (const RowIndex row : node.rows) {
            const double* const value = values.value.data() + row * n_features;
            for (std::size_t feature = 0; feature < n_features; ++feature) {
                low[feature] = value[feature] < low[feature] ? value[feature] : low[feature];
                high[feature] = value[feature] > high[feature] ? value[feature] : high[feature];
            }
        }
    }

    // How many rows go left by each feature, what they weigh, and what they add up to, rows in their order.
    void sum_left(const NodeRows& node, const RowValues& values) {
        const std::size_t n_features = values.stride;
        n_left_.assign(n_features, 0.0);
        weight_left_.assign(n_features, 0.0);
        sums_left_.assign(n_features * walk_.n_columns(), 0.0);
        const double* const threshold = thresholds_.data();
        double* const n_left = n_left_.data();
        double* const weight_left = weight_left_.data();
        for (std::size_t i = 0; i < node.size(); ++i) {
            const double* const value = values.value.data() + node.rows[i] * n_features;
            const double weight = node.weight[i];
            for (std::size_t feature = 0; feature < n_features; ++feature) {
                const bool left = value[feature] <= threshold[feature];
                n_left[feature] += left ? 1.0 : 0.0;
                weight_left[feature] += left ? weight : 0.0;
            }
            walk_.add_row_to(node, i, [&](std::size_t column, double amount) {
                double* const sums = sums_left_.data() + column * n_features;
                for (std::size_t feature = 0; feature < n_features; ++feature)
                    sums[feature] += value[feature] <= threshold[feature] ? amount : 0.0;
            });
        }
    }

    FeatureSplit drawn_from_sums(const NodeRows& node, FeatureIndex feature, SplitLimits limits, int monotone) {
        FeatureSplit split;
        if (low_[feature] == high_[feature]) return split;
        split.constant = split.located = false;
        limits.monotone = monotone;
        walk_.move_sums(node, weight_left_[feature], sums_left_.data() + feature, n_left_.size());
        if (!is_allowed(node, limits, static_cast<std::size_t>(n_left_[feature]))) return split;
        split.score = walk_.score();
        split.missing_left = 2 * walk_.left_weight() > node.total_weight;
        return split;
    }

    // Returns the weight of the rows that go left, or nothing if the split is not allowed.
    double score_sides(const NodeRows& node, const SplitLimits& limits, std::size_t n_left, FeatureSplit& split) {
        if constexpr (requires { walk_.move_rows(node, left_.data()); }) {
            walk_.move_rows(node, left_.data());
        } else {
            group_by_side(node.size(), n_left);
            walk_.start(node, groups_, order_);
            walk_.move(0);
        }
        if (!is_allowed(node, limits, n_left)) return 0.0;
        split.score = walk_.score();
        return walk_.left_weight();
    }

    // Two groups in order_: the rows going left, and the others.
    void group_by_side(std::size_t n, std::size_t n_left) {
        groups_.dense = false;
        groups_.position.resize(n);
        std::uint32_t next[2] = {static_cast<std::uint32_t>(n_left), 0};
        for (std::uint32_t i = 0; i < n; ++i) groups_.position[next[left_[i]]++] = i;
        groups_.code = {1, 2};
        groups_.begin = {0, static_cast<std::uint32_t>(n_left), static_cast<std::uint32_t>(n)};
        order_ = {0, 1};
    }

    // Each level that is present tosses a coin; if all agree, one of them changes sides.
    FeatureSplit drawn_levels(const NodeRows& node, const RankedFeature& feature, const SplitLimits& limits,
                              std::uint64_t seed) {
        const auto n_groups = static_cast<std::uint32_t>(groups_.size());
        order_by_code(true);
        const auto goes_left = [&](std::uint32_t group) {
            return random_below(seed, Purpose::threshold, 1 + groups_.code[group], 2) == 1;
        };
        auto middle = std::stable_partition(order_.begin(), order_.end(), goes_left);
        auto n_left = static_cast<std::size_t>(middle - order_.begin());
        if (n_left == 0 || n_left == n_groups) {
            std::swap(order_[0], order_[random_below(seed, Purpose::threshold, 0, n_groups)]);
            n_left = 1;
        }
        const Cut cut = drawn_cut(node, limits, n_left);
        return cut.score == kForbidden ? FeatureSplit{.constant = false}
                                       : nominal_split(feature, cut, node.total_weight);
    }

    Walk walk_;
    Groups groups_;
    std::vector<Code> codes_;         // of the rows of a node
    std::vector<std::uint8_t> left_;  // those that go left
    std::vector<std::uint32_t> order_;
    std::vector<double> keys_;
    std::vector<double> low_;  // here and below: per feature, by draw_all
    std::vector<double> high_;
    std::vector<double> thresholds_;
    std::vector<double> n_left_;
    std::vector<double> weight_left_;
    std::vector<double> sums_left_;  // per column, then per feature
};

}  // namespace

std::uint64_t threshold_seed(std::uint64_t node_seed, FeatureIndex feature) {
    return random_bits(node_seed, Purpose::threshold, feature);
}

std::unique_ptr<FeatureSearch> make_feature_search(Criterion criterion, const Targets& targets) {
    const bool one_sum = targets.need_one_sum();
    require(targets.are_classes() == (criterion == Criterion::gini || criterion == Criterion::entropy),
            "Gini and entropy are for classes; the other criteria are for numbers.");
    switch (criterion) {
        case Criterion::gini:
            if (one_sum) return std::make_unique<Search<OneSumWalk<TwoClassScore<Gini>>>>(targets);
            return std::make_unique<Search<SumsWalk<ClassScore<Gini>>>>(targets);
        case Criterion::entropy:
            if (one_sum) return std::make_unique<Search<OneSumWalk<TwoClassScore<Entropy>>>>(targets);
            return std::make_unique<Search<SumsWalk<ClassScore<Entropy>>>>(targets);
        case Criterion::squared_error:
            if (one_sum) return std::make_unique<Search<OneSumWalk<OneOutputScore<SquaredError>>>>(targets);
            return std::make_unique<Search<SumsWalk<SquaredError>>>(targets);
        case Criterion::poisson:
            if (one_sum) return std::make_unique<Search<OneSumWalk<OneOutputScore<Poisson>>>>(targets);
            return std::make_unique<Search<SumsWalk<Poisson>>>(targets);
        case Criterion::absolute_error: return std::make_unique<Search<MedianWalk>>(targets);
    }
    throw InvalidInput("There is no such criterion.");
}

}  // namespace coterie::criterion
