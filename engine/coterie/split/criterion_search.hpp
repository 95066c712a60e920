// split/criterion_search.hpp: the split of one feature in one node, by a criterion.
//
// Words
//   cut      a position in an order of groups: what comes before goes left
//   best     every cut is scored; a feature's first best cut wins
//   drawn    one cut is drawn at random and scored
// Missing values of a numeric feature are tried on the right (also against all others), then on the left.
// In a nominal feature they are one more level. What a node has not seen, be it missing values or a level, goes
// to the heavier side.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>

#include "coterie/split/criterion_rows.hpp"

namespace coterie::criterion {

/// What a node allows.
struct SplitLimits {
    std::size_t min_rows = 1;
    double min_weight = 0.0;
    int monotone = 0;  // +1: values must not fall from left to right; -1: must not rise
    double lower = -std::numeric_limits<double>::infinity();
    double upper = std::numeric_limits<double>::infinity();
};

struct FeatureSplit {
    bool constant = true;       // nothing to choose: one distinct value, or all missing
    double score = kForbidden;  // kForbidden: no cut is allowed
    bool missing_left = false;
    bool located = true;  // if not, the threshold that was drawn has still to be put between the codes of the node
    Code last_left = 0;   // numeric: codes 1 to here go left
    double threshold = 0.0;
    std::array<std::uint64_t, 4> left_levels{};  // nominal

    bool goes_left(Code code, bool nominal) const {
        if (code == kMissingCode) return missing_left;
        if (!nominal) return code <= last_left;
        return left_levels[(code - 1) / 64] >> ((code - 1) % 64) & 1u;
    }
};

/// Holds the scratch of one thread.
class FeatureSearch {
public:
    virtual ~FeatureSearch() = default;
    virtual FeatureSplit best(const NodeRows& node, std::span<const Code> column, const RankedFeature& feature,
                              const SplitLimits& limits) = 0;
    /// `seed` belongs to this node and this feature alone (threshold_seed). A numeric split is not located yet.
    virtual FeatureSplit drawn(const NodeRows& node, std::span<const Code> column, const RankedFeature& feature,
                               const SplitLimits& limits, std::uint64_t seed) = 0;
    /// Whether draw_all can be called: for all criteria but absolute_error, whose sides have no sums.
    virtual bool draws_all() const = 0;
    /// `found[i]` is what `drawn` gives for features[i], where its values are usable; limits.monotone is not read.
    virtual void draw_all(const NodeRows& node, const RowValues& values, std::span<const FeatureIndex> features,
                          const SplitLimits& limits, std::span<const std::int8_t> monotone, std::uint64_t node_seed,
                          std::span<FeatureSplit> found) = 0;
    /// The threshold of a split that was drawn with this seed, and the last code below it that the node has.
    virtual void locate(const NodeRows& node, std::span<const Code> column, const RankedFeature& feature,
                        std::uint64_t seed, FeatureSplit& split) = 0;
};

/// The seed of a feature's threshold in the node whose thresholds have this seed.
std::uint64_t threshold_seed(std::uint64_t node_seed, FeatureIndex feature);

std::unique_ptr<FeatureSearch> make_feature_search(Criterion criterion, const Targets& targets);

}  // namespace coterie::criterion
