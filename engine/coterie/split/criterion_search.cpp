#include "coterie/split/criterion_search.hpp"

#include <algorithm>
#include <cmath>
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
        walk_.group(column, node, feature.n_codes, groups_);
        if (groups_.size() < 2) return {};
        return feature.nominal ? drawn_levels(node, feature, limits, seed)
                               : drawn_threshold(node, feature, limits, seed);
    }

private:
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

    FeatureSplit drawn_threshold(const NodeRows& node, const RankedFeature& feature, const SplitLimits& limits,
                                 std::uint64_t seed) {
        const bool has_missing = groups_.has_missing();
        const bool missing_left = has_missing && random_below(seed, Purpose::threshold, 1, 2) == 1;
        order_by_code(missing_left);
        const std::size_t first = missing_left ? 1 : 0;  // the group of the least value
        const std::size_t last = order_.size() - (has_missing && !missing_left ? 2 : 1);  // of the greatest
        const double low = feature.lowest(groups_.code[order_[first]]);
        const double high = feature.highest(groups_.code[order_[last]]);
        const double unit = random_unit(seed, Purpose::threshold, 0);
        double threshold = low;
        std::size_t n_left = first + 1;
        if (std::isfinite(high - low)) {
            if (low + unit * (high - low) < high) threshold = low + unit * (high - low);
            while (n_left <= last && feature.lowest(groups_.code[order_[n_left]]) <= threshold) ++n_left;
        } else if (last > first) {  // between infinite values no number is drawn, but one of the gaps
            n_left += static_cast<std::size_t>(unit * static_cast<double>(last - first));
            threshold = between(feature.highest(groups_.code[order_[n_left - 1]]),
                                feature.lowest(groups_.code[order_[n_left]]));
        }
        const Cut cut = drawn_cut(node, limits, n_left);
        FeatureSplit split{.constant = false, .score = cut.score};
        split.missing_left = has_missing ? missing_left : 2 * cut.weight_left > node.total_weight;
        split.last_left = groups_.code[order_[n_left - 1]];
        // Where values share a code, the whole code stays on one side.
        split.threshold = std::max(threshold, feature.highest(split.last_left));
        return split;
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
