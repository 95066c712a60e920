// boosting/grow_joint.hpp: one tree for several outputs. They share its splits, and each has its own leaf values.
//
// Words
//   output   one of the targets; its gradients are its own, the hessian (the weight of a row) is that of all
//   chance   what a split would gain if the features were independent of the targets
// Steps
//   1. Round all gradients in one unit, so that gains of different outputs can be added.
//   2. A leaf has a histogram for each output. Its best split is the one whose gains, summed over them, are the most.
//   3. Split the leaf that gains most: partition its rows once, add up the smaller child for each output, get the
//      larger one by subtraction.
//   4. Route all rows through the finished tree; the values of each output's leaves come from their unrounded
//      derivatives.
// Ties are broken as in grow_leafwise.hpp, and sums are of integers: threads cannot change a tree.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "coterie/base/progress.hpp"
#include "coterie/boosting/leaf_sums.hpp"
#include "coterie/boosting/shared_split.hpp"
#include "coterie/boosting/tree_builder.hpp"
#include "coterie/histogram/build.hpp"
#include "coterie/histogram/pool.hpp"

namespace coterie {

/// Derivatives of the loss at each row of the matrix, for several outputs.
struct JointDerivatives {
    std::vector<std::span<const float>> gradients;  // one per output
    std::span<const float> hessian;                 // of every output; empty: 1 for every row
    std::span<const RowIndex> rows;                 // rows that take part, ascending; empty: all
    bool nobody = false;                            // none of this worker's rows takes part, though those of others do
};

/// Grows tree after tree on one matrix, leaf by leaf or level by level, without monotone constraints.
class JointGrower {
public:
    /// `units`: what a step is worth in the values of the trees, for each output; options.value_unit is not used.
    /// Steps are float32, so a unit of at most 29 binary digits gives them back when a value is divided by it.
    /// Several workers that each have a slice of the rows grow one tree together, if each makes the same calls.
    JointGrower(std::shared_ptr<const BinnedMatrix> matrix, GrowOptions options, std::vector<double> units,
                int n_threads, const Slice& slice = {});

    /// One tree, once for each output: the same splits, other values. If rows are sampled, the splits come from the
    /// sample; values always come from all rows that take part.
    std::vector<Tree> grow(const JointDerivatives& derivatives, std::uint64_t seed, StopRequest stop = {},
                           RowSampling sampling = {});

    /// Adds the predictions that the tree grown last has for an output to the scores of all rows.
    void add_predictions(std::size_t output, std::span<float> scores) const;

    std::size_t n_outputs() const { return units_.size(); }

    /// Memory that histograms have now; it is kept for the next tree.
    std::size_t histogram_bytes() const { return pool_.n_bytes(); }

private:
    void choose_rows(const JointDerivatives& derivatives, const SizesSeen& seen, std::uint64_t seed,
                     const RowSampling& sampling);
    void draw(const JointDerivatives& derivatives, std::uint64_t seed, const RowSampling& sampling);
    void find_chances(Cell total);
    OpenLeaf make_root(TreeBuilder& builder);
    Tree grow_splits(StopRequest& stop);
    std::array<OpenLeaf, 2> split(OpenLeaf& leaf, TreeBuilder& builder, bool last);
    void set_totals(const OpenLeaf& parent, std::array<OpenLeaf, 2>& children);
    void find_child_splits(OpenLeaf& parent, std::array<OpenLeaf, 2>& children);
    void find_split(OpenLeaf& leaf);
    NodeRows rows_of(const RowRange& range, std::size_t output);
    Cell total_of(const RowRange& range, std::size_t output);
    void build(const RowRange& range, int slot);
    void sum_leaves(const JointDerivatives& derivatives, Tree& tree);
    std::vector<Tree> with_values(const Tree& tree);
    int threads_for(const OpenLeaf& leaf) const;

    std::shared_ptr<const BinnedMatrix> matrix_;
    GrowOptions options_;
    std::vector<double> units_;
    int n_threads_;
    Slice slice_;
    HistogramLayout layout_;
    HistogramBuilder histograms_;
    RowPartition partition_;
    SplitRules rules_;
    SharedSplitSearch search_;
    HistogramPool pool_;
    RowRouter router_;
    TreeFacts facts_;
    DerivativeSizes all_sizes_;
    std::vector<double> level_costs_;             // per output, rounded units
    RowSample sample_;                            // no rows: all of them
    std::vector<Buffer<float>> drawn_gradients_;  // per output, of the rows of the sample
    std::vector<Buffer<Pair>> pairs_;             // per output, of the rows that the tree sees
    std::vector<Buffer<Pair>> pairs_by_row_;      // the same by row of the matrix, if the tree sees a sample
    Buffer<Record> records_;                      // of one node, with the pairs of one output
    Scratch scratch_;
    LeafOfRow leaf_of_row_;
    std::vector<std::vector<NodeSums>> nodes_;  // per output
    std::vector<std::vector<float>> steps_;     // per output, by the number of the leaf
};

}  // namespace coterie
