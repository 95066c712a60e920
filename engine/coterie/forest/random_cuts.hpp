// forest/random_cuts.hpp: where the random threshold of an extra tree falls among the codes of a feature.
//
// A threshold is drawn evenly between the least and the greatest value of a node.
#pragma once

#include "coterie/forest/code_values.hpp"

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

/// The cut of a range that varies, from random bits.
inline RandomCut random_cut(const CodeValues& values, FeatureIndex feature, const CodeRange& range, bool missing_left,
                            std::uint64_t bits) {
    const bool known_differ = range.first() < range.high;
    RandomCut cut{.shift = static_cast<std::uint16_t>(range.has_missing() && known_differ && missing_left ? 0 : 1),
                  .last = range.high};
    if (known_differ) {
        const double share = static_cast<double>(bits >> 11) * 0x1.0p-53;
        cut.last = static_cast<std::uint16_t>(values.between(feature, range.first(), range.high, share));
    }
    return cut;
}

}  // namespace coterie::sums
