// Adding rows to cells, for every width of a tile and every stride, equals the slow histogram.
#include <array>
#include <memory>
#include <numeric>

#include "coterie/base/error.hpp"
#include "coterie/kernels/histogram_rows.hpp"
#include "random_inputs.hpp"
#include "reference/histogram.hpp"

namespace coterie::tests {
namespace {

constexpr std::size_t kRows = 300;
constexpr std::size_t kRowStride = 16;

struct Node {
    Buffer<Bin> bins;  // row-major, kRowStride to a row
    Buffer<Pair> pairs;
    Buffer<Record> records;  // every other row, backwards

    std::vector<Bin> column(int feature) const {
        std::vector<Bin> column(kRows);
        for (std::size_t row = 0; row < kRows; ++row)
            column[row] = bins[row * kRowStride + static_cast<std::size_t>(feature)];
        return column;
    }
};

/// Most values in one bin when zero-inflated, else spread evenly. Hessians fit the 22 bits of counted cells.
Node random_node(int n_bins, bool zero_inflated) {
    Node node;
    for (std::size_t i = 0; i < kRows * kRowStride + kGatherSlack; ++i) {
        const auto bin = random_below(1, Purpose::row_sample, i, static_cast<std::uint32_t>(n_bins));
        node.bins.push_back(zero_inflated && bits_at(8, i) % 10 != 0 ? Bin{1} : static_cast<Bin>(bin));
    }
    for (std::size_t i = 0; i < kRows; ++i) {
        const auto draw = static_cast<Pair>(bits_at(2, i));
        node.pairs.push_back(make_gradient_pair(static_cast<std::int16_t>(draw >> 16), draw % 13'000));
    }
    for (std::size_t row = kRows; row-- > 0;)
        if (row % 2 == 0) node.records.push_back(make_record(static_cast<RowIndex>(row), node.pairs[row]));
    return node;
}

void check_cells(const Node& node, std::span<const RowIndex> rows, int width, int stride, bool counted,
                 const Buffer<Cell>& cells) {
    const auto n_bins = static_cast<std::size_t>(stride);
    for (int feature = 0; feature < width; ++feature) {
        const auto slow = reference::slow_histogram(node.column(feature), rows, node.pairs, 256);
        for (std::size_t bin = 0; bin < std::min<std::size_t>(n_bins, 256); ++bin) {
            const Cell cell = cells[static_cast<std::size_t>(feature) * n_bins + bin];
            check_equal(cell, reference::cell_of(slow[bin], counted));
            const Sums sums = sums_of(cell, counted);
            check_equal(sums.gradient, slow[bin].gradient);
            check_equal(sums.hessian, slow[bin].hessian);
            check_equal(sums.n, counted ? slow[bin].n : 0u);
        }
    }
}

void check_tile(const Node& node, int width, int stride, bool counted) {
    const AddRows add = add_rows(width, stride);
    Buffer<Cell> cells(static_cast<std::size_t>(width * stride), 0);
    std::vector<RowIndex> rows(190);
    std::iota(rows.begin(), rows.end(), 10u);
    Buffer<Cell> amounts(rows.size());
    widen_pairs(node.pairs.data() + 10, rows.size(), counted, amounts.data());
    const FetchAhead ahead{.records = node.records.data(),
                           .n = 50,
                           .rows = node.bins.data(),
                           .row_stride = kRowStride,
                           .last_byte = kRowStride - 1};
    add(node.bins.data() + 10 * kRowStride, kRowStride, amounts.data(), rows.size(), ahead, cells.data());
    check_cells(node, rows, width, stride, counted, cells);
}

/// Tiles of these widths, one after the other in each row.
void check_gathered(const Node& node, std::span<const std::uint32_t> widths, bool counted, bool cold) {
    TilePieces pieces{.n_tiles = widths.size(), .first = {}, .width = {}};
    std::uint32_t end = 0;
    for (std::size_t t = 0; t < widths.size(); ++t) {
        pieces.first[t] = end;
        pieces.width[t] = widths[t];
        end += widths[t];
    }
    const auto block = std::make_unique<GatheredBlock>();
    const std::size_t n = node.records.size();
    gather(node.bins.data(), kRowStride, node.records.data(), n, counted, cold, pieces, *block);
    for (std::size_t i = 0; i < n; ++i) {
        const Record record = node.records[i];
        check_equal(block->amounts[i], counted ? widen<true>(pair_of(record)) : widen<false>(pair_of(record)));
        for (std::size_t t = 0; t < widths.size(); ++t)
            for (std::size_t bundle = 0; bundle < widths[t]; ++bundle)
                check_equal(block->bins[t][i * widths[t] + bundle],
                            node.bins[row_of(record) * kRowStride + pieces.first[t] + bundle]);
    }
}

const Test pairs_and_cells("a widened pair adds its gradient, its hessian and one row to a cell", [] {
    const Pair pairs[] = {make_gradient_pair(-3, 5), make_gradient_pair(-4, 60'000), make_gradient_pair(5, 1)};
    Cell plain = 0, counted = 0;
    for (const Pair pair : pairs) plain += widen<false>(pair), counted += widen<true>(pair);
    for (const Sums& sums : {sums_of(plain, false), sums_of(counted, true)}) {
        check_equal(sums.gradient, -2);
        check_equal(sums.hessian, 60'006);
    }
    check_equal(sums_of(counted, true).n, 3u);
});

const Test strides("a stride holds all bins and is an odd number of cache lines", [] {
    for (int n_bins = 1; n_bins <= 256; ++n_bins) {
        check(tile_stride(n_bins) >= n_bins, "a stride holds all bins");
        check_equal(tile_stride(n_bins) % 8, 0);
        check_equal(tile_stride(n_bins) / 8 % 2, 1);
    }
});

const Test every_tile("rows add up to the slow histogram for every width and stride, counted or not", [] {
    for (const int n_bins : {2, 8, 9, 24, 40, 72, 136, 256}) {
        const Node node = random_node(n_bins, false);
        for (int width = 1; width <= kMaxTileWidth; ++width)
            for (const bool counted : {false, true}) check_tile(node, width, tile_stride(n_bins), counted);
    }
});

const Test zero_inflated("columns that are mostly one value add up to the same sums", [] {
    for (const int n_bins : {2, 256}) {
        const Node node = random_node(n_bins, true);
        for (const int width : {1, 7, kMaxTileWidth})
            for (const bool counted : {false, true}) check_tile(node, width, tile_stride(n_bins), counted);
    }
});

const Test gathered("a gathered block holds the bins of each tile and the amounts of all rows", [] {
    const Node node = random_node(256, false);
    const std::array<std::vector<std::uint32_t>, 7> plans = {
        {{1}, {14}, {5, 4, 4}, {3, 3, 3, 3, 3}, {8, 8}, {4, 12}, {7, 9}}};
    for (const auto& widths : plans)
        for (const bool counted : {false, true})
            for (const bool cold : {false, true}) check_gathered(node, widths, counted, cold);
});

const Test refused("a width or a number of bins that does not exist is refused", [] {
    check_throws<InvalidInput>([] { tile_stride(265); }, "at most 256 bins");
    check_throws<InvalidInput>([] { add_rows(0, 8); }, "no histogram loop");
    check_throws<InvalidInput>([] { add_rows(kMaxTileWidth + 1, 8); }, "no histogram loop");
    check_throws<InvalidInput>([] { add_rows(1, 16); }, "no histogram loop");
});

}  // namespace
}  // namespace coterie::tests
