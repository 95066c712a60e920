// forest/random_cuts.hpp: where the random threshold of an extra tree falls among the codes of a feature.
//
// A threshold is drawn evenly between the least and the greatest value of a node.
#pragma once

#include "coterie/forest/code_values.hpp"
#include "coterie/forest/node_draws.hpp"

namespace coterie::sums {

/// The codes of a feature that a node holds.
struct CodeRange {
    std::uint16_t low = 0xffff;  // least known code, less one: missing wraps around to the highest
    std::uint16_t high = 0;
    std::uint16_t least = 0xffff;  // 0 if something is missing

    void see(std::uint32_t code) {
        low = std::min(low, static_cast<std::uint16_t>(code - 1));
        high = std::max(high, static_cast<std::uint16_t>(code));
        least = std::min(least, static_cast<std::uint16_t>(code));
    }
    static CodeRange of_lane(const CodeRanges& ranges, std::size_t k) {
        return {ranges.least_known_less_one[k], ranges.greatest[k], ranges.least[k]};
    }
    std::uint32_t first() const { return low + 1u; }
    bool has_missing() const { return least == kMissingCode; }
    bool varies() const { return high != 0 && (first() != high || has_missing()); }
};

/// Codes from `shift` to `last` go left; a shift of 0 takes missing values along.
struct RandomCut {
    std::uint16_t shift = 0;
    std::uint16_t last = 0;

    bool goes_left(Code code) const {
        return static_cast<std::uint16_t>(code - shift) <= static_cast<std::uint16_t>(last - shift);
    }
};

/// The cut of a range that varies, in feature k of those that are being tried.
inline RandomCut draw_cut(const CodeValues& values, const NodeDraws& draws, const FeatureIndex* features, std::size_t k,
                          const CodeRange& range) {
    const bool known_differ = range.first() < range.high;
    const bool missing_left = range.has_missing() && known_differ && draws.missing_goes_left(features[k]);
    RandomCut cut{.shift = static_cast<std::uint16_t>(missing_left ? 0 : 1), .last = range.high};
    if (known_differ)
        cut.last =
            static_cast<std::uint16_t>(values.between(features[k], range.first(), range.high, draws.shares()[k]));
    return cut;
}

}  // namespace coterie::sums
