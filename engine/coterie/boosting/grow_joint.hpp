// boosting/grow_joint.hpp: one tree for several outputs. They share its splits, and each has its own answers.
//
// Words
//   output   one of the targets; its gradients are its own, the hessian (the weight of a row) is that of all
//   chance   what a split would gain if the features said nothing
// Steps
//   1. Round all gradients in one unit, so that gains of different outputs can be added.
//   2. A leaf has a histogram for each output. Its best split is the one whose gains, summed over them, are the most.
//   3. Split the leaf that gains most: partition its rows once, add up the smaller child for each output, get the
//   larger
//      one by subtraction.
//   4. Send all rows down the finished tree; each output's leaves answer from their unrounded derivatives.
// Ties are broken as in grow_tree.hpp, and sums are of integers: threads cannot change a tree.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "coterie/base/progress.hpp"
#include "coterie/boosting/answers.hpp"
#include "coterie/boosting/row_router.hpp"
#include "coterie/boosting/row_sample.hpp"
#include "coterie/boosting/split_search.hpp"
#include "coterie/boosting/tree_builder.hpp"
#include "coterie/histogram/build.hpp"

namespace coterie {

/// Derivatives of the loss at each row of the matrix, for several outputs.
struct JointDerivatives {
    std::vector<std::span<const float>> gradients;  // one per output
    std::span<const float> hessian;                 // of every output; empty: 1 for every row
    std::span<const RowIndex> rows;                 // rows that take part, ascending; empty: all
};

/// Grows tree after tree on one matrix, leaf by leaf or level by level, without monotone constraints.
class JointGrower {
public:
    /// `units`: what an answer is worth in the values of the trees, for each output; options.answer_unit is not used.
    /// Answers are float32, so a unit of at most 29 binary digits gives them back when a value is divided by it.
    JointGrower(std::shared_ptr<const BinnedMatrix> matrix, GrowOptions options, std::vector<double> units,
                int n_threads);

    /// One tree, once for each output: the same splits, other values. If rows are sampled, the splits come from the
    /// sample; answers always come from all rows that take part.
    std::vector<Tree> grow(const JointDerivatives& derivatives, std::uint64_t seed, StopRequest stop = {},
                           RowSampling sampling = {});

    /// Adds the answers that the tree grown last has for an output to the scores of all rows.
    void add_answers(std::size_t output, std::span<float> scores) const;

    std::size_t n_outputs() const { return units_.size(); }

private:
    struct Leaf {
        OpenLeaf common;           // its total is that of the first output
        std::vector<Cell> totals;  // one per output
    };

    void choose_rows(const JointDerivatives& derivatives, std::uint64_t seed, const RowSampling& sampling);
    void draw(const JointDerivatives& derivatives, std::uint64_t seed, const RowSampling& sampling);
    void find_chances(Cell total);
    Leaf make_root(TreeBuilder& builder);
    Tree grow_splits(TreeBuilder& builder, StopRequest& stop);
    std::array<Leaf, 2> split(Leaf& leaf, TreeBuilder& builder, bool last);
    void add_up_children(Leaf& parent, std::array<Leaf, 2>& children);
    void find_split(Leaf& leaf);
    NodeRows rows_of(const RowRange& range, std::size_t output);
    void build(const RowRange& range, int slot);
    void route();
    void sum_leaves(const JointDerivatives& derivatives, Tree& tree);
    std::vector<Tree> answer(const Tree& tree);
    int take_slot();
    Cell* cells(int slot, std::size_t output) {
        return slots_[static_cast<std::size_t>(slot)].data() + output * (layout_.n_cells() + 8);
    }
    int threads_for(const Leaf& leaf) const;

    std::shared_ptr<const BinnedMatrix> matrix_;
    GrowOptions options_;
    std::vector<double> units_;
    int n_threads_;
    HistogramLayout layout_;
    HistogramBuilder histograms_;
    RowPartition partition_;
    SplitSearch search_;
    RowRouter router_;
    TreeFacts facts_;
    std::vector<double> level_costs_;             // per output, rounded units
    RowSample sample_;                            // no rows: all of them
    std::vector<Buffer<float>> drawn_gradients_;  // per output, of the rows of the sample
    std::vector<Buffer<Pair>> pairs_;             // per output, of the rows that the tree sees
    std::vector<Buffer<Pair>> pairs_by_row_;      // the same by row of the matrix, if the tree sees a sample
    Buffer<Record> records_;                      // of one node, with the pairs of one output
    std::vector<Buffer<Cell>> slots_;             // a histogram for each output, one after the other
    std::vector<int> free_slots_;
    Desk desk_;
    Buffer<std::uint32_t> codes_;               // the leaf of each row, by its number
    std::vector<std::vector<NodeSums>> nodes_;  // per output
    std::vector<std::vector<float>> answers_;   // per output, by the number of the leaf
};

}  // namespace coterie
