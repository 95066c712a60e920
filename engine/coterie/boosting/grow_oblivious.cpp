// boosting/grow_oblivious.cpp: symmetric trees. Every level has one split, so that a leaf is the list of its answers.
//
// All leaves of a level are split, also those that gain nothing or have no rows. Leaves that cannot gain have no
// histogram.
#include <algorithm>

#include "coterie/base/parallel.hpp"
#include "coterie/boosting/grow_tree.hpp"

namespace coterie {

void TreeGrower::grow_oblivious(OpenLeaf root, TreeBuilder& builder, StopRequest& stop) {
    const std::uint32_t max_depth = oblivious_depth(options_);
    OpenLeaf all;
    all.rows = root.rows;
    all.total = root.total;
    all.slot = take_slot();
    std::copy_n(cells(root.slot), layout_.n_cells(), cells(all.slot));
    if (!search_.may_split(root)) {
        free_slots_.push_back(root.slot);
        root.slot = -1;
    }
    std::vector<OpenLeaf> level;
    level.push_back(std::move(root));
    for (std::uint32_t depth = 0; depth < max_depth; ++depth) {
        stop.check();
        std::vector<LeafCells> gaining;
        for (OpenLeaf& leaf : level)
            if (leaf.slot >= 0) gaining.push_back({&leaf, cells(leaf.slot)});
        if (gaining.empty()) break;
        const LeafCells whole[] = {{&all, cells(all.slot)}};
        const double level_cost[] = {facts_.noise};
        const Split shared = search_.find_shared(
            {.leaves = gaining, .first = level[0], .sorters = whole, .level_costs = level_cost}, desks_[0], n_threads_);
        if (!(shared.gain > options_.min_gain)) break;
        split_level(level, shared, depth + 1 == max_depth);
        std::vector<OpenLeaf> next;
        for (OpenLeaf& leaf : level)
            for (OpenLeaf& child : commit(leaf, builder)) next.push_back(std::move(child));
        level = std::move(next);
    }
    for (const OpenLeaf& leaf : level) finish_leaf(leaf, builder);
}

// Large leaves one after the other with all threads, then the small ones, a thread each.
void TreeGrower::split_level(std::span<OpenLeaf> level, const Split& shared, bool last) {
    std::vector<int> slots;
    for (const OpenLeaf& leaf : level) slots.push_back(leaf.slot >= 0 && !last ? take_slot() : -1);
    if (desks_.size() < level.size()) desks_.resize(level.size());
    std::vector<std::size_t> small;
    std::size_t work = 0;
    for (std::size_t i = 0; i < level.size(); ++i) {
        if (level.size() > 1 && work_of(level[i]) < kSharedWork) {
            small.push_back(i);
            work += work_of(level[i]);
        } else {
            split_leaf(level[i], shared, slots[i], desks_[i], work_of(level[i]) < kParallelWork ? 1 : n_threads_);
        }
    }
    parallel_for(small.size(), work < 2 * kParallelWork ? 1 : n_threads_,
                 [&](std::size_t k) { split_leaf(level[small[k]], shared, slots[small[k]], desks_[small[k]], 1); });
    for (std::size_t i = 0; i < level.size(); ++i) {
        OpenLeaf& leaf = level[i];
        for (const int slot : {leaf.slot, slots[i]})
            if (slot >= 0 && std::ranges::none_of(*leaf.children, [&](auto& child) { return child.slot == slot; }))
                free_slots_.push_back(slot);
        leaf.slot = -1;
    }
}

void TreeGrower::split_leaf(OpenLeaf& leaf, const Split& shared, int free_slot, Desk& desk, int n_threads) {
    leaf.split = shared;
    leaf.split.gain = 0;
    if (leaf.slot >= 0) leaf.split = search_.own_part(shared, {&leaf, cells(leaf.slot)});
    leaf.children = std::make_unique<std::array<OpenLeaf, 2>>(part(leaf, desk, n_threads));
    std::array<OpenLeaf, 2>& children = *leaf.children;
    const std::size_t fewest = std::min(children[0].rows.n, children[1].rows.n);
    if (fewest < options_.min_samples_leaf) leaf.split.gain = 0;
    if (free_slot < 0) return;
    OpenLeaf& small = children[children[0].rows.n <= children[1].rows.n ? 0 : 1];
    OpenLeaf& large = &small == &children[0] ? children[1] : children[0];
    const bool large_may = search_.may_split(large);
    if (!large_may && !search_.may_split(small)) return;
    const NodeRows rows = partition_.rows(small.rows, facts_.counted);
    if (n_threads > 1)
        histograms_.build(rows, cells(free_slot));
    else
        histograms_.build_alone(rows, cells(free_slot));
    if (search_.may_split(small)) small.slot = free_slot;
    if (!large_may) return;
    large.slot = leaf.slot;
    kernels().split.subtract(cells(large.slot), cells(free_slot), layout_.n_cells());
}

}  // namespace coterie
