// forest/forest_memory.hpp: what a grown forest keeps of its training rows, for out-of-bag measures and proximities.
#pragma once

#include <memory>

#include "coterie/forest/rows.hpp"

namespace coterie {

/// How the bags of a forest were drawn, so that they can be drawn again.
struct BagOptions {
    BagKind kind = BagKind::bootstrap;
    double share = 1.0;
    std::size_t most_draws = 0;
    std::uint64_t seed = 0;
};

/// The rows of a forest that has grown, by the codes of its group: for what is computed of them later.
struct ForestMemory {
    ForestRows rows;
    BagOptions bag_options;
    std::uint64_t first_tree = 0;
    std::shared_ptr<const BagDrawer> bags;

    /// Makes `bags` from the rest.
    void prepare_bags();
};

/// Throws InvalidInput unless the rows of a memory from outside can be walked down trees.
void validate(const ForestMemory& memory);

}  // namespace coterie
