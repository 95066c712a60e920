#include "coterie/boosting/grow_oblivious.hpp"

#include <algorithm>

#include "coterie/base/parallel.hpp"

namespace coterie {
namespace {

constexpr std::size_t kKeptSpare = 1;  // slots that no leaf keeps, for histograms that are built again and again

// The histograms of the leaves of one depth that can be split. One that there is no slot for is built when it is looked
// at, and forgotten.
class LeavesOfOneDepth {
public:
    LeavesOfOneDepth(std::span<OpenLeaf> leaves, LeafSplitter& splitter) : splitter_(splitter) {
        HistogramPool& pool = splitter.pool();
        for (OpenLeaf& leaf : leaves) {
            if (!leaf.splittable) continue;
            if (leaf.slot < 0 && pool.n_spare() > kKeptSpare) {
                leaf.slot = pool.acquire();
                splitter.build(leaf, pool.cells(leaf.slot));
            }
            leaves_.push_back({&leaf, leaf.slot >= 0 ? pool.cells(leaf.slot) : nullptr});
        }
        if (std::ranges::any_of(leaves_, [](const LeafCells& leaf) { return leaf.cells == nullptr; }))
            slot_ = pool.acquire();
    }
    ~LeavesOfOneDepth() {
        if (slot_ >= 0) splitter_.pool().release(slot_);
    }
    LeavesOfOneDepth(const LeavesOfOneDepth&) = delete;
    LeavesOfOneDepth& operator=(const LeavesOfOneDepth&) = delete;

    std::span<const LeafCells> leaves() const { return leaves_; }
    const Cell* build(std::size_t k) {
        splitter_.build(*leaves_[k].leaf, splitter_.pool().cells(slot_));
        return splitter_.pool().cells(slot_);
    }

private:
    LeafSplitter& splitter_;
    std::vector<LeafCells> leaves_;
    int slot_ = -1;
};

// What the leaf sends left is known if it has its cells.
void take_split(OpenLeaf& leaf, const Split& shared, LeafSplitter& splitter) {
    leaf.split = shared;
    leaf.split.gain = 0;
    if (leaf.slot < 0) return;
    const LeafCells own{&leaf, splitter.pool().cells(leaf.slot)};
    leaf.split.left_total = splitter.shared_search().left_total(shared, own);
}

// Nothing if a child is too small.
void set_gain(OpenLeaf& leaf, const Split& shared, const LeafSplitter& splitter) {
    const std::array<OpenLeaf, 2>& children = *leaf.children;
    const std::uint64_t fewest = std::min(children[0].n_rows, children[1].n_rows);
    if (leaf.splittable && fewest >= splitter.options().min_samples_leaf)
        leaf.split.gain = splitter.shared_search().gain_of(shared, leaf, children[0].total);
}

void split_leaf(OpenLeaf& leaf, const Split& shared, int free_slot, LeafSplitter& splitter, Scratch& scratch,
                int n_threads) {
    const bool has_cells = leaf.slot >= 0;
    take_split(leaf, shared, splitter);
    splitter.partition(leaf, has_cells, scratch, n_threads);
    set_gain(leaf, shared, splitter);
    if (has_cells && free_slot >= 0) splitter.build_children(leaf, free_slot, n_threads);
}

// The leaves of one depth in step with the other workers.
void split_leaves_together(std::span<OpenLeaf> leaves, const Split& shared, bool last, LeafSplitter& splitter) {
    HistogramPool& pool = splitter.pool();
    std::vector<SplitTogether> splits;
    for (OpenLeaf& leaf : leaves) {
        take_split(leaf, shared, splitter);
        const bool builds = leaf.slot >= 0 && !last && pool.n_spare() > kKeptSpare;
        splits.push_back(
            {.leaf = &leaf, .left_known = leaf.slot >= 0, .free = {.small = builds ? pool.acquire() : -1}});
    }
    splitter.split_together(splits);
    for (const SplitTogether& split : splits) {
        set_gain(*split.leaf, shared, splitter);
        splitter.release_unused(*split.leaf, split.free);
    }
}

// Large leaves one after the other with all threads, then the small ones, a thread each.
void split_leaves(std::span<OpenLeaf> leaves, const Split& shared, bool last, LeafSplitter& splitter) {
    if (splitter.shared()) return split_leaves_together(leaves, shared, last, splitter);
    HistogramPool& pool = splitter.pool();
    std::vector<int> slots;
    for (const OpenLeaf& leaf : leaves)
        slots.push_back(leaf.slot >= 0 && !last && pool.n_spare() > kKeptSpare ? pool.acquire() : -1);
    const std::span<Scratch> scratches = splitter.scratches(leaves.size());
    std::vector<std::size_t> small;
    std::size_t work = 0;
    for (std::size_t i = 0; i < leaves.size(); ++i) {
        if (leaves.size() > 1 && splitter.work_of(leaves[i]) < LeafSplitter::kSharedWork) {
            small.push_back(i);
            work += splitter.work_of(leaves[i]);
        } else {
            split_leaf(leaves[i], shared, slots[i], splitter, scratches[i], splitter.threads_for(leaves[i]));
        }
    }
    parallel_for(small.size(), work < 2 * LeafSplitter::kParallelWork ? 1 : splitter.n_threads(), [&](std::size_t k) {
        split_leaf(leaves[small[k]], shared, slots[small[k]], splitter, scratches[small[k]], 1);
    });
    for (std::size_t i = 0; i < leaves.size(); ++i) splitter.release_unused(leaves[i], {.small = slots[i]});
}

Split find_shared_split(std::span<OpenLeaf> leaves, OpenLeaf& all, LeafSplitter& splitter) {
    LeavesOfOneDepth cells(leaves, splitter);
    if (cells.leaves().empty()) return {};
    const LeafCells whole[] = {{&all, splitter.pool().cells(all.slot)}};
    const double level_cost[] = {splitter.facts().noise};
    const auto build = [&](std::size_t k) { return cells.build(k); };
    return splitter.shared_search().find(
        {.leaves = cells.leaves(), .first = leaves[0], .sorters = whole, .level_costs = level_cost, .build = build},
        splitter.scratches(1)[0], splitter.n_threads());
}

}  // namespace

void grow_oblivious(OpenLeaf root, LeafSplitter& splitter, GrowingTree& tree, StopRequest& stop) {
    HistogramPool& pool = splitter.pool();
    const std::uint32_t max_depth = oblivious_depth(splitter.options());
    OpenLeaf all;
    all.rows = root.rows;
    all.n_rows = root.n_rows;
    all.total = root.total;
    all.slot = pool.acquire();
    std::copy_n(pool.cells(root.slot), splitter.n_cells(), pool.cells(all.slot));
    if (!root.splittable) {
        pool.release(root.slot);
        root.slot = -1;
    }
    std::vector<OpenLeaf> leaves;
    leaves.push_back(std::move(root));
    for (std::uint32_t depth = 0; depth < max_depth; ++depth) {
        stop.check();
        const Split shared = find_shared_split(leaves, all, splitter);
        if (!(shared.gain > splitter.options().min_gain)) break;
        split_leaves(leaves, shared, depth + 1 == max_depth, splitter);
        std::vector<OpenLeaf> next;
        for (OpenLeaf& leaf : leaves)
            for (OpenLeaf& child : tree.commit(leaf)) next.push_back(std::move(child));
        leaves = std::move(next);
    }
    for (const OpenLeaf& leaf : leaves) tree.finish(leaf);
}

}  // namespace coterie
