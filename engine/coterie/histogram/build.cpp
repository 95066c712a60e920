#include "coterie/histogram/build.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "coterie/base/parallel.hpp"

namespace coterie {
namespace {

constexpr std::size_t kBlockRecords = 512;  // rows that stay in the cache while tile after tile takes them
constexpr std::size_t kBlockRows = 2048;    // when rows come in order and need no prefetch
constexpr std::size_t kUpdatesPerThread = 50'000;
constexpr std::size_t kMostRowsAtOnce = 65'536;

}  // namespace

void HistogramBuilder::add(const NodeRows& rows, std::size_t begin, std::size_t end, std::span<const Tile> tiles,
                           Cell* cells) const {
    const std::size_t block = rows.records == nullptr ? kBlockRows : kBlockRecords;
    for (std::size_t first = 0; first < tiles.size();) {
        // The tiles of one panel share its rows: block by block, while they are in the cache.
        std::size_t last = first + 1;
        while (last < tiles.size() && tiles[last].panel == tiles[first].panel) ++last;
        const Panel& panel = matrix_.panels()[tiles[first].panel];
        const Bin* const bins = matrix_.rows(panel);
        const std::size_t n_tiles = last - first;
        if (rows.records != nullptr)
            for (std::size_t i = begin; i < std::min(end, begin + block); ++i)
                __builtin_prefetch(bins + row_of(rows.records[i]) * panel.row_stride);
        for (std::size_t b = begin; b < end; b += block) {
            const std::size_t b_end = std::min(end, b + block);
            const std::size_t next_end = std::min(end, b_end + block);
            const std::size_t share = (next_end - b_end + n_tiles - 1) / n_tiles;
            for (std::size_t t = first; t < last; ++t) {
                const Tile& tile = tiles[t];
                const AddRows add = rows.counted ? tile.add_counted : tile.add_plain;
                add({.bins = bins + (tile.first_lane - panel.first_lane),
                     .row_stride = panel.row_stride,
                     .records = rows.records,
                     .pairs = rows.pairs,
                     .begin = b,
                     .end = b_end,
                     .prefetch_begin = std::min(next_end, b_end + (t - first) * share),
                     .prefetch_end = std::min(next_end, b_end + (t - first + 1) * share)},
                    cells + tile.offset);
            }
        }
        first = last;
    }
}

void HistogramBuilder::build(const NodeRows& rows, Cell* cells) {
    const std::span<const Tile> tiles = layout_.tiles();
    const std::size_t n_cells = layout_.n_cells();
    const std::size_t updates = rows.n * matrix_.lanes().size();
    if (n_threads_ == 1 || updates + n_cells < kUpdatesPerThread) {
        std::memset(cells, 0, n_cells * sizeof(Cell));
        add(rows, 0, rows.n, tiles, cells);
        return;
    }
    const auto n_threads = static_cast<std::size_t>(n_threads_);
    const std::size_t n_panels = matrix_.panels().size();
    if (n_panels >= 2 * n_threads) {
        // Many features: each thread has its own panels, and nothing needs merging.
        parallel_for(n_panels, n_threads_, [&](std::size_t panel) {
            const auto first = std::ranges::lower_bound(tiles, panel, {}, &Tile::panel);
            const auto last = std::ranges::upper_bound(tiles, panel, {}, &Tile::panel);
            for (auto tile = first; tile != last; ++tile)
                std::memset(cells + tile->offset, 0, tile->n_cells() * sizeof(Cell));
            add(rows, 0, rows.n, {first, last}, cells);
        });
        return;
    }
    // Few features: each thread has its own rows. Sums of integers come out the same however rows are shared.
    const std::size_t n_parts = std::min(n_threads, 1 + updates / kUpdatesPerThread);
    while (private_cells_.size() + 1 < n_parts) private_cells_.emplace_back(n_cells);
    // Rows are taken chunk by chunk, so a thread that was held up does not hold up the others.
    std::atomic<std::size_t> next{0};
    const std::size_t chunk = std::clamp(rows.n / (4 * n_parts), 2 * kBlockRecords, kMostRowsAtOnce);
    parallel_for(n_parts, n_threads_, [&](std::size_t part) {
        Cell* const own = part == 0 ? cells : private_cells_[part - 1].data();
        std::memset(own, 0, n_cells * sizeof(Cell));
        for (std::size_t begin; (begin = next.fetch_add(chunk, std::memory_order_relaxed)) < rows.n;)
            add(rows, begin, std::min(rows.n, begin + chunk), tiles, own);
    });
    for (std::size_t part = 1; part < n_parts; ++part) {
        const Cell* const other = private_cells_[part - 1].data();
        for (std::size_t i = 0; i < n_cells; ++i) cells[i] += other[i];
    }
}

}  // namespace coterie
