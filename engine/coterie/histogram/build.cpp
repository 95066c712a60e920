#include "coterie/histogram/build.hpp"

#include <algorithm>
#include <cstring>

#include "coterie/base/parallel.hpp"

namespace coterie {
namespace {

constexpr std::size_t kUpdatesPerThread = 50'000;
constexpr std::size_t kMaxRowsAtOnce = 65'536;
constexpr std::size_t kMergedCells = 32'768;  // cells of all parts that one thread adds up at a time
constexpr std::size_t kMinMerged = 512;

void negate(Cell* amounts, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) amounts[i] = Cell{0} - amounts[i];
}

}  // namespace

template <bool kTake>
void HistogramBuilder::add(const NodeRows& rows, std::size_t begin, std::size_t end, std::span<const Tile> tiles,
                           Cell* cells) const {
    GatheredBlock block;
    for (std::size_t first = 0; first < tiles.size();) {
        // The tiles of one panel share its rows: block by block, while they are in the cache.
        std::size_t last = first + 1;
        while (last < tiles.size() && tiles[last].panel == tiles[first].panel) ++last;
        const Panel& panel = matrix_.panels()[tiles[first].panel];
        const Bin* const bins = matrix_.rows(panel);
        TilePieces pieces{.n_tiles = last - first, .first = {}, .width = {}};
        for (std::size_t t = first; t < last; ++t) {
            pieces.first[t - first] = tiles[t].first_bundle - panel.first_bundle;
            pieces.width[t - first] = tiles[t].width;
        }
        FetchAhead ahead{.rows = bins,
                         .row_stride = panel.row_stride,
                         .last_byte = 64 % panel.row_stride == 0 ? std::size_t{0} : panel.width - std::size_t{1}};
        for (std::size_t b = begin; b < end; b += kMaxBlockRows) {
            const std::size_t n = std::min(kMaxBlockRows, end - b);
            if (rows.records == nullptr) {
                widen_pairs(rows.pairs + b, n, rows.counted, block.amounts);
                if constexpr (kTake) negate(block.amounts, n);
                for (std::size_t t = first; t < last; ++t)
                    tiles[t].add(bins + b * panel.row_stride + pieces.first[t - first], panel.row_stride, block.amounts,
                                 n, {}, cells + tiles[t].offset);
                continue;
            }
            gather(bins, panel.row_stride, rows.records + b, n, rows.counted, b == begin, pieces, block);
            if constexpr (kTake) negate(block.amounts, n);
            // Each tile fetches its share of the next block.
            const std::size_t n_next = std::min(kMaxBlockRows, end - b - n);
            for (std::size_t t = 0; t < pieces.n_tiles; ++t) {
                const std::size_t from = n_next * t / pieces.n_tiles;
                ahead.records = rows.records + b + n + from;
                ahead.n = n_next * (t + 1) / pieces.n_tiles - from;
                const Tile& tile = tiles[first + t];
                tile.add(block.bins[t], tile.width, block.amounts, n, ahead, cells + tile.offset);
            }
        }
        first = last;
    }
}

void HistogramBuilder::build_alone(const NodeRows& rows, Cell* cells) const {
    build_tiles(rows, layout_.all_tiles(), cells);
}

void HistogramBuilder::build_tiles(const NodeRows& rows, const TileRange& tiles, Cell* cells) const {
    const std::span<const Tile> only = layout_.tiles(tiles);
    const std::size_t begin = only.front().offset, end = only.back().offset + only.back().n_cells();
    std::memset(cells + begin, 0, (end - begin) * sizeof(Cell));
    add(rows, 0, rows.n, only, cells);
}

void HistogramBuilder::take_away(const NodeRows& rows, const TileRange& tiles, Cell* cells) const {
    add<true>(rows, 0, rows.n, layout_.tiles(tiles), cells);
}

bool HistogramBuilder::shares(const NodeRows& rows) const {
    return n_threads_ > 1 && rows.n * matrix_.bundles().size() + layout_.n_cells() >= kUpdatesPerThread;
}

void HistogramBuilder::reduce(std::span<Cell* const> histograms) {
    if (!slice_.shared() || histograms.empty()) return;
    const std::size_t n_cells = layout_.n_cells();
    exchanged_.clear();
    for (const Cell* const cells : histograms) exchanged_.insert(exchanged_.end(), cells, cells + n_cells);
    slice_.sum(exchanged_);
    for (std::size_t i = 0; i < histograms.size(); ++i)
        std::copy_n(exchanged_.data() + i * n_cells, n_cells, histograms[i]);
}

void HistogramBuilder::build(const NodeRows& rows, Cell* cells) {
    if (!shares(rows)) return build_alone(rows, cells);
    const std::span<const Tile> tiles = layout_.tiles();
    const std::size_t n_cells = layout_.n_cells();
    const std::size_t updates = rows.n * matrix_.bundles().size();
    const auto n_threads = static_cast<std::size_t>(n_threads_);
    if (by_panels(n_threads_)) {
        const std::span<const TileRange> panels = layout_.panels();
        parallel_for(
            panels.size(), n_threads_, [&](std::size_t panel) { build_tiles(rows, panels[panel], cells); },
            Sharing::work_stealing);
        return;
    }
    // Few features: each thread has its own rows. Sums of integers come out the same however rows are shared.
    const std::size_t n_parts = std::min(n_threads, 1 + updates / kUpdatesPerThread);
    while (private_cells_.size() + 1 < n_parts) private_cells_.emplace_back(n_cells);
    // Rows are taken chunk by chunk, so a thread that was held up does not hold up the others.
    const std::size_t n_at_once = std::clamp(rows.n / (4 * n_parts), 2 * kMaxBlockRows, kMaxRowsAtOnce);
    WorkStealingRanges left((rows.n + n_at_once - 1) / n_at_once, n_parts);
    const auto fill = [&](std::size_t part) {
        Cell* const own = part == 0 ? cells : private_cells_[part - 1].data();
        std::memset(own, 0, n_cells * sizeof(Cell));
        for (std::size_t chunk; (chunk = left.take(part)) != WorkStealingRanges::kNone;)
            add(rows, chunk * n_at_once, std::min(rows.n, (chunk + 1) * n_at_once), tiles, own);
    };
    parallel_for(n_parts, n_threads_, fill, Sharing::work_stealing);
    // Each thread adds up the cells of its own range over all parts.
    parallel_ranges(n_cells, std::max(kMinMerged, kMergedCells / n_parts), n_threads_,
                    [&](std::size_t begin, std::size_t end) {
                        for (std::size_t part = 1; part < n_parts; ++part) {
                            const Cell* const other = private_cells_[part - 1].data();
                            for (std::size_t i = begin; i < end; ++i) cells[i] += other[i];
                        }
                    });
}

}  // namespace coterie
