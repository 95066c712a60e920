// histogram/build.hpp: the sums of a node's rows, bin by bin.
#pragma once

#include <span>

#include "coterie/base/buffer.hpp"
#include "coterie/base/communicator.hpp"
#include "coterie/histogram/layout.hpp"

namespace coterie {

/// The rows of a node: records, or every row of the matrix with its pair.
struct NodeRows {
    const Record* records = nullptr;  // null: rows [0, n)
    const Pair* pairs = nullptr;
    std::size_t n = 0;
    bool counted = false;  // cells count rows
};

/// Builds histograms; keeps the threads' private cells from one node to the next.
class HistogramBuilder {
public:
    HistogramBuilder(const BinnedMatrix& matrix, const HistogramLayout& layout, int n_threads, const Slice& slice = {})
        : matrix_(matrix), layout_(layout), n_threads_(n_threads), slice_(slice) {}

    /// Fills `cells`, of layout.n_cells(), with the sums of the rows.
    void build(const NodeRows& rows, Cell* cells);

    /// The same on the calling thread alone; several threads may build at once.
    void build_alone(const NodeRows& rows, Cell* cells) const;

    /// The cells of some tiles only, on the calling thread.
    void build_tiles(const NodeRows& rows, const TileRange& tiles, Cell* cells) const;

    /// Takes the sums of the rows away from the cells of some tiles, on the calling thread.
    void take_away(const NodeRows& rows, const TileRange& tiles, Cell* cells) const;

    /// Replaces the cells of each histogram, and some numbers beside them, by their sums over all workers, in one
    /// exchange.
    void reduce(std::span<Cell* const> histograms, std::span<std::uint64_t> numbers = {});

    /// True if `build` shares the rows among threads.
    bool shares(const NodeRows& rows) const;

    /// True if so many threads have enough to do with whole panels each: nothing needs merging, and what follows can be
    /// done panel by panel as well, while the cells of one are in the cache.
    bool by_panels(int n_threads) const {
        return n_threads <= 1 || layout_.panels().size() >= 2 * static_cast<std::size_t>(n_threads);
    }

private:
    template <bool kTake = false>
    void add(const NodeRows& rows, std::size_t begin, std::size_t end, std::span<const Tile> tiles, Cell* cells) const;

    const BinnedMatrix& matrix_;
    const HistogramLayout& layout_;
    int n_threads_;
    Slice slice_;
    std::vector<Buffer<Cell>> private_cells_;
    std::vector<Cell> exchanged_;
};

}  // namespace coterie
