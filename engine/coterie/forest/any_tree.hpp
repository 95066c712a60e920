// forest/any_tree.hpp: the general way to grow a forest's tree: any criterion, any number of classes and outputs,
// monotone constraints, a limit on leaves. It is the grower of single trees on the rows of a bag.
#pragma once

#include "coterie/forest/rows.hpp"

namespace coterie {

/// Needs rows laid out by feature. `shift` is that of all rows (criterion::shift_for_search).
GrownTree grow_any_tree(const ForestRows& rows, const Bag& bag, const ForestTreeOptions& options,
                        const PackedForest& forest, std::span<const double> shift, std::vector<std::uint16_t> ranks,
                        Cancellation& cancellation);

}  // namespace coterie
