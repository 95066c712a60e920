// split/nominal.hpp: the best set of levels of one nominal feature in one node.
//
// Steps
//   1. Sort the bins present in the node (the missing bin is one of them) by gradient over hessian.
//   2. Walk that order, moving bin after bin to the left. For squared error the best of all subsets is among
//      these (Fisher 1958; Breiman et al. 1984), and for other losses to second order.
//   3. Keep the best. On a tie keep the first.
// Rare levels have noisy means and would end up at the ends of the order: smoothing pulls them to the middle.
//
// Sorting makes a gain out of noise: if k levels differ by chance alone, the gain of parting them all is k - 1 times
// the noise, gradient^2 per hessian, and the best cut of the sorted order takes most of it. A numeric feature has no
// such luck, so that much (level_cost for each level beyond the first) is taken off before the two are compared.
#pragma once

#include "coterie/split/split.hpp"

namespace coterie {

/// The bins that have rows, by smoothed gradient over hessian, equal ones by bin; returns how many there are.
std::size_t order_of_levels(const Cell* cells, int n_bins, const SplitTask& task, std::span<Bin, kMaxBins> order);

Candidate best_levels(const Cell* cells, int n_bins, const SplitTask& task, const RowCounts& rows = {});

/// The bins that go left in the candidate that best_levels found.
LevelSet left_bins_of(const Candidate& candidate, const Cell* cells, int n_bins, const SplitTask& task);

}  // namespace coterie
