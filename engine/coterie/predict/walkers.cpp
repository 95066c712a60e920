#include "coterie/predict/walkers.hpp"

namespace coterie {

Walkers::Walkers(const std::vector<std::shared_ptr<const Tree>>& trees) {
    std::size_t n_steps = 0;
    for (const auto& tree : trees) n_steps += tree->n_nodes();
    steps_.reserve(n_steps);
    trees_.reserve(trees.size());
    for (const auto& tree : trees) {
        const std::vector<std::uint32_t> depth = depths(*tree);
        WalkedTree& walked = trees_.emplace_back(WalkedTree{tree.get(), steps_.size(), 0, true});
        for (NodeIndex node = 0; node < tree->n_nodes(); ++node) {
            walked.depth = std::max(walked.depth, depth[node]);
            const bool leaf = tree->is_leaf(node);
            if (!leaf && tree->levels[node] >= 0) walked.is_plain = false;
            steps_.push_back({.threshold = leaf ? std::numeric_limits<double>::infinity() : tree->threshold[node],
                              .feature = leaf ? 0 : static_cast<std::uint32_t>(tree->feature[node]),
                              .left = leaf ? node : tree->left[node],
                              .levels = leaf ? -1 : tree->levels[node],
                              .missing_left = leaf ? std::uint8_t{1} : tree->missing_left[node],
                              .is_leaf = leaf});
        }
        if (walked.depth > kMaxPlain) walked.is_plain = false;
    }
}

}  // namespace coterie
