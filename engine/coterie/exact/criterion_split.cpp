#include "coterie/exact/criterion_split.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "coterie/base/parallel.hpp"
#include "coterie/base/random.hpp"

namespace coterie::criterion {
namespace {

constexpr std::size_t kRowFeaturesPerThread = 50'000;
constexpr double kRounding = 1e-13;

// Scores that differ by rounding only are ties, and the feature that came first keeps the node.
bool is_better(double score, double best) {
    return best == kForbidden ? score > kForbidden : score > best + kRounding * std::abs(best);
}

}  // namespace

NodeSearch::NodeSearch(Training& training, int n_threads)
    : training_(training), n_threads_(std::max(1, n_threads)), features_(training.table.size()) {
    for (int i = 0; i < n_threads_; ++i)
        searches_.push_back(make_feature_search(training.options.criterion, training.targets));
}

bool NodeSearch::may_split(const OpenNode& node) const {
    const CriterionOptions& options = training_.options;
    return node.depth < options.max_depth && node.n_rows() >= options.min_rows_split &&
           node.n_rows() >= 2 * options.min_rows_leaf && node.summary.weight >= 2 * options.min_weight_leaf &&
           node.summary.impurity > kTiny;
}

void NodeSearch::search(OpenNode& node, StopRequest& stop) {
    if (!may_split(node)) return;
    const std::span<const RowIndex> rows(training_.rows.data() + node.begin, node.n_rows());
    gather_rows(training_.targets, training_.options.criterion, training_.shift, rows, node_rows_);
    const Choice choice = choose(node, stop);
    if (choice.split.score == kForbidden) return;
    node.feature = choice.feature;
    node.split = choice.split;
    partition_rows(node);
    const auto summary_of = [&](std::size_t begin, std::size_t end) {
        return summarise(training_.targets, training_.options.criterion, {training_.rows.data() + begin, end - begin});
    };
    node.left = summary_of(node.begin, node.middle);
    node.right = summary_of(node.middle, node.end);
    const double weight = node.summary.weight;
    node.gain = weight / training_.total_weight *
                (node.summary.impurity - node.right.weight / weight * node.right.impurity -
                 node.left.weight / weight * node.left.impurity);
    node.splits = node.gain + kTiny >= training_.options.min_impurity_decrease;
}

// The features that the tree and the path allow.
void NodeSearch::list_features(const OpenNode& node) {
    const CriterionOptions& options = training_.options;
    features_.resize(training_.table.size());
    std::iota(features_.begin(), features_.end(), 0u);
    if (!options.features.empty()) features_ = options.features;
    if (options.interaction_sets.empty()) return;
    FeatureFlags allowed(training_.table.size(), 0);
    for (const std::uint32_t set : node.sets)
        for (const FeatureIndex feature : options.interaction_sets[set]) allowed[feature] = 1;
    std::erase_if(features_, [&](FeatureIndex feature) { return !allowed[feature]; });
}

// Features are drawn without replacement. Constant ones use up draws too, but drawing goes on until one varies.
NodeSearch::Choice NodeSearch::choose(OpenNode& node, StopRequest& stop) {
    list_features(node);
    const auto n_features = static_cast<std::uint32_t>(features_.size());
    const std::size_t wanted = training_.options.max_features;
    const bool draw = wanted > 0 && wanted < n_features;
    const std::uint64_t seed = random_bits(training_.options.seed, Purpose::feature_draw, node.path);
    node_seed_ = random_bits(training_.options.seed, Purpose::threshold, node.path);
    Choice best;
    std::shared_ptr<FeatureFlags> constant;
    bool one_varies = false;
    for (std::uint32_t n_tried = 0; n_tried < n_features && !(one_varies && n_tried > 0);) {
        const auto n_now = n_tried > 0 ? 1u : draw ? static_cast<std::uint32_t>(wanted) : n_features;
        for (std::uint32_t i = n_tried; draw && i < n_tried + n_now; ++i)
            std::swap(features_[i], features_[i + random_below(seed, Purpose::feature_draw, i, n_features - i)]);
        const std::span<const FeatureIndex> now(features_.data() + n_tried, n_now);
        try_features(node, now, stop);
        for (std::size_t i = 0; i < now.size(); ++i) {
            const FeatureSplit& split = found_[i];
            if (split.constant) {
                if (constant == nullptr) constant = std::make_shared<FeatureFlags>(*node.constant);
                (*constant)[now[i]] = 1;
                continue;
            }
            one_varies = true;
            if (is_better(split.score, best.split.score)) best = {.feature = now[i], .split = split};
        }
        n_tried += n_now;
    }
    if (constant != nullptr) node.constant = constant;
    if (!best.split.located)
        searches_[0]->locate(node_rows_, training_.table.codes[best.feature], *training_.table.features[best.feature],
                             threshold_seed(node_seed_, best.feature), best.split);
    return best;
}

void NodeSearch::try_features(const OpenNode& node, std::span<const FeatureIndex> features, StopRequest& stop) {
    found_.assign(features.size(), {});
    if (training_.values.is_quicker_for(features.size())) {
        stop.check();
        return draw_all_features(node, features);
    }
    const bool small = node.n_rows() * features.size() < kRowFeaturesPerThread;
    const auto n_slots = small ? std::size_t{1} : std::min(searches_.size(), features.size());
    const std::size_t handful = small ? features.size() : n_slots;
    for (std::size_t first = 0; first < features.size(); first += handful) {
        stop.check();
        const std::size_t last = std::min(features.size(), first + handful);
        parallel_for(n_slots, n_threads_, [&](std::size_t slot) {
            for (std::size_t i = first + slot; i < last; i += n_slots)
                found_[i] = try_feature(node, features[i], *searches_[slot]);
        });
    }
}

// All of them by reading each row once; those whose values are not usable, one by one.
void NodeSearch::draw_all_features(const OpenNode& node, std::span<const FeatureIndex> features) {
    FeatureSearch& search = *searches_[0];
    search.draw_all(node_rows_, training_.values, features, limits_of(node), training_.options.monotone, node_seed_,
                    found_);
    for (std::size_t i = 0; i < features.size(); ++i)
        if (!training_.values.usable[features[i]]) found_[i] = try_feature(node, features[i], search);
}

SplitLimits NodeSearch::limits_of(const OpenNode& node) const {
    return {.min_rows = training_.options.min_rows_leaf,
            .min_weight = training_.options.min_weight_leaf,
            .lower = node.lower,
            .upper = node.upper};
}

FeatureSplit NodeSearch::try_feature(const OpenNode& node, FeatureIndex feature, FeatureSearch& search) const {
    if ((*node.constant)[feature]) return {};
    const CriterionOptions& options = training_.options;
    SplitLimits limits = limits_of(node);
    if (!options.monotone.empty()) limits.monotone = options.monotone[feature];
    const std::span<const Code> column = training_.table.codes[feature];
    const RankedFeature& ranks = *training_.table.features[feature];
    if (!options.random_splits) return search.best(node_rows_, column, ranks, limits);
    return search.drawn(node_rows_, column, ranks, limits, threshold_seed(node_seed_, feature));
}

// Rows keep their order on both sides.
void NodeSearch::partition_rows(OpenNode& node) {
    const std::span<const Code> column = training_.table.codes[node.feature];
    const bool nominal = training_.table.features[node.feature]->nominal;
    RowIndex* left = training_.rows.data() + node.begin;
    RowIndex* right = training_.twin.data() + node.begin;
    RowIndex* const first_right = right;
    for (std::size_t i = node.begin; i < node.end; ++i) {
        const RowIndex row = training_.rows[i];
        const bool goes_left = node.split.goes_left(column[row], nominal);
        *left = row;
        *right = row;
        left += goes_left;
        right += !goes_left;
    }
    std::copy(first_right, right, left);
    node.middle = static_cast<std::size_t>(left - training_.rows.data());
}

}  // namespace coterie::criterion
