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
        if (fit >= width && (fit - width) * 4 <= fit) return fit;
    return (width + 3) / 4 * 4;
}

constexpr int kMostBinsToFuse = 16;

}  // namespace

std::vector<Lane> plan_lanes(const std::vector<FeatureBins>& features) {
    std::vector<Lane> lanes;
    std::ptrdiff_t open = -1;  // the fused lane that still has room
    for (FeatureIndex feature = 0; feature < features.size(); ++feature) {
        const int base = features[feature].n_bins;
        const bool small = base >= 2 && base <= kMostBinsToFuse;
        if (small && open >= 0 && lanes[static_cast<std::size_t>(open)].n_codes * base <= kMaxBins) {
            Lane& lane = lanes[static_cast<std::size_t>(open)];
            lane.features.push_back(feature);
            lane.n_codes *= base;
            continue;
        }
        if (small) open = static_cast<std::ptrdiff_t>(lanes.size());
        lanes.push_back({.features = {feature}, .n_codes = base});
    }
    return lanes;
}

BinnedMatrix::BinnedMatrix(const TableView& table, std::shared_ptr<const BinMapper> mapper, int n_threads,
                           StopRequest stop)
    : n_rows_(table.n_rows), column_stride_((table.n_rows + kSlack + 63) / 64 * 64 + 64), mapper_(std::move(mapper)) {
    require(table.columns.size() == n_features(), "The table has " + std::to_string(table.columns.size()) +
                                                      " columns; the bins were made for " +
                                                      std::to_string(n_features()) + ".");
    lanes_ = plan_lanes(mapper_->features());
    std::size_t offset = 0;
    for (std::size_t first = 0; first < lanes_.size(); first += kPanelWidth) {
        const std::size_t width = std::min(kPanelWidth, lanes_.size() - first);
        const std::size_t stride = row_stride_for(width);
        panels_.push_back({static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(width), stride, offset});
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
                map_lane(table, lanes_[panel.first_lane + j], block, n, bins);
                for (std::size_t i = 0; i < n; ++i) rows[i * panel.row_stride + j] = bins[i];
            }
        }
    }
}

// Codes of rows [begin, begin + n) of a lane, n <= 256; each feature's own bins go to its column on the way.
void BinnedMatrix::map_lane(const TableView& table, const Lane& lane, std::size_t begin, std::size_t n, Bin* out) {
    int unit = 1;
    for (std::size_t digit = 0; digit < lane.features.size(); ++digit) {
        const FeatureIndex feature = lane.features[digit];
        Bin* const column = columns_.data() + feature * column_stride_ + begin;
        mapper_->map(feature, table.columns[feature], begin, n, column);
        if (digit == 0)
            std::memcpy(out, column, n);
        else
            for (std::size_t i = 0; i < n; ++i) out[i] = static_cast<Bin>(out[i] + unit * column[i]);
        unit *= mapper_->features()[feature].n_bins;
    }
}

}  // namespace coterie
