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
    CodeValues(const ForestRows& rows, const std::vector<Coarse>& coarse) {
        for (std::size_t feature = 0; feature < rows.n_features(); ++feature)
            scales_.emplace_back(rows.table.features[feature], rows.n_levels[feature] > 0, coarse[feature]);
    }

    /// A known code from low to high - 1, by a share from 0 to 1 of the way from the value of `low` to that of `high`.
    /// Levels have no values: the way is that from code to code.
    std::uint32_t between(FeatureIndex feature, std::uint32_t low, std::uint32_t high, double share) const {
        const FeatureScale& scale = scales_[feature];
        if (scale.nominal || scale.coarse(low) == scale.coarse(high))
            return low + static_cast<std::uint32_t>(share * (high - low));
        const double from = scale.value_of(low);
        return scale.code_of(from + share * (scale.value_of(high) - from), low, high);
    }

private:
    static constexpr std::size_t kGrid = 1024;  // steps from the least value to the greatest, to begin a search with

    struct FeatureScale {
        bool nominal;
        Coarse coarse;
        double step;  // of a code within a cell
        std::vector<double> edge;
        double from = 0.0;
        double steps_per_value = 0.0;
        std::array<std::uint8_t, kGrid> cell_at{};  // the last cell that begins at or below a place of the grid

        FeatureScale(const RankedFeature& ranks, bool is_nominal, Coarse cells)
            : nominal(is_nominal), coarse(cells), step(1.0 / static_cast<double>(1u << cells.shift)) {
            if (nominal || ranks.n_codes < 2) return;
            constexpr double kFar = std::numeric_limits<double>::max() / 4;
            const std::uint32_t n_cells = cells(ranks.n_codes - 1) + 1;
            edge.assign(n_cells + 1, 0.0);
            for (std::uint32_t cell = 1; cell < n_cells; ++cell)
                edge[cell] = std::clamp(ranks.lowest(static_cast<Code>(cells.first(cell))), -kFar, kFar);
            edge[n_cells] = std::clamp(ranks.highest(static_cast<Code>(ranks.n_codes - 1)), -kFar, kFar);
            from = edge[1];
            const double reach = edge[n_cells] - from;
            // Values may be so near each other that this is no number: every search then begins at the first cell.
            steps_per_value = static_cast<double>(kGrid) / reach;
            if (!std::isfinite(steps_per_value)) steps_per_value = 0.0;
            std::uint32_t cell = 1;
            for (std::size_t place = 0; place < cell_at.size(); ++place) {
                const double value = from + reach * (static_cast<double>(place) / static_cast<double>(kGrid));
                while (cell + 1 < n_cells && edge[cell + 1] <= value) ++cell;
                cell_at[place] = static_cast<std::uint8_t>(cell);
            }
        }

        double value_of(std::uint32_t code) const {
            const std::uint32_t cell = coarse(code);
            const double within = static_cast<double>(code - coarse.first(cell)) * step;
            return edge[cell] + within * (edge[cell + 1] - edge[cell]);
        }

        std::uint32_t code_of(double value, std::uint32_t low, std::uint32_t high) const {
            const double place = std::clamp((value - from) * steps_per_value, 0.0, static_cast<double>(kGrid - 1));
            const std::uint32_t end = coarse(high);
            std::uint32_t cell = cell_at[static_cast<std::size_t>(place)];
            cell = std::clamp(cell, coarse(low), end);
            for (int i = 0; i < 2; ++i) cell += cell < end && edge[cell + 1] <= value;  // no branch: mostly enough
            if (cell < end && edge[cell + 1] <= value) {
                const auto next = std::upper_bound(edge.begin() + cell + 1, edge.begin() + end + 1, value);
                cell = static_cast<std::uint32_t>(next - edge.begin()) - 1;
            }
            const double width = edge[cell + 1] - edge[cell];
            const double within = width > 0.0 ? std::clamp((value - edge[cell]) / width, 0.0, 1.0) : 0.0;
            const std::uint32_t code =
                coarse.first(cell) + static_cast<std::uint32_t>(within * static_cast<double>((1u << coarse.shift) - 1));
            return std::clamp(code, low, high - 1);
        }
    };

    std::vector<FeatureScale> scales_;
};

}  // namespace coterie::sums
