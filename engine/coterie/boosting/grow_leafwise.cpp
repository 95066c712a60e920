#include "coterie/boosting/grow_leafwise.hpp"

#include <algorithm>

#include "coterie/base/parallel.hpp"
#include "coterie/boosting/leaf_queue.hpp"

namespace coterie {
namespace {

constexpr std::size_t kLeavesPerThread = 3;
constexpr std::size_t kLeavesTogether = 8;   // that several workers prepare in one exchange
constexpr std::size_t kBatchWork = 120'000;  // updates of histograms from which on several leaves are prepared at once

// The next leaf, and more small ones if a thread each can prepare them.
std::vector<OpenLeaf*> leaves_to_prepare(LeafQueue& queue, const LeafSplitter& splitter) {
    const auto is_small = [&](const OpenLeaf& leaf) { return splitter.work_of(leaf) < LeafSplitter::kSharedWork; };
    OpenLeaf* const front = &queue.front();
    if (splitter.n_threads() == 1 || queue.last_split() || !is_small(*front)) return {front};
    const std::size_t most = kLeavesPerThread * static_cast<std::size_t>(splitter.n_threads());
    std::vector<OpenLeaf*> leaves =
        queue.next(most, [&](const OpenLeaf& leaf) { return !leaf.children && is_small(leaf); });
    std::size_t work = splitter.work_of(*front), n_slots = 0;
    for (const OpenLeaf* leaf : leaves) {
        work += splitter.work_of(*leaf);
        n_slots += LeafSplitter::slots_for(*leaf);
    }
    if (work < kBatchWork || n_slots > splitter.pool().n_spare()) return {front};
    return leaves;
}

// One leaf with all threads. The last split of a tree needs no histograms.
void prepare_one(OpenLeaf& leaf, LeafQueue& queue, double least_gain, LeafSplitter& splitter) {
    const int n_threads = splitter.threads_for(leaf);
    Scratch& scratch = splitter.scratches(1)[0];
    splitter.partition(leaf, true, scratch, n_threads);
    if (queue.last_split()) return splitter.release_unused(leaf, {});
    while (splitter.pool().n_spare() < LeafSplitter::slots_for(leaf))
        splitter.pool().release(queue.drop_last_histogram(leaf));
    const FreeSlots slots = splitter.acquire_slots(leaf);
    splitter.find_child_splits(leaf, slots, least_gain, scratch, n_threads);
    splitter.release_unused(leaf, slots);
}

// Several leaves with one thread each, the largest first.
void prepare_several(std::vector<OpenLeaf*> leaves, double least_gain, LeafSplitter& splitter) {
    std::ranges::sort(leaves, [](const OpenLeaf* a, const OpenLeaf* b) { return a->rows.n > b->rows.n; });
    const std::span<Scratch> scratches = splitter.scratches(leaves.size());
    std::vector<FreeSlots> slots;
    for (const OpenLeaf* leaf : leaves) slots.push_back(splitter.acquire_slots(*leaf));
    parallel_for(leaves.size(), splitter.n_threads(), [&](std::size_t i) {
        splitter.partition(*leaves[i], true, scratches[i], 1);
        splitter.find_child_splits(*leaves[i], slots[i], least_gain, scratches[i], 1);
    });
    for (std::size_t i = 0; i < leaves.size(); ++i) splitter.release_unused(*leaves[i], slots[i]);
}

// Several leaves in step with the other workers. How many there are does not change the tree, only how often workers
// wait for one another.
void prepare_together(LeafQueue& queue, double least_gain, LeafSplitter& splitter) {
    std::vector<OpenLeaf*> leaves{&queue.front()};
    if (queue.last_split()) {
        const SplitTogether only{.leaf = leaves[0], .left_known = true, .free = {}};
        splitter.split_together({&only, 1});
        return splitter.release_unused(*leaves[0], {});
    }
    leaves = queue.next(kLeavesTogether, [](const OpenLeaf& leaf) { return !leaf.children; });
    std::size_t n_slots = 0;
    for (const OpenLeaf* leaf : leaves) n_slots += LeafSplitter::slots_for(*leaf);
    if (n_slots > splitter.pool().n_spare()) {
        leaves.resize(1);
        leaves[0] = &queue.front();
        while (splitter.pool().n_spare() < LeafSplitter::slots_for(*leaves[0]))
            splitter.pool().release(queue.drop_last_histogram(*leaves[0]));
    }
    std::vector<SplitTogether> splits;
    for (OpenLeaf* const leaf : leaves)
        splits.push_back({.leaf = leaf, .left_known = true, .free = splitter.acquire_slots(*leaf)});
    splitter.split_together(splits);
    for (const SplitTogether& split : splits) {
        splitter.find_built_splits(*split.leaf, least_gain, splitter.scratches(1)[0]);
        splitter.release_unused(*split.leaf, split.free);
    }
}

void prepare_next(LeafQueue& queue, LeafSplitter& splitter) {
    const double least_gain = queue.least_useful_gain();
    for (const int slot : queue.drop_useless_histograms()) splitter.pool().release(slot);
    if (splitter.shared()) return prepare_together(queue, least_gain, splitter);
    std::vector<OpenLeaf*> leaves = leaves_to_prepare(queue, splitter);
    if (leaves.size() == 1)
        prepare_one(*leaves[0], queue, least_gain, splitter);
    else
        prepare_several(std::move(leaves), least_gain, splitter);
}

}  // namespace

void grow_leafwise(OpenLeaf root, LeafSplitter& splitter, GrowingTree& tree, StopRequest& stop) {
    const double min_gain = splitter.options().min_gain;
    splitter.find_split(root);
    LeafQueue queue(splitter.options());
    const auto offer = [&](OpenLeaf leaf) {
        if (leaf.split.gain > min_gain) return queue.push(std::move(leaf));
        if (leaf.slot >= 0) splitter.pool().release(leaf.slot);
        tree.finish(leaf);
    };
    offer(std::move(root));
    while (queue.may_split()) {
        stop.check();
        if (!queue.front().children) prepare_next(queue, splitter);
        OpenLeaf leaf = queue.pop();
        for (OpenLeaf& child : tree.commit(leaf)) offer(std::move(child));
    }
    for (const OpenLeaf& leaf : queue.leaves()) tree.finish(leaf);
}

}  // namespace coterie
