// boosting/grow_oblivious.hpp: symmetric trees. Every depth has one split, so that a leaf is the list of its outcomes.
//
// All leaves of one depth are split, also those that gain nothing or have no rows. Leaves that cannot gain have no
// histogram.
#pragma once

#include "coterie/base/progress.hpp"
#include "coterie/boosting/growing_tree.hpp"
#include "coterie/boosting/leaf_splitter.hpp"

namespace coterie {

void grow_oblivious(OpenLeaf root, LeafSplitter& splitter, GrowingTree& tree, StopRequest& stop);

}  // namespace coterie
