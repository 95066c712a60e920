// boosting/grow_leafwise.hpp: growing a tree leaf by leaf, the one that gains most first, or level by level.
//
// Words
//   prepare  make a leaf's children, with their histograms and best splits, before they are in the tree
//   commit   put prepared children into the tree
// Threads share the work on a large leaf. Small ones are prepared several at once, a thread each: the best one, and
// those that come next and will very likely be split too. What is prepared is committed in the order of gains, so the
// tree is the one that a single thread grows; the few children that are never needed are forgotten. Ties go to the
// lower feature, then to the lower bin, then to the older leaf: threads cannot change a tree.
#pragma once

#include "coterie/base/progress.hpp"
#include "coterie/boosting/growing_tree.hpp"
#include "coterie/boosting/leaf_splitter.hpp"

namespace coterie {

void grow_leafwise(OpenLeaf root, LeafSplitter& splitter, GrowingTree& tree, StopRequest& stop);

}  // namespace coterie
