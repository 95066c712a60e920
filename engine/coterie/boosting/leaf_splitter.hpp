// boosting/leaf_splitter.hpp: what splitting a leaf takes: its rows partitioned, and the children's histograms.
//
// The smaller child's rows are added up, the larger child keeps what remains of its parent's sums. If the parent lost
// its histogram, the rows of both are added up.
#pragma once

#include <span>
#include <vector>

#include "coterie/boosting/shared_split.hpp"
#include "coterie/boosting/split_search.hpp"
#include "coterie/histogram/build.hpp"
#include "coterie/histogram/pool.hpp"

namespace coterie {

/// Slots for the histograms of a leaf's children; -1: none.
struct FreeSlots {
    int small = -1;
    int large = -1;  // the parent's is gone
};

/// A leaf that is split in step with other workers.
struct SplitTogether {
    OpenLeaf* leaf = nullptr;
    bool left_known = false;  // the split says which sums it sends left
    FreeSlots free;           // without a slot for the smaller child no histograms are built
};

class LeafSplitter {
public:
    // Work, in updates of histograms: from kSharedWork on, threads share a leaf; below kParallelWork, threads do not
    // pay.
    static constexpr std::size_t kSharedWork = 250'000;
    static constexpr std::size_t kParallelWork = 5'000;

    LeafSplitter(const BinnedMatrix& matrix, const GrowOptions& options, int n_threads, const Slice& slice);

    /// Starts a tree on all rows of the matrix, or on the given ones; the pairs are theirs. Returns its root, node 0,
    /// with its histogram.
    OpenLeaf start(const TreeFacts& facts, std::span<const Pair> pairs, std::span<const RowIndex> rows);

    /// Finds the best split of a leaf that has a histogram.
    void find_split(OpenLeaf& leaf);

    /// Gives the leaf its children, with their rows, sums and limits. `left_known`: the split says which sums it sends
    /// left.
    void partition(OpenLeaf& leaf, bool left_known, Scratch& scratch, int n_threads);

    /// How many slots the children's histograms take besides that of the leaf.
    static std::size_t slots_for(const OpenLeaf& leaf) { return leaf.slot >= 0 ? 1 : 2; }
    FreeSlots acquire_slots(const OpenLeaf& leaf);

    /// Builds the histograms of the children that can be split, and finds their best splits; those that gain no more
    /// than `least_gain` may be found or not.
    void find_child_splits(OpenLeaf& leaf, const FreeSlots& free, double least_gain, Scratch& scratch, int n_threads);

    /// Only builds the histograms of the children that can be split, of a leaf that has one.
    void build_children(OpenLeaf& leaf, int free_slot, int n_threads);

    /// Builds the histogram of a leaf from its rows.
    void build(const OpenLeaf& leaf, Cell* cells) {
        histograms_.build(partition_.rows(leaf.rows, facts().counted), cells);
        histograms_.reduce({&cells, 1});
    }

    /// Partitions several leaves and builds the histograms of their children. Workers exchange the numbers of rows and
    /// all histograms at once: what is exchanged depends on the leaves alone, never on threads or on the rows that one
    /// worker has. Leaves whose histograms are built have a split that says which sums it sends left.
    void split_together(std::span<const SplitTogether> splits);

    /// Finds the best splits of the children, whose histograms are built.
    void find_built_splits(OpenLeaf& leaf, double least_gain, Scratch& scratch);

    /// Releases the leaf's histogram and the free slots, unless a child has them now.
    void release_unused(OpenLeaf& leaf, const FreeSlots& free);

    std::size_t work_of(const OpenLeaf& leaf) const {
        return leaf.rows.n * matrix_.bundles().size() / 2 + 2 * layout_.n_cells();
    }
    int threads_for(const OpenLeaf& leaf) const { return work_of(leaf) < kParallelWork ? 1 : n_threads_; }

    int n_threads() const { return n_threads_; }
    bool shared() const { return slice_.shared(); }
    const GrowOptions& options() const { return options_; }
    const TreeFacts& facts() const { return rules_.facts(); }
    const RowPartition& rows() const { return partition_; }
    const SharedSplitSearch& shared_search() const { return shared_search_; }
    HistogramPool& pool() { return pool_; }
    const HistogramPool& pool() const { return pool_; }
    std::size_t n_cells() const { return layout_.n_cells(); }

    /// So many scratches, one for each leaf that is worked on at the same time.
    std::span<Scratch> scratches(std::size_t n);

private:
    std::uint64_t squares_of(std::span<const Pair> pairs) const;
    void split_rows(OpenLeaf& leaf, Scratch& scratch, int n_threads);
    void set_children(OpenLeaf& leaf, Cell left_total) const;
    std::array<OpenLeaf*, 2> by_hessian(OpenLeaf& leaf) const;
    void build_together(const SplitTogether& split, std::vector<Cell*>& built);
    void build_on(const NodeRows& rows, Cell* cells, int n_threads);
    void bound_children(const OpenLeaf& leaf, std::array<OpenLeaf, 2>& children) const;

    const BinnedMatrix& matrix_;
    const GrowOptions& options_;
    int n_threads_;
    Slice slice_;
    HistogramLayout layout_;
    HistogramBuilder histograms_;
    HistogramPool pool_;
    RowPartition partition_;
    SplitRules rules_;
    SplitSearch search_;
    SharedSplitSearch shared_search_;
    std::vector<Scratch> scratches_;
};

}  // namespace coterie
