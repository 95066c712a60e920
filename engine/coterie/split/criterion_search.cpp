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

// Draws a threshold between the least and the greatest value, and gives the last code below it.
Code drawn_code(const RankedFeature& feature, CodeRange range, double unit, double& threshold) {
    const double low = feature.lowest(range.first);
    const double high = feature.highest(range.last);
    if (range.first == range.last) {  // the only question is about missing values
        threshold = high;
        return range.first;
    }
    if (!std::isfinite(high - low)) {  // between infinite values no number is drawn, but one of the gaps
        const auto code = static_cast<Code>(range.first + static_cast<int>(unit * (range.last - range.first)));
        threshold = between(feature.highest(code), feature.lowest(static_cast<Code>(code + 1)));
        return code;
    }
    threshold = low + unit * (high - low);
    const auto begin = feature.lowest_value.begin() + range.first;
    const auto above = std::upper_bound(begin, feature.lowest_value.begin() + range.last, threshold);
    const auto code = static_cast<Code>(std::max<std::ptrdiff_t>(above - begin, 1) + range.first - 1);
    // Where values share a code, the whole code stays on one side; the greatest value stays on the right.
    threshold = std::max(threshold, feature.highest(code));
    const double next = feature.lowest(static_cast<Code>(code + 1));
    if (!(threshold < next)) threshold = feature.highest(code);
    return code;
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

    void locate(const NodeRows& node, std::span<const Code> column, const RankedFeature& feature, std::uint64_t seed,
                FeatureSplit& split) override {
        const CodeRange range = gather_codes(column, node.rows, codes_);
        const double unit = random_unit(seed, Purpose::threshold, 0);
        split.last_left = drawn_code(feature, range, unit, split.threshold);
        split.located = true;
    }

private:
    static constexpr std::size_t kFewRows = 32;  // that compare their values with a threshold which is not located

    bool is_allowed(const NodeRows& node, const SplitLimits& limits, std::size_t n_left) const {
        if (n_left < limits.min_rows || node.size() - n_left < limits.min_rows) return false;
        if (limits.monotone != 0 && !is_monotone(limits, walk_.left_value(), walk_.right_value())) return false;
        return walk_.left_weight() >= limits.min_weight && walk_.right_weight() >= limits.min_weight;
    }

    // The best cut of order_; cuts before the given one are not asked.
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
        const double unit = random_unit(seed, Purpose::threshold, 0);
        // One known value goes left: then what is missing goes right, or nothing would be parted.
        split.missing_left =
            range.has_missing && range.first != range.last && random_below(seed, Purpose::threshold, 1, 2) == 1;
        const std::size_t n_left = take_sides(node.size(), feature, range, unit, split);
        const double weight_left = score_sides(node, limits, n_left, split);
        if (!range.has_missing) split.missing_left = 2 * weight_left > node.total_weight;
        return split;
    }

    // Who goes left, in left_; returns how many. To look a threshold up among all values takes longer than to compare
    // it with those of a few rows: each step of a search waits for memory.
    std::size_t take_sides(std::size_t n, const RankedFeature& feature, CodeRange range, double unit,
                           FeatureSplit& split) {
        if (left_.size() < n) left_.resize(n);
        std::size_t n_left = 0;
        const double low = feature.lowest(range.first);
        const double width = feature.highest(range.last) - low;
        if (n <= kFewRows && range.first != range.last && std::isfinite(width)) {
            split.located = false;
            const double threshold = low + unit * width;
            for (std::size_t i = 0; i < n; ++i) {
                const Code code = codes_[i];
                const bool below = (code == range.first) | ((code != range.last) & (feature.lowest(code) <= threshold));
                left_[i] = code == kMissingCode ? split.missing_left : below;
                n_left += left_[i];
            }
            return n_left;
        }
        split.last_left = drawn_code(feature, range, unit, split.threshold);
        const auto shift = static_cast<Code>(split.missing_left ? 0 : 1);  // missing wraps around to the highest code
        const auto last = static_cast<Code>(split.last_left - shift);
        for (std::size_t i = 0; i < n; ++i) {
            left_[i] = static_cast<Code>(codes_[i] - shift) <= last;
            n_left += left_[i];
        }
        return n_left;
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
        groups_.place.resize(n);
        std::uint32_t next[2] = {static_cast<std::uint32_t>(n_left), 0};
        for (std::uint32_t i = 0; i < n; ++i) groups_.place[next[left_[i]]++] = i;
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
};

}  // namespace

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
