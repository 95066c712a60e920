// The histogram of a node equals the slow one, feature by feature, for any number of threads.
#include <algorithm>
#include <numeric>

#include "coterie/histogram/build.hpp"
#include "coterie/histogram/marginal.hpp"
#include "random_inputs.hpp"
#include "reference/histogram.hpp"
#include "tables_by_hand.hpp"

namespace coterie::tests {
namespace {

std::shared_ptr<const BinnedMatrix> binned(const Columns& table) {
    auto mapper = std::make_shared<const BinMapper>(BinMapper::fit(table.view(), {}, 255, 1, 1));
    return std::make_shared<const BinnedMatrix>(table.view(), std::move(mapper), 1);
}

/// Small enough for 60,000 of them to fit a counted cell.
Buffer<Pair> random_pairs(std::size_t n) {
    Buffer<Pair> pairs(n);
    for (std::size_t i = 0; i < n; ++i)
        pairs[i] = make_gradient_pair(static_cast<std::int32_t>(bits_at(1, i) % 601) - 300,
                                      static_cast<std::uint32_t>(bits_at(2, i) % 60));
    return pairs;
}

/// The cells of one feature, from its own bundle or from one that it shares.
std::vector<Cell> cells_of(const BinnedMatrix& matrix, const HistogramLayout& layout, const Buffer<Cell>& cells,
                           FeatureIndex feature) {
    const FeatureBundle& bundle = matrix.bundles()[layout.bundle_of(feature)];
    const Cell* own = cells.data() + layout.bundle_offset(layout.bundle_of(feature));
    BundleCells apart;
    if (bundle.fused()) {
        split_bundle(matrix, bundle, own, apart);
        const auto position =
            std::find(bundle.features.begin(), bundle.features.end(), feature) - bundle.features.begin();
        own = apart.of(static_cast<std::size_t>(position));
    }
    // Scans read whole vectors: what follows the last bin is zero.
    const auto n_bins = static_cast<std::size_t>(matrix.feature(feature).n_bins);
    for (std::size_t bin = n_bins; bin % 8 != 0; ++bin) check_equal(own[bin], Cell{0});
    return {own, own + n_bins};
}

void check_histogram(const BinnedMatrix& matrix, const NodeRows& node, std::span<const RowIndex> rows,
                     std::span<const Pair> pairs, int n_threads) {
    const HistogramLayout layout(matrix);
    HistogramBuilder builder(matrix, layout, n_threads);
    Buffer<Cell> cells(layout.n_cells(), 0x5555555555555555ull);  // build must clear what was there
    builder.build(node, cells.data());
    Buffer<Cell> by_tiles(layout.n_cells(), 0x5555555555555555ull);
    for (std::size_t tile = layout.tiles().size(); tile-- > 0;)
        builder.build_tiles(node, {tile, tile + 1}, by_tiles.data());
    check(std::ranges::equal(by_tiles, cells), "tile by tile gives the same cells");
    Buffer<Cell> by_panels(layout.n_cells(), 0x5555555555555555ull);
    for (const TileRange& panel : layout.panels()) builder.build_tiles(node, panel, by_panels.data());
    check(std::ranges::equal(by_panels, cells), "panel by panel gives the same cells");
    for (FeatureIndex feature = 0; feature < matrix.n_features(); ++feature) {
        const auto n_bins = static_cast<std::size_t>(matrix.feature(feature).n_bins);
        const std::span column(matrix.column(feature), matrix.n_rows());
        const auto slow = reference::slow_histogram(column, rows, pairs, n_bins);
        const std::vector<Cell> fast = cells_of(matrix, layout, cells, feature);
        for (std::size_t bin = 0; bin < n_bins; ++bin)
            check_equal(fast[bin], reference::cell_of(slow[bin], node.counted));
    }
}

const Test every_feature("every feature's cells hold the sums of its rows, whatever the width of the table", [] {
    for (const std::size_t n_features : {1u, 3u, 11u, 63u, 64u, 65u, 130u}) {
        const Columns table = random_columns(n_features, 700, n_features);
        const auto matrix = binned(table);
        const Buffer<Pair> pairs = random_pairs(700);
        std::vector<RowIndex> all(700), some;
        std::iota(all.begin(), all.end(), 0u);
        Buffer<Record> records;
        for (RowIndex row = 3; row < 700; row += 1 + row % 4) {
            some.push_back(row);
            records.push_back(make_record(row, pairs[row]));
        }
        for (const bool counted : {false, true})
            for (const int n_threads : {1, 2}) {
                check_histogram(*matrix, {.records = nullptr, .pairs = pairs.data(), .n = 700, .counted = counted}, all,
                                pairs, n_threads);
                check_histogram(*matrix,
                                {.records = records.data(), .pairs = nullptr, .n = records.size(), .counted = counted},
                                some, pairs, n_threads);
            }
    }
});

const Test many_rows("rows that threads share add up to the same sums", [] {
    constexpr std::size_t n = 60'000;
    const Columns table = random_columns(9, n, 5);
    const auto matrix = binned(table);
    const Buffer<Pair> pairs = random_pairs(n);
    std::vector<RowIndex> all(n);
    std::iota(all.begin(), all.end(), 0u);
    Buffer<Record> records(n);
    for (RowIndex row = 0; row < n; ++row) records[row] = make_record(row, pairs[row]);
    for (const int n_threads : {1, 2, 3, 8}) {
        check_histogram(*matrix, {.records = nullptr, .pairs = pairs.data(), .n = n, .counted = true}, all, pairs,
                        n_threads);
        check_histogram(*matrix, {.records = records.data(), .pairs = nullptr, .n = n, .counted = false}, all, pairs,
                        n_threads);
    }
});

const Test few_bins("features with few bins that share a bundle keep their own sums, with and without missing rows",
                    [] {
                        constexpr std::size_t n = 900;
                        Columns table{.values = {}, .n_levels = std::vector<std::int32_t>(12, 0)};
                        for (std::size_t feature = 0; feature < 12; ++feature) {
                            const std::uint32_t n_values = feature % 3 == 0 ? 1 : feature % 3 == 1 ? 2 : 15;
                            auto& column = table.values.emplace_back(n);
                            for (std::size_t row = 0; row < n; ++row)
                                column[row] = feature < 6 && bits_at(feature, row) % 7 == 0
                                                  ? kMissing
                                                  : random_below(feature, Purpose::threshold, row, n_values);
                        }
                        const auto matrix = binned(table);
                        check(matrix->bundles().size() < 12, "some features share a bundle");
                        const Buffer<Pair> pairs = random_pairs(n);
                        std::vector<RowIndex> all(n);
                        std::iota(all.begin(), all.end(), 0u);
                        for (const bool counted : {false, true})
                            check_histogram(*matrix,
                                            {.records = nullptr, .pairs = pairs.data(), .n = n, .counted = counted},
                                            all, pairs, 2);
                    });

const Test taking_away("rows taken away from their parent's sums leave their sibling's", [] {
    const auto matrix = binned(random_columns(5, 700, 140));
    const Buffer<Pair> pairs = random_pairs(700);
    Buffer<Record> all, child, sibling;
    for (RowIndex row = 0; row < 700; ++row) {
        all.push_back(make_record(row, pairs[row]));
        (row % 5 == 0 ? child : sibling).push_back(all.back());
    }
    const HistogramLayout layout(*matrix);
    HistogramBuilder builder(*matrix, layout, 1);
    for (const bool counted : {false, true}) {
        const auto rows = [&](const Buffer<Record>& records) {
            return NodeRows{.records = records.data(), .pairs = nullptr, .n = records.size(), .counted = counted};
        };
        Buffer<Cell> left(layout.n_cells()), expected(layout.n_cells());
        builder.build(rows(all), left.data());
        builder.build(rows(sibling), expected.data());
        Buffer<Cell> by_panels = left;
        builder.take_away(rows(child), layout.all_tiles(), left.data());
        check(std::ranges::equal(left, expected), "what is left is the sibling's");
        check(layout.panels().size() > 1, "there are several panels");
        for (const TileRange& panel : layout.panels()) builder.take_away(rows(child), panel, by_panels.data());
        check(std::ranges::equal(by_panels, expected), "panel by panel gives the same cells");
    }
});

const Test no_rows("a node without rows has empty cells", [] {
    const auto matrix = binned(random_columns(2, 50, 4));
    const Buffer<Pair> pairs = random_pairs(50);
    check_histogram(*matrix, {.records = nullptr, .pairs = pairs.data(), .n = 0, .counted = true}, {}, pairs, 1);
});

}  // namespace
}  // namespace coterie::tests
