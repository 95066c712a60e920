#include "coterie/boosting/grow_oblivious.hpp"

#include <algorithm>

#include "coterie/base/parallel.hpp"

namespace coterie {
namespace {

void split_leaf(OpenLeaf& leaf, const Split& shared, int free_slot, LeafSplitter& splitter, Scratch& scratch,
                int n_threads) {
    leaf.split = shared;
    leaf.split.gain = 0;
    if (leaf.slot >= 0)
        leaf.split = splitter.shared_search().own_part(shared, {&leaf, splitter.pool().cells(leaf.slot)});
    splitter.partition(leaf, scratch, n_threads);
    const std::array<OpenLeaf, 2>& children = *leaf.children;
    const std::size_t fewest = std::min(children[0].rows.n, children[1].rows.n);
    if (fewest < splitter.options().min_samples_leaf) leaf.split.gain = 0;
    if (free_slot >= 0) splitter.build_children(leaf, free_slot, n_threads);
}

// Large leaves one after the other with all threads, then the small ones, a thread each.
void split_level(std::span<OpenLeaf> level, const Split& shared, bool last, LeafSplitter& splitter) {
    std::vector<int> slots;
    for (const OpenLeaf& leaf : level) slots.push_back(leaf.slot >= 0 && !last ? splitter.pool().acquire() : -1);
    const std::span<Scratch> scratches = splitter.scratches(level.size());
    std::vector<std::size_t> small;
    std::size_t work = 0;
    for (std::size_t i = 0; i < level.size(); ++i) {
        if (level.size() > 1 && splitter.work_of(level[i]) < LeafSplitter::kSharedWork) {
            small.push_back(i);
            work += splitter.work_of(level[i]);
        } else {
            split_leaf(level[i], shared, slots[i], splitter, scratches[i], splitter.threads_for(level[i]));
        }
    }
    parallel_for(small.size(), work < 2 * LeafSplitter::kParallelWork ? 1 : splitter.n_threads(), [&](std::size_t k) {
        split_leaf(level[small[k]], shared, slots[small[k]], splitter, scratches[small[k]], 1);
    });
    for (std::size_t i = 0; i < level.size(); ++i) splitter.release_unused(level[i], slots[i]);
}

}  // namespace

void grow_oblivious(OpenLeaf root, LeafSplitter& splitter, GrowingTree& tree, StopRequest& stop) {
    HistogramPool& pool = splitter.pool();
    const std::uint32_t max_depth = oblivious_depth(splitter.options());
    OpenLeaf all;
    all.rows = root.rows;
    all.total = root.total;
    all.slot = pool.acquire();
    std::copy_n(pool.cells(root.slot), splitter.n_cells(), pool.cells(all.slot));
    if (!root.splittable) {
        pool.release(root.slot);
        root.slot = -1;
    }
    std::vector<OpenLeaf> level;
    level.push_back(std::move(root));
    for (std::uint32_t depth = 0; depth < max_depth; ++depth) {
        stop.check();
        std::vector<LeafCells> gaining;
        for (OpenLeaf& leaf : level)
            if (leaf.slot >= 0) gaining.push_back({&leaf, pool.cells(leaf.slot)});
        if (gaining.empty()) break;
        const LeafCells whole[] = {{&all, pool.cells(all.slot)}};
        const double category_cost[] = {splitter.facts().noise};
        const Split shared = splitter.shared_search().find(
            {.leaves = gaining, .first = level[0], .sorters = whole, .category_costs = category_cost},
            splitter.scratches(1)[0], splitter.n_threads());
        if (!(shared.gain > splitter.options().min_gain)) break;
        split_level(level, shared, depth + 1 == max_depth, splitter);
        std::vector<OpenLeaf> next;
        for (OpenLeaf& leaf : level)
            for (OpenLeaf& child : tree.commit(leaf)) next.push_back(std::move(child));
        level = std::move(next);
    }
    for (const OpenLeaf& leaf : level) tree.finish(leaf);
}

}  // namespace coterie
