// boosting/leaf_queue.hpp: the open leaves of a growing tree, the next to be split first.
//
// Words
//   budget   how many leaves the tree may have
//   order    most gain first, then the older leaf; if growth is by level, the lesser depth before that
#pragma once

#include <span>
#include <vector>

#include "coterie/boosting/open_leaf.hpp"

namespace coterie {

class LeafQueue {
public:
    /// Begins with the root as the only leaf; it is pushed like any other.
    explicit LeafQueue(const GrowOptions& options);

    /// Takes a leaf that gains by its split.
    void push(OpenLeaf leaf);

    /// True while a leaf is left and the budget allows one more.
    bool may_split() const { return !heap_.empty() && n_splits_left_ > 0; }
    bool last_split() const { return n_splits_left_ == 1; }

    OpenLeaf& front() { return heap_.front(); }

    /// The next leaf, which is split now.
    OpenLeaf pop();

    std::span<const OpenLeaf> leaves() const { return heap_; }

    /// A leaf that gains no more than this is never split: as many leaves as there are splits left gain at least as
    /// much, and older leaves come first.
    double least_useful_gain() const;

    /// Takes the histograms of leaves that are never split, because there are splits left only for those before them,
    /// and returns their slots.
    std::vector<int> drop_useless_histograms();

    /// Takes the histogram of the leaf that comes last of those that have one, and returns its slot. Leaves that are
    /// prepared and wait for their parents count; `kept` does not, and one must be left.
    int drop_last_histogram(const OpenLeaf& kept);

    /// The next leaf and, of those for which `fits`, up to `most` in all that come next and will very likely be split:
    /// half of the splits that are left are known by now, or nearly so.
    template <class Fits>
    std::vector<OpenLeaf*> next(std::size_t most, Fits fits) {
        std::vector<OpenLeaf*> leaves{&heap_.front()};
        for (OpenLeaf& leaf : std::span(heap_).subspan(1))
            if (fits(leaf)) leaves.push_back(&leaf);
        keep_first(leaves, std::min(most, (n_splits_left_ + 1) / 2));
        return leaves;
    }

private:
    bool later(const OpenLeaf& a, const OpenLeaf& b) const;
    void keep_first(std::vector<OpenLeaf*>& leaves, std::size_t most) const;

    Growth growth_;
    double min_gain_;
    std::size_t n_splits_left_;
    std::vector<OpenLeaf> heap_;
};

}  // namespace coterie
