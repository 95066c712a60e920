// split/criterion_rows.hpp: what a split search knows of a node's rows, and of one feature in them.
//
// Words
//   position  of a row among the rows of the node
//   group     the rows of a node that share a code; groups ascend by code, the missing one (code 0) first
//   dense     groups are summed while they are counted, which is quicker when rows outnumber codes;
//             otherwise the positions are sorted by code and summed later
#pragma once

#include <span>
#include <vector>

#include "coterie/base/buffer.hpp"
#include "coterie/binning/ranks.hpp"
#include "coterie/split/criterion.hpp"

namespace coterie::criterion {

/// What is to be predicted, in the grower's order of rows.
struct Targets {
    std::uint32_t n_outputs = 1;
    std::vector<std::uint32_t> n_classes;  // per output; empty if the outputs are numbers
    std::vector<double> value;             // n_outputs per row: numbers, or class codes
    std::vector<double> weight;            // per row, all > 0

    bool are_classes() const { return !n_classes.empty(); }
    bool need_one_sum() const { return n_outputs == 1 && (n_classes.empty() || n_classes[0] == 2); }
};

/// The rows of one node with their targets beside them, gathered once for all features.
struct NodeRows {
    std::span<const RowIndex> rows;
    std::vector<double> weight;
    std::vector<double> target;  // n_outputs per row, less shift
    std::vector<double> shift;   // per output: see gather_rows
    double total_weight = 0.0;
    std::vector<double> total;          // per column
    std::vector<std::uint32_t> rank;    // absolute_error: of each row's target, output by output
    std::vector<double> sorted_target;  // absolute_error: by rank, output by output

    std::size_t size() const { return rows.size(); }
};

/// The values of a few thousand rows, row by row: random thresholds of all features are then compared with a row at
/// once. Empty where columns are read instead.
struct RowValues {
    std::size_t stride = 0;            // values of a row: one for each feature, then zeros
    Buffer<double> value;              // the least value of the row's code
    std::vector<std::uint8_t> usable;  // per feature: numeric, with a finite range and no missing value

    RowValues() = default;
    /// `codes` are those of the rows, feature after feature.
    RowValues(std::span<const RankedFeature* const> features, std::span<const Code> codes, std::size_t n_rows);

    /// Whether it is quicker to look at all features than at so many.
    bool is_quicker_for(std::size_t n_features) const { return !value.empty() && 2 * n_features >= usable.size(); }
};

/// Squared sums of targets far from zero lose their digits, so such targets are searched less their mean.
std::vector<double> shift_for_search(const Targets& targets, Criterion criterion);

void gather_rows(const Targets& targets, Criterion criterion, std::span<const double> shift,
                 std::span<const RowIndex> rows, NodeRows& node);

/// One feature's codes in one node.
struct Groups {
    std::vector<Code> code;               // per group
    std::vector<std::uint32_t> begin;     // per group and one more: where it begins in `position`
    std::vector<std::uint32_t> position;  // by group, ascending in each; empty if dense
    bool dense = false;
    std::vector<double> weight;      // dense: per group
    std::vector<double> sums;        // dense: n_columns per group
    std::vector<std::uint32_t> key;  // scratch

    std::size_t size() const { return code.size(); }
    std::uint32_t count(std::size_t group) const { return begin[group + 1] - begin[group]; }
    bool has_missing() const { return !code.empty() && code[0] == kMissingCode; }
};

/// Fills `position`: a counting sort when rows outnumber codes, else a sort of (code, position) pairs.
void sort_positions(std::span<const Code> column, std::span<const RowIndex> rows, std::uint32_t n_codes,
                    Groups& groups);

}  // namespace coterie::criterion
