// boosting/grow_tree.hpp: one tree from one set of derivatives.
//
// Steps
//   1. Choose the rows that the tree sees and round their derivatives (row_sample.hpp, rounded_pairs.hpp).
//   2. Build the root's histogram and find its best split (leaf_splitter.hpp, split_search.hpp).
//   3. Split leaf after leaf (grow_leafwise.hpp), or all leaves of one depth at once (grow_oblivious.hpp): partition
//      the rows, build the histogram of the smaller child, get the larger child's by subtraction, find the best splits.
//   4. Stop when nothing gains or the tree is as large as it may be. The value of a leaf is -gradient / (hessian + l2),
//      a quantile of residuals (leaf_quantiles.hpp), or a line (linear_leaves.hpp).
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "coterie/base/progress.hpp"
#include "coterie/boosting/growing_tree.hpp"
#include "coterie/boosting/leaf_splitter.hpp"
#include "coterie/boosting/linear_leaves.hpp"

namespace coterie {

/// Grows tree after tree on one matrix; buffers are kept from tree to tree.
class TreeGrower {
public:
    /// Several workers that each have a slice of the rows grow one tree together, if each makes the same calls.
    TreeGrower(std::shared_ptr<const BinnedMatrix> matrix, GrowOptions options, int n_threads, const Slice& slice = {});

    /// One tree. If rows are sampled, the splits come from the sample, and the values of the leaves from all rows.
    /// Linear leaves need the values that the matrix was made from.
    Tree grow(const Derivatives& derivatives, std::uint64_t seed, StopRequest stop = {}, RowSampling sampling = {},
              const TableView* values = nullptr);

    /// One tree whose splits serve several outputs: without linear leaves, and to be given values by `tree_for`.
    Tree grow_splits(const Derivatives& derivatives, std::uint64_t seed, StopRequest stop = {},
                     RowSampling sampling = {});

    /// The splits grown last, with the values, or lines, that these derivatives of one output call for: Newton's steps
    /// of the rows that took part, or of all rows if the tree saw a sample. Covers are those of the splits. A step s
    /// beyond `free_step` f becomes f (1 + log(s / f)): an output may have next to no hessian in a leaf that others
    /// requested. The derivatives that the splits were grown by need not exist any more; their rows must.
    Tree tree_for(const Tree& splits, std::span<const float> gradient, std::span<const float> hessian,
                  const TableView* values = nullptr);

    /// Sets the leaves of the tree grown last to a quantile of their rows' residuals, for losses whose derivatives say
    /// where to split but not how far to go. An empty weight means 1; rows of weight 0 do not count.
    void set_quantile_values(Tree& tree, std::span<const float> residual, std::span<const float> weight,
                             double quantile);

    /// Sets the leaves of the tree grown last to Newton's step by these derivatives, for trees that others were grown
    /// by: minus the sum of the gradient over that of the hessian, or nothing where the latter vanishes. Only the rows
    /// that the tree was grown on count.
    void set_newton_values(Tree& tree, std::span<const float> gradient, std::span<const float> hessian);

    /// Adds the predictions of the tree grown last to the scores of all rows, also of those that took no part.
    void add_predictions(std::span<float> scores) const;

    /// Memory that histograms have now; it is kept for the next tree.
    std::size_t histogram_bytes() const { return splitter_.pool().n_bytes(); }

private:
    TreeFacts choose_rows(const SizesSeen& seen, std::uint64_t seed, const RowSampling& sampling);
    void set_values(Tree& tree);
    void set_leaf_values(Tree& tree, std::span<const double> steps);
    void require_grown_last(const Tree& tree) const;
    void sum_all_rows(Tree& tree);
    void sum_output(const Tree& tree, const Derivatives& derivatives);
    void fit_linear_leaves(Tree& tree, const Derivatives& derivatives, const TableView& values);
    void list_rows_of_leaves(std::size_t n_nodes);
    Buffer<NodeIndex> leaf_nodes_of_rows() const;
    std::span<const Record> records(const GrowingTree::LeafRange& leaf) const {
        return splitter_.rows().records(leaf.rows);
    }

    std::shared_ptr<const BinnedMatrix> matrix_;
    GrowOptions options_;
    int n_threads_;
    Slice slice_;
    LeafSplitter splitter_;
    GrowingTree growing_;
    Buffer<Pair> pairs_;
    Derivatives derivatives_;
    DerivativeSizes all_sizes_;  // of all rows
    DerivativeSizes sizes_;      // of the rows that the tree sees
    bool sampled_ = false;
    bool routed_ = false;  // some rows took no part, and are routed to their leaves afterwards
    RowSample sample_;
    LeafOfRow leaf_of_row_;          // if rows are routed
    std::vector<float> steps_;       // of the tree grown last: what its leaves add to scores, by node; empty: nothing
    Buffer<float> row_predictions_;  // of all rows, if the tree has linear leaves
    LeafRows rows_of_leaves_;        // of the tree grown last, all rows, if lines needed them
    LeafRows learned_from_;          // those that took part, if not all did
};

}  // namespace coterie
