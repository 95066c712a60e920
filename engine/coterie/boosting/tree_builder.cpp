#include "coterie/boosting/tree_builder.hpp"

#include <limits>

namespace coterie {

NodeIndex TreeBuilder::add_node() {
    tree_.feature.push_back(kLeaf);
    tree_.threshold.push_back(0);
    tree_.levels.push_back(-1);
    tree_.missing_left.push_back(0);
    tree_.left.push_back(0);
    tree_.value.push_back(0);
    tree_.gain.push_back(0);
    tree_.cover.push_back(0);
    tree_.n_rows.push_back(0);
    return static_cast<NodeIndex>(tree_.n_nodes() - 1);
}

NodeIndex TreeBuilder::split(NodeIndex node, const Split& split, const FeatureBins& bins) {
    tree_.feature[node] = static_cast<std::int32_t>(split.feature);
    tree_.gain[node] = split.gain;
    tree_.missing_left[node] = split.missing_left;
    if (split.nominal) {
        // Bin k + 1 is level k: the set moves down by one, and the missing bin has its own entry.
        tree_.levels[node] = static_cast<std::int32_t>(tree_.level_bits.size() / 4);
        const LevelSet& set = split.left_bins;
        for (std::size_t word = 0; word < 4; ++word)
            tree_.level_bits.push_back(set[word] >> 1 | (word < 3 ? set[word + 1] << 63 : 0));
    } else {
        // All values left, missing ones right: no cut, every value passes.
        const std::size_t cut = static_cast<std::size_t>(split.last) - 1;
        tree_.threshold[node] = cut < bins.cuts.size() ? bins.cuts[cut] : std::numeric_limits<double>::infinity();
    }
    const NodeIndex left = add_node();
    add_node();
    tree_.left[node] = left;
    return left;
}

}  // namespace coterie
