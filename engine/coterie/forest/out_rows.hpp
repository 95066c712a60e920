// forest/out_rows.hpp: which leaves the rows out of the bag of a tree end in.
#pragma once

#include "coterie/base/buffer.hpp"
#include "coterie/forest/rows.hpp"
#include "coterie/tree/laid_nodes.hpp"

namespace coterie {

/// Walks the trees of one thread. To part the rows along with those of the bag, at every split of a large node, takes
/// longer: each time they are read from far away.
class OutRows {
public:
    OutRows(const ForestRows& rows, const PackedForest& forest);

    /// Fills out_leaf of a tree that is complete.
    void walk(const Bag& bag, GrownTree& tree);

private:
    void walk_nominal(const Bag& bag, GrownTree& tree) const;

    const ForestRows& rows_;
    const PackedForest& forest_;
    bool nominal_ = false;  // some features are
    bool missing_ = false;  // some codes are
    Buffer<LaidNode> nodes_;
};

}  // namespace coterie
