// forest/out_rows.hpp: which leaves the rows out of the bag of a tree end in.
#pragma once

#include "coterie/forest/rows.hpp"

namespace coterie {

/// Fills out_leaf of a tree that is complete.
void walk_out_of_bag(const ForestRows& rows, const PackedForest& forest, const Bag& bag, Sapling& tree);

}  // namespace coterie
