// boosting/grow_tree.hpp: one tree from one set of derivatives, best leaf first, by level, or symmetric.
//
// Words
//   prepare  make a leaf's children, with their histograms and best splits, before they are in the tree
//   commit   put prepared children into the tree
//   budget   how many leaves the tree may have
// Steps
//   1. Round the derivatives; build the root's histogram; find its best split.
//   2. Split the open leaf whose split gains most: partition its rows, build the histogram of the smaller
//      child, get the larger child's by subtraction, find the best split of both.
//   3. Stop when nothing gains or the budget is spent; answer with -gradient / (hessian + l2) at each leaf.
// Threads share the work on a large leaf. Small ones are prepared several at once, a thread each: the best one, and
// those that come next and will very likely be split too. What is prepared is committed in the order of gains, so the
// tree is the one that a single thread grows; the few children that nobody asks for are forgotten. Ties go to the lower
// feature, then to the lower bin, then to the older leaf: threads cannot change a tree.
#pragma once

#include <memory>
#include <span>

#include "coterie/base/progress.hpp"
#include "coterie/boosting/answers.hpp"
#include "coterie/boosting/linear_leaves.hpp"
#include "coterie/boosting/row_router.hpp"
#include "coterie/boosting/row_sample.hpp"
#include "coterie/boosting/split_search.hpp"
#include "coterie/boosting/tree_builder.hpp"
#include "coterie/histogram/build.hpp"

namespace coterie {

/// Grows tree after tree on one matrix; buffers are kept from tree to tree.
class TreeGrower {
public:
    TreeGrower(std::shared_ptr<const BinnedMatrix> matrix, GrowOptions options, int n_threads);

    /// One tree. If rows are sampled, the splits come from the sample, and the answers of the leaves from all rows.
    /// Linear leaves need the values that the matrix was made from.
    Tree grow(const Derivatives& derivatives, std::uint64_t seed, StopRequest stop = {}, RowSampling sampling = {},
              const TableView* values = nullptr);

    /// Lets the leaves of the tree grown last answer with a quantile of their rows' residuals, for losses whose
    /// derivatives say where to split but not how far to go. An empty weight means 1; rows of weight 0 are not asked.
    void answer_with_quantile(Tree& tree, std::span<const float> residual, std::span<const float> weight, double level);

    /// Adds the answers of the tree grown last to the scores of all rows, also of those that took no part.
    void add_answers(std::span<float> scores) const;

private:
    // Work, in updates of histograms: from kSharedWork on, threads share a leaf; below kParallelWork, threads do not
    // pay; several leaves are prepared at once if there is kBatchWork in all.
    static constexpr std::size_t kSharedWork = 250'000;
    static constexpr std::size_t kParallelWork = 5'000;
    static constexpr std::size_t kBatchWork = 120'000;

    struct Grown {
        NodeIndex node;
        RowRange rows;  // all rows of the leaf, or those of one of the leaves that became it
        double answer;  // the step times the learning rate
    };

    double noise_of_pairs(Cell total) const;
    void choose_rows(std::uint64_t seed, const RowSampling& sampling);
    OpenLeaf make_root(TreeBuilder& builder);
    void grow_leaf_by_leaf(OpenLeaf root, TreeBuilder& builder, StopRequest& stop);
    void grow_oblivious(OpenLeaf root, TreeBuilder& builder, StopRequest& stop);
    void split_level(std::span<OpenLeaf> level, const Split& shared, bool last);
    void split_leaf(OpenLeaf& leaf, const Split& shared, int free_slot, Desk& desk, int n_threads);
    void undo_unworthy_splits(Tree& tree);
    void answer(Tree& tree);
    void sum_all_rows(Tree& tree);
    void draw_lines(Tree& tree, const TableView& values);
    Buffer<NodeIndex> leaves_of_rows() const;
    void add_answers_by_route(std::span<float> scores) const;
    Cell total_of(const RowRange& rows) const;
    std::array<OpenLeaf, 2> part(const OpenLeaf& leaf, Desk& desk, int n_threads);
    void look_into(OpenLeaf& parent, std::array<OpenLeaf, 2>& children, int free_slot, Desk& desk, int n_threads);
    void prepare(std::span<OpenLeaf* const> leaves, bool last);
    void give_back(OpenLeaf& leaf, int offered);
    double least_useful_gain(std::span<const OpenLeaf> open, std::size_t n_splits_left) const;
    std::vector<OpenLeaf*> leaves_to_prepare(std::span<OpenLeaf> open, std::size_t n_splits_left);
    std::array<OpenLeaf, 2> commit(OpenLeaf& leaf, TreeBuilder& builder);
    std::size_t work_of(const OpenLeaf& leaf) const;
    NodeSums sums_of(const OpenLeaf& leaf) const;
    double answer_of(const OpenLeaf& leaf) const { return coterie::answer_of(sums_of(leaf), options_); }
    NodeSums exact_sums_of(const OpenLeaf& leaf) const;
    void remember(NodeIndex node, const NodeSums& sums);
    void finish_leaf(const OpenLeaf& leaf, TreeBuilder& builder);
    int take_slot();
    Cell* cells(int slot) { return slots_[static_cast<std::size_t>(slot)].data(); }

    std::shared_ptr<const BinnedMatrix> matrix_;
    GrowOptions options_;
    int n_threads_;
    HistogramLayout layout_;
    HistogramBuilder histograms_;
    RowPartition partition_;
    SplitSearch search_;
    RowRouter router_;
    Buffer<Pair> pairs_;
    TreeFacts facts_;
    Derivatives derivatives_;
    bool sampled_ = false;
    bool routes_ = false;  // some rows took no part, and are routed to their leaves afterwards
    RowSample sample_;
    std::vector<Buffer<Cell>> slots_;
    std::vector<int> free_slots_;
    std::vector<Desk> desks_;
    double least_gain_ = 0;  // of a split that may still be made
    std::vector<Grown> grown_;
    std::vector<NodeSums> nodes_;       // of the tree grown last
    Buffer<std::uint16_t> leaf_codes_;  // of all rows, if the tree saw a sample and has few enough leaves
    Buffer<float> row_answers_;         // of all rows, if the tree has linear leaves
};

}  // namespace coterie
