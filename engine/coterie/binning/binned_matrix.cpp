#include "coterie/binning/binned_matrix.hpp"

#include <algorithm>
#include <cstring>

#include "coterie/base/error.hpp"
#include "coterie/base/parallel.hpp"

namespace coterie {
namespace {

constexpr std::size_t kPanelWidth = 64;
constexpr std::size_t kSlack = 64;  // kernels may read a line past the end

// A row inside one cache line is one miss instead of two, worth a few bytes of padding but not many.
std::size_t row_stride_for(std::size_t width) {
    for (const std::size_t fit : {std::size_t{1}, std::size_t{2}, std::size_t{4}, std::size_t{8}, std::size_t{16},
                                  std::size_t{32}, kPanelWidth})
        if (fit >= width && (fit - width) * 5 <= fit) return fit;
    return (width + 3) / 4 * 4;
}

}  // namespace

BinnedMatrix::BinnedMatrix(const TableView& table, std::shared_ptr<const BinMapper> mapper, int n_threads, StopRequest stop)
    : n_rows_(table.n_rows), column_stride_((table.n_rows + kSlack + 63) / 64 * 64 + 64), mapper_(std::move(mapper)) {
    require(table.columns.size() == n_features(), "The table has " + std::to_string(table.columns.size()) +
                                                      " columns; the bins were made for " + std::to_string(n_features()) + ".");
    std::size_t offset = 0;
    for (std::size_t first = 0; first < n_features(); first += kPanelWidth) {
        const std::size_t width = std::min(kPanelWidth, n_features() - first);
        const std::size_t stride = row_stride_for(width);
        panels_.push_back({static_cast<FeatureIndex>(first), static_cast<std::uint32_t>(width), stride, offset});
        offset += (stride * n_rows_ + kSlack + 63) / 64 * 64;
    }
    panel_bins_.resize(offset);
    columns_.resize(column_stride_ * n_features());
    constexpr std::size_t kChunk = 2048;
    constexpr std::size_t kStripe = 64 * kChunk;  // between two questions whether to stop
    for (std::size_t stripe = 0; stripe < n_rows_; stripe += kStripe) {
        stop.check();
        const std::size_t n = std::min(kStripe, n_rows_ - stripe);
        const int threads = n * n_features() > 50'000 ? n_threads : 1;
        parallel_ranges(n, kChunk, threads,
                        [&](std::size_t begin, std::size_t end) { map_rows(table, stripe + begin, stripe + end); });
    }
}

void BinnedMatrix::map_rows(const TableView& table, std::size_t begin, std::size_t end) {
    constexpr std::size_t kBlock = 256;  // rows whose values are read while their lines are in the cache
    Bin bins[kBlock];
    for (std::size_t block = begin; block < end; block += kBlock) {
        const std::size_t n = std::min(kBlock, end - block);
        for (const Panel& panel : panels_) {
            Bin* const rows = panel_bins_.data() + panel.offset + block * panel.row_stride;
            for (std::uint32_t j = 0; j < panel.width; ++j) {
                const FeatureIndex feature = panel.first_feature + j;
                mapper_->map(feature, table.columns[feature], block, n, bins);
                std::memcpy(columns_.data() + feature * column_stride_ + block, bins, n);
                for (std::size_t i = 0; i < n; ++i) rows[i * panel.row_stride + j] = bins[i];
            }
        }
    }
}

}  // namespace coterie
