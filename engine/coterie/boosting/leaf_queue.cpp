#include "coterie/boosting/leaf_queue.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "coterie/base/error.hpp"

namespace coterie {

LeafQueue::LeafQueue(const GrowOptions& options)
    : growth_(options.growth),
      min_gain_(options.min_gain),
      n_splits_left_((options.max_leaf_nodes == 0 ? ~std::size_t{0} : options.max_leaf_nodes) - 1) {}

bool LeafQueue::later(const OpenLeaf& a, const OpenLeaf& b) const {
    if (growth_ == Growth::level && a.depth != b.depth) return a.depth > b.depth;
    return a.split.gain < b.split.gain || (a.split.gain == b.split.gain && a.node > b.node);
}

void LeafQueue::push(OpenLeaf leaf) {
    heap_.push_back(std::move(leaf));
    std::ranges::push_heap(heap_, [&](const OpenLeaf& a, const OpenLeaf& b) { return later(a, b); });
}

OpenLeaf LeafQueue::pop() {
    std::ranges::pop_heap(heap_, [&](const OpenLeaf& a, const OpenLeaf& b) { return later(a, b); });
    OpenLeaf leaf = std::move(heap_.back());
    heap_.pop_back();
    --n_splits_left_;
    return leaf;
}

double LeafQueue::least_useful_gain() const {
    if (growth_ != Growth::leaf || heap_.size() < n_splits_left_) return min_gain_;
    std::vector<double> gains;
    for (const OpenLeaf& leaf : heap_) gains.push_back(leaf.split.gain);
    const auto last_split = gains.begin() + static_cast<std::ptrdiff_t>(n_splits_left_ - 1);
    std::ranges::nth_element(gains, last_split, std::greater{});
    return std::max(min_gain_, *last_split);
}

std::vector<int> LeafQueue::drop_useless_histograms() {
    std::vector<int> slots;
    if (growth_ != Growth::leaf || heap_.size() <= n_splits_left_) return slots;
    std::vector<OpenLeaf*> leaves;
    for (OpenLeaf& leaf : heap_) leaves.push_back(&leaf);
    const auto first_useless = leaves.begin() + static_cast<std::ptrdiff_t>(n_splits_left_);
    std::ranges::nth_element(leaves, first_useless,
                             [&](const OpenLeaf* a, const OpenLeaf* b) { return later(*b, *a); });
    const auto drop = [&](OpenLeaf& leaf) {
        if (leaf.slot >= 0) slots.push_back(std::exchange(leaf.slot, -1));
    };
    for (OpenLeaf* const leaf : std::span(first_useless, leaves.end())) {
        drop(*leaf);
        if (leaf->children) std::ranges::for_each(*leaf->children, drop);
    }
    return slots;
}

int LeafQueue::drop_last_histogram(const OpenLeaf& kept) {
    OpenLeaf* last = nullptr;
    const auto look_at = [&](OpenLeaf& leaf) {
        if (leaf.slot >= 0 && &leaf != &kept && (last == nullptr || later(leaf, *last))) last = &leaf;
    };
    for (OpenLeaf& leaf : heap_) {
        look_at(leaf);
        if (leaf.children) std::ranges::for_each(*leaf.children, look_at);
    }
    require(last != nullptr, "No leaf has a histogram that could be dropped.");
    return std::exchange(last->slot, -1);
}

void LeafQueue::keep_first(std::vector<OpenLeaf*>& leaves, std::size_t most) const {
    if (leaves.size() <= most) return;
    std::ranges::nth_element(leaves, leaves.begin() + static_cast<std::ptrdiff_t>(most),
                             [&](const OpenLeaf* a, const OpenLeaf* b) { return later(*b, *a); });
    leaves.resize(most);
}

}  // namespace coterie
