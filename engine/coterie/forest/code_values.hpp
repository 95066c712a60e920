// forest/code_values.hpp: about which values the codes of numeric features stand for, and back.
//
// Values are known where coarse cells begin, and taken to lie evenly within one: a table that stays in the nearest
// cache, unlike that of all values.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "coterie/forest/rows.hpp"
#include "coterie/forest/sums.hpp"

namespace coterie::sums {

class CodeValues {
public:
    explicit CodeValues(const ForestRows& rows) {
        for (std::size_t feature = 0; feature < rows.n_features(); ++feature) {
            const RankedFeature& ranks = rows.table.features[feature];
            const bool by_code = rows.n_levels[feature] > 0 || ranks.spaced || ranks.n_codes == 1;
            by_code_.push_back(by_code);
            all_by_code_ = all_by_code_ && by_code;
            cells_.push_back(by_code ? Cells() : Cells(ranks));
        }
    }

    /// Of every feature, codes are as far apart as what they stand for.
    bool all_by_code() const { return all_by_code_; }

    /// A known code from low to high - 1, by a share of the way from the value of `low` to that of `high`, in 2^-32ths.
    /// Levels have no values: the way is that from code to code.
    std::uint32_t between(FeatureIndex feature, std::uint32_t low, std::uint32_t high, std::uint32_t share) const {
        if (by_code_[feature]) return low + static_cast<std::uint32_t>((std::uint64_t{share} * (high - low)) >> 32);
        const std::uint32_t code = cells_[feature].between(low, high, static_cast<double>(share) * 0x1.0p-32);
        return std::min(std::max(code, low), high - 1);
    }

private:
    /// What lies where the cells of a feature begin.
    struct Cells {
        Coarse coarse;
        std::vector<double> edge;

        Cells() = default;
        explicit Cells(const RankedFeature& ranks) : coarse(Coarse::of(ranks.n_codes)) {
            constexpr double kFar = std::numeric_limits<double>::max() / 4;
            const std::uint32_t n_cells = coarse(ranks.n_codes - 1) + 1;
            edge.assign(n_cells + 1, 0.0);
            for (std::uint32_t cell = 1; cell < n_cells; ++cell)
                edge[cell] = std::clamp(ranks.lowest(static_cast<Code>(coarse.first(cell))), -kFar, kFar);
            edge[n_cells] = std::clamp(ranks.highest(static_cast<Code>(ranks.n_codes - 1)), -kFar, kFar);
        }

        double value_of(std::uint32_t code) const {
            const std::uint32_t cell = coarse(code);
            const double within =
                static_cast<double>(code - coarse.first(cell)) / static_cast<double>(1u << coarse.shift);
            return edge[cell] + within * (edge[cell + 1] - edge[cell]);
        }

        // May be a little outside.
        std::uint32_t between(std::uint32_t low, std::uint32_t high, double way) const {
            if (coarse(low) == coarse(high)) return low + static_cast<std::uint32_t>(way * (high - low));
            const double from = value_of(low);
            const double value = from + way * (value_of(high) - from);
            const auto begin = edge.begin() + coarse(low);
            const auto next = std::upper_bound(begin + 1, edge.begin() + coarse(high) + 1, value);
            const auto cell = static_cast<std::uint32_t>(next - edge.begin()) - 1;
            const double width = edge[cell + 1] - edge[cell];
            const double within = width > 0.0 ? std::clamp((value - edge[cell]) / width, 0.0, 1.0) : 0.0;
            return coarse.first(cell) +
                   static_cast<std::uint32_t>(within * static_cast<double>((1u << coarse.shift) - 1));
        }
    };

    bool all_by_code_ = true;
    std::vector<std::uint8_t> by_code_;  // codes are as far apart as what they stand for
    std::vector<Cells> cells_;
};

}  // namespace coterie::sums
