// split/best_split.hpp: the best split of a node over all features it may use.
#pragma once

#include <span>
#include <vector>

#include "coterie/histogram/layout.hpp"
#include "coterie/split/split.hpp"

namespace coterie {

/// The best split of one feature from its cells. `direction`: 1, -1 or 0 for a monotone feature. A split that
/// does not gain more than `beat` may be returned as none.
Candidate best_candidate(const FeatureBins& bins, const Cell* cells, const SplitTask& task, int direction,
                         const RowCounts& rows = {}, float beat = -1);

/// What the node gains over predicting zero, in rounded units.
double gain_of_node(const SplitTask& task);

/// Spells a candidate out: left sums, real gain above the parent, and where bins that the node lacks go. The node
/// lacks a bin without rows; if they are not counted, one whose sums are zero.
Split spell_out(const Candidate& candidate, FeatureIndex feature, const FeatureBins& bins, const Cell* cells,
                const SplitTask& task, const Units& units, std::span<const std::uint32_t> counts = {});

/// The rule that sends bins left or right; `table` has room for 256 entries and must outlive the rule.
BinRule rule_of(const Split& split, std::span<Bin, kMaxBins> table);

}  // namespace coterie
