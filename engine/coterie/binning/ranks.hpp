// binning/ranks.hpp: columns as ranks, for growers that look at every distinct value.
//
// Words
//   code     what a value became: 0 is missing; the distinct values of a feature are 1, 2, ... in their order
//   shared   with more than 65,024 distinct values, neighbours share a code, so that codes hold equal mass
//   spaced   codes are as far from each other as their values, for growers that draw thresholds; some have no value
//   place    a row's position in the grower's own order of rows
#pragma once

#include <span>
#include <vector>

#include "coterie/base/array.hpp"
#include "coterie/base/buffer.hpp"
#include "coterie/base/column_view.hpp"
#include "coterie/base/progress.hpp"

namespace coterie {

using Code = std::uint16_t;

inline constexpr Code kMissingCode = 0;
inline constexpr std::size_t kMaxCodes =
    65'024;  // without the missing one: 127 times 512, so that 127 cells hold as many each
inline constexpr std::int32_t kMaxLevels = 256;  // what a set of levels in a tree can hold

/// What the codes of one feature mean. In a nominal feature the code is the level plus one.
struct RankedFeature {
    bool nominal = false;
    bool spaced = false;
    bool has_missing = false;
    std::uint32_t n_codes = 1;          // with the missing code
    std::vector<double> lowest_value;   // numeric and not spaced: the least value of each code; entry 0 is unused
    std::vector<double> highest_value;  // its greatest value; empty if no two share a code
    double edge = 0.0;                  // spaced: a code ends so many steps above it as its number says
    double step = 0.0;

    double lowest(Code code) const { return lowest_value[code]; }
    double highest(Code code) const { return highest_value.empty() ? lowest_value[code] : highest_value[code]; }

    /// Parts the values of a code, which is not the last one, from those of the next: where the code ends if codes are
    /// spaced, otherwise in the middle between both.
    double threshold_above(Code code) const;
};

enum class CodeLayout : std::uint8_t { by_feature, by_row };
enum class CodeSpacing : std::uint8_t { by_rank, by_value };  // the latter for features where codes suffice for it

/// The table's rows in the grower's order, each value replaced by its code.
struct RankedTable {
    std::size_t n_rows = 0;
    std::vector<RankedFeature> features;
    std::size_t row_stride = 1;      // from a row to the next, in codes
    std::size_t feature_stride = 0;  // from a feature to the next
    Array<Code, Buffer<Code>> codes;

    /// Of a table laid out by feature.
    std::span<const Code> column(FeatureIndex feature) const {
        return {codes.data() + static_cast<std::size_t>(feature) * feature_stride, n_rows};
    }
    /// Of a table laid out by row.
    const Code* row(std::size_t place) const { return codes.data() + place * row_stride; }
};

/// Columns of codes that somebody else owns, as a grower reads them.
struct CodeColumns {
    std::vector<std::span<const Code>> codes;
    std::vector<const RankedFeature*> features;

    static CodeColumns of(const RankedTable& table) {
        CodeColumns columns;
        for (FeatureIndex feature = 0; feature < table.features.size(); ++feature) {
            columns.codes.push_back(table.column(feature));
            columns.features.push_back(&table.features[feature]);
        }
        return columns;
    }
    std::size_t size() const { return features.size(); }
};

/// Ranks the given rows of the table, in the given order. Cost: a radix sort per feature, in parallel.
RankedTable rank_table(const TableView& table, std::span<const RowIndex> rows, int n_threads, StopRequest stop = {},
                       CodeLayout layout = CodeLayout::by_feature, CodeSpacing spacing = CodeSpacing::by_rank);

/// Reorders rows so that values[row] ascends; equal values keep their order. No NaN.
void sort_stably(std::span<const double> values, std::vector<RowIndex>& rows);

}  // namespace coterie
