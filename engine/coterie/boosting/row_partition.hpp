// boosting/row_partition.hpp: which rows are in which node, as records in two buffers.
//
// Words
//   twin     the other of the two buffers: a node's children are written there, at the same positions, so
//            a split is one read and one write per row, without copying back
//   mark     one bit per row: goes left; made first, so that threads know where to write
// Rows of a node stay in ascending order.
#pragma once

#include <array>
#include <span>

#include "coterie/base/buffer.hpp"
#include "coterie/binning/binned_matrix.hpp"
#include "coterie/histogram/build.hpp"

namespace coterie {

/// A node's rows: records [begin, begin + n) of a buffer, or all rows of the matrix before the first split.
struct RowRange {
    std::size_t begin = 0;
    std::size_t n = 0;
    std::uint8_t buffer = 0;
    bool implicit = false;  // all rows, no records yet
};

/// Marks of one node's rows; threads that work on different nodes have their own.
struct Marks {
    Buffer<std::uint8_t> bits;
    std::vector<std::size_t> chunk_left;  // how many rows before each chunk go left
};

class RowPartition {
public:
    RowPartition(const BinnedMatrix& matrix, int n_threads, const Slice& slice = {})
        : matrix_(matrix), n_threads_(n_threads), slice_(slice) {}

    /// Starts a tree with all rows of the matrix and their pairs, or with the given rows and theirs; returns the
    /// root's range.
    RowRange start(std::span<const Pair> pairs, std::span<const RowIndex> rows);

    NodeRows rows(const RowRange& range, bool counted) const;
    std::span<const Record> records(const RowRange& range) const {
        return {records_[range.buffer].data() + range.begin, range.n};
    }

    /// How many rows of the node pass the rule, over all workers.
    std::size_t count_left(const RowRange& range, FeatureIndex feature, const BinRule& rule, Marks& marks,
                           int n_threads) const;

    /// How many rows of the node are in each bin of the feature, over all workers.
    std::vector<std::uint32_t> count_bins(const RowRange& range, FeatureIndex feature) const;

    /// The cell of each bin of the feature: what a histogram has, for this feature alone, over all workers.
    void sum_bins(const RowRange& range, FeatureIndex feature, bool counted, std::span<Cell> cells) const;

    /// The sums of all rows of a node that has records, those of this worker.
    Cell total(const RowRange& range, bool counted) const;

    /// Splits the node's rows; returns the ranges of its children. Other nodes may be split at the same time.
    std::array<RowRange, 2> split(const RowRange& range, FeatureIndex feature, const BinRule& rule, Marks& marks,
                                  int n_threads);

private:
    std::size_t mark(const RowRange& range, FeatureIndex feature, const BinRule& rule, Marks& marks,
                     int n_threads) const;

    const BinnedMatrix& matrix_;
    int n_threads_;
    Slice slice_;
    std::span<const Pair> pairs_;
    std::array<Buffer<Record>, 2> records_;
};

}  // namespace coterie
