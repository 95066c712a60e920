// forest/random_cuts.hpp: where the random threshold of an extra tree falls among the codes of a feature.
//
// A threshold is drawn evenly between the least and the greatest value of a node. Values are looked up by coarse cells
// and taken to lie evenly within one.
#pragma once

#include <algorithm>
#include <limits>
#include <span>
#include <vector>

#include "coterie/forest/rows.hpp"
#include "coterie/forest/sums.hpp"

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

class RandomCuts {
public:
    RandomCuts(const ForestRows& rows, const std::vector<Coarse>& coarse) : rows_(rows), coarse_(coarse) {
        for (std::size_t feature = 0; feature < rows_.n_features(); ++feature) {
            const RankedFeature& ranks = rows_.table.features[feature];
            const Coarse cells = coarse_[feature];
            const std::uint32_t n_cells = cells(ranks.n_codes - 1) + 1;
            std::vector<double>& edge = edges_.emplace_back(n_cells + 1, 0.0);
            if (rows_.n_levels[feature] > 0 || ranks.n_codes < 2) continue;
            constexpr double kFar = std::numeric_limits<double>::max() / 4;
            for (std::uint32_t cell = 1; cell < n_cells; ++cell)
                edge[cell] = std::clamp(ranks.lowest(static_cast<Code>(cells.first(cell))), -kFar, kFar);
            edge[n_cells] = std::clamp(ranks.highest(static_cast<Code>(ranks.n_codes - 1)), -kFar, kFar);
        }
    }

    /// The cut of a range that varies, from random bits.
    RandomCut draw(FeatureIndex feature, const CodeRange& range, bool missing_left, std::uint64_t bits) const {
        const bool known_differ = range.first() < range.high;
        return {.shift = static_cast<std::uint16_t>(range.has_missing() && known_differ && missing_left ? 0 : 1),
                .last = known_differ ? code_of(feature, range.first(), range.high, bits) : range.high};
    }

private:
    // About the value of a code: even within a coarse cell.
    double value_of(FeatureIndex feature, std::uint32_t code) const {
        const Coarse coarse = coarse_[feature];
        const std::uint32_t cell = coarse(code);
        const double* const edge = edges_[feature].data() + cell;
        const double within = static_cast<double>(code - coarse.first(cell)) / static_cast<double>(1u << coarse.shift);
        return edge[0] + within * (edge[1] - edge[0]);
    }

    // A code from low to high - 1.
    std::uint16_t code_of(FeatureIndex feature, std::uint32_t low, std::uint32_t high, std::uint64_t bits) const {
        const double unit = static_cast<double>(bits >> 11) * 0x1.0p-53;
        const Coarse coarse = coarse_[feature];
        std::uint32_t cell = coarse(low);
        const std::uint32_t last_cell = coarse(high);
        if (cell == last_cell || rows_.n_levels[feature] > 0)
            return static_cast<std::uint16_t>(low + static_cast<std::uint32_t>(unit * (high - low)));
        const double* const edge = edges_[feature].data();
        const double from = value_of(feature, low);
        const double threshold = from + unit * (value_of(feature, high) - from);
        for (std::uint32_t n = last_cell - cell + 1; n > 1;) {  // the last cell that begins at or below it
            const std::uint32_t half = n / 2;
            cell += edge[cell + half] <= threshold ? half : 0;
            n -= half;
        }
        const double width = edge[cell + 1] - edge[cell];
        const double within = width > 0.0 ? std::clamp((threshold - edge[cell]) / width, 0.0, 1.0) : 0.0;
        const std::uint32_t code =
            coarse.first(cell) + static_cast<std::uint32_t>(within * static_cast<double>((1u << coarse.shift) - 1));
        return static_cast<std::uint16_t>(std::clamp(code, low, high - 1));
    }

    const ForestRows& rows_;
    const std::vector<Coarse>& coarse_;
    std::vector<std::vector<double>> edges_;  // per feature: where its coarse cells begin, as values; then the end
};

}  // namespace coterie::sums
