// growth/grow_tree.hpp: one tree from one set of derivatives, best leaf first.
//
// Words
//   open     a leaf that may still be split; it keeps its histogram and its best split
//   budget   how many leaves the tree may have
// Steps
//   1. Round the derivatives; build the root's histogram; find its best split.
//   2. Split the open leaf whose split gains most: partition its rows, build the histogram of the smaller
//      child, get the larger child's by subtraction, find the best split of both.
//   3. Stop when nothing gains or the budget is spent; answer with -gradient / (hessian + l2) at each leaf.
// Ties go to the lower feature, then to the lower bin, then to the older leaf: threads cannot change a tree.
#pragma once

#include <memory>
#include <optional>
#include <span>

#include "coterie/base/progress.hpp"
#include "coterie/growth/options.hpp"
#include "coterie/growth/row_partition.hpp"
#include "coterie/growth/tree_builder.hpp"
#include "coterie/histogram/build.hpp"
#include "coterie/histogram/marginal.hpp"
#include "coterie/split/best_split.hpp"

namespace coterie {

/// Derivatives of the loss at each row of the matrix.
struct Derivatives {
    std::span<const float> gradient;
    std::span<const float> hessian;  // empty: 1 for every row
    std::span<const RowIndex> rows;  // rows that take part, ascending; empty: all
};

/// Grows tree after tree on one matrix; buffers are kept from tree to tree.
class TreeGrower {
public:
    TreeGrower(std::shared_ptr<const BinnedMatrix> matrix, GrowOptions options, int n_threads);

    Tree grow(const Derivatives& derivatives, std::uint64_t seed, StopRequest stop = {});

    /// Adds the answers of the tree grown last to the scores of the rows that took part.
    void add_answers(std::span<float> scores) const;

private:
    struct OpenLeaf {
        NodeIndex node = 0;
        std::uint32_t depth = 0;
        RowRange rows;
        Cell total = 0;
        int slot = -1;  // of the histogram, -1: none
        Bounds bounds;
        std::vector<std::uint32_t> sets;  // interaction sets that the path still fits
        Split split;
    };
    struct Grown {
        RowRange rows;
        double answer;
    };

    void check_options() const;
    double noise_of_pairs(Cell total) const;
    SplitTask task_of(const OpenLeaf& leaf) const;
    bool may_split(const OpenLeaf& leaf) const;
    std::vector<std::uint8_t> allowed_features(const OpenLeaf& leaf) const;
    void find_splits(std::span<OpenLeaf* const> leaves, int subtract_from, int subtract_what);
    void scan_lane(std::uint32_t lane, const OpenLeaf& leaf, const SplitTask& task,
                   std::span<const std::uint8_t> allowed, float& beat, std::span<Candidate> candidates);
    const Cell* feature_cells(const OpenLeaf& leaf, FeatureIndex feature, LaneCells& room);
    Split choose(const OpenLeaf& leaf, std::span<Candidate> candidates);
    double hessian_of(Cell cell) const { return static_cast<double>(sums_of(cell, counted_).hessian); }
    bool surely_enough_rows(Cell child) const;
    std::array<OpenLeaf, 2> split_leaf(OpenLeaf& leaf, TreeBuilder& builder);
    void build_children(OpenLeaf& parent, std::array<OpenLeaf, 2>& children);
    double answer_of(const OpenLeaf& leaf) const;
    void finish_leaf(const OpenLeaf& leaf, TreeBuilder& builder, double answer);
    int take_slot();
    Cell* cells(int slot) { return slots_[static_cast<std::size_t>(slot)].data(); }

    std::shared_ptr<const BinnedMatrix> matrix_;
    GrowOptions options_;
    int n_threads_;
    HistogramLayout layout_;
    HistogramBuilder histograms_;
    RowPartition partition_;
    Buffer<Pair> pairs_;
    Units units_;
    Derivatives derivatives_;
    std::uint64_t seed_ = 0;
    double level_cost_ = 0;  // rounded units
    bool counted_ = false;   // cells count rows: exact, and only possible on fewer than 2^16 of them
    std::vector<Buffer<Cell>> slots_;
    std::vector<int> free_slots_;
    std::vector<Candidate> candidates_;
    std::vector<Grown> grown_;
    std::array<Bin, kMaxBins> rule_table_{};
};

}  // namespace coterie
