#include "coterie/binning/binned_matrix.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "coterie/base/buffer.hpp"
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

constexpr int kMaxBinsToFuse = 16;
constexpr std::size_t kBlock = 256;  // rows whose values are read while their lines are in the cache

bool may_share(const FeatureBins& bins) { return bins.n_bins >= 2 && bins.n_bins <= kMaxBinsToFuse; }

}  // namespace

std::vector<FeatureBundle> plan_bundles(const std::vector<FeatureBins>& features,
                                        const std::vector<std::uint8_t>& complete) {
    std::vector<FeatureBundle> bundles;
    std::ptrdiff_t open = -1;  // the fused bundle that still has room
    for (FeatureIndex feature = 0; feature < features.size(); ++feature) {
        const bool small = may_share(features[feature]);
        // A digit of one value would let any number of constant features into a bundle.
        const Bin first_bin = small && complete[feature] && features[feature].n_bins > 2 ? 1 : 0;
        const int base = features[feature].n_bins - first_bin;
        if (small && open >= 0 && bundles[static_cast<std::size_t>(open)].n_codes * base <= kMaxBins) {
            FeatureBundle& bundle = bundles[static_cast<std::size_t>(open)];
            bundle.features.push_back(feature);
            bundle.first_bin.push_back(first_bin);
            bundle.n_codes *= base;
            continue;
        }
        if (small) open = static_cast<std::ptrdiff_t>(bundles.size());
        bundles.push_back({.features = {feature}, .n_codes = base, .first_bin = {first_bin}});
    }
    // Who is alone in a bundle has its own bins there.
    for (FeatureBundle& bundle : bundles)
        if (!bundle.fused()) bundle = {.features = bundle.features, .n_codes = features[bundle.features[0]].n_bins};
    return bundles;
}

BinStorage bins_in_memory(std::size_t n_bytes) {
    const auto owner = std::make_shared<Buffer<Bin>>(n_bytes);
    return {owner, owner->data()};
}

namespace {

// body(begin, end) for blocks of up to kBlock of n rows.
template <class F>
void over_rows(std::size_t n_rows, std::size_t n_features, int n_threads, StopRequest& stop, F body) {
    constexpr std::size_t kChunk = 2048;
    constexpr std::size_t kStripe = 64 * kChunk;  // between two checks for a request to stop
    for (std::size_t stripe = 0; stripe < n_rows; stripe += kStripe) {
        stop.check();
        const std::size_t n = std::min(kStripe, n_rows - stripe);
        const int threads = n * n_features > 50'000 ? n_threads : 1;
        parallel_ranges(n, kChunk, threads, [&](std::size_t begin, std::size_t end) {
            for (std::size_t block = begin; block < end; block += kBlock)
                body(stripe + block, stripe + std::min(end, block + kBlock));
        });
    }
}

}  // namespace

BinnedMatrix::BinnedMatrix(const TableView& table, std::shared_ptr<const BinMapper> mapper, int n_threads,
                           StopRequest stop, const Slice& slice)
    : BinnedMatrix(std::move(mapper), table.n_rows, bins_in_memory) {
    append(table, 0, n_threads, stop);
    finish(n_threads, stop, slice, bins_in_memory);
}

BinnedMatrix::BinnedMatrix(std::shared_ptr<const BinMapper> mapper, std::size_t n_rows, const BinAllocator& allocate)
    : n_rows_(n_rows),
      column_stride_((n_rows + kSlack + 63) / 64 * 64 + 64),
      mapper_(std::move(mapper)),
      complete_(n_features(), 1),
      columns_(allocate(column_stride_ * n_features())) {
    if (some_share()) return;
    bundles_ = plan_bundles(features(), complete_);
    lay_out_panels(allocate);
}

// Who is complete is known when all rows are binned. Without features that share, bundles need not wait for that.
bool BinnedMatrix::some_share() const { return std::ranges::count_if(features(), may_share) > 1; }

void BinnedMatrix::append(const TableView& table, std::size_t first_row, int n_threads, StopRequest& stop) {
    require(table.columns.size() == n_features(), "The table has " + std::to_string(table.columns.size()) +
                                                      " columns; the bins were made for " +
                                                      std::to_string(n_features()) + ".");
    if (some_share()) return map_columns(table, first_row, n_threads, stop);
    over_rows(table.n_rows, n_features(), n_threads, stop, [&](std::size_t begin, std::size_t end) {
        fill_panels(first_row + begin, first_row + end, &table, first_row);
    });
}

void BinnedMatrix::append_bins(std::span<const Bin* const> columns, std::size_t n, std::size_t first_row, int n_threads,
                               StopRequest& stop) {
    require(columns.size() == n_features(), "There must be a column of bins for each feature.");
    for (FeatureIndex feature = 0; feature < n_features(); ++feature) {
        const Bin* const bins = columns[feature];
        require(n == 0 || *std::max_element(bins, bins + n) < this->feature(feature).n_bins,
                "There is a bin that the feature does not have.");
        std::copy_n(bins, n, columns_.data + feature * column_stride_ + first_row);
        if (n > 0 && std::memchr(bins, kMissingBin, n) != nullptr) complete_[feature] = 0;
    }
    if (some_share()) return;
    over_rows(n, n_features(), n_threads, stop,
              [&](std::size_t begin, std::size_t end) { fill_panels(first_row + begin, first_row + end, nullptr, 0); });
}

void BinnedMatrix::finish(int n_threads, StopRequest& stop, const Slice& slice, const BinAllocator& allocate) {
    if (!some_share()) return;
    if (slice.shared()) {
        std::vector<std::uint64_t> missing;
        for (const std::uint8_t flag : complete_) missing.push_back(!flag);
        slice.max(missing);
        for (std::size_t feature = 0; feature < missing.size(); ++feature) complete_[feature] = missing[feature] == 0;
    }
    bundles_ = plan_bundles(features(), complete_);
    lay_out_panels(allocate);
    over_rows(n_rows_, n_features(), n_threads, stop,
              [&](std::size_t begin, std::size_t end) { fill_panels(begin, end, nullptr, 0); });
}

void BinnedMatrix::map_columns(const TableView& table, std::size_t first_row, int n_threads, StopRequest& stop) {
    std::vector<std::atomic<std::uint8_t>> has_missing(n_features());
    over_rows(table.n_rows, n_features(), n_threads, stop, [&](std::size_t begin, std::size_t end) {
        for (FeatureIndex feature = 0; feature < n_features(); ++feature) {
            Bin* const column = columns_.data + feature * column_stride_ + first_row + begin;
            mapper_->map(feature, table.columns[feature], begin, end - begin, column);
            if (std::memchr(column, kMissingBin, end - begin) != nullptr)
                has_missing[feature].store(1, std::memory_order_relaxed);
        }
    });
    for (std::size_t feature = 0; feature < n_features(); ++feature)
        if (has_missing[feature].load() != 0) complete_[feature] = 0;
}

void BinnedMatrix::lay_out_panels(const BinAllocator& allocate) {
    std::size_t offset = 0;
    for (std::size_t first = 0; first < bundles_.size(); first += kPanelWidth) {
        const std::size_t width = std::min(kPanelWidth, bundles_.size() - first);
        const std::size_t stride = row_stride_for(width);
        panels_.push_back({static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(width), stride, offset});
        offset += (stride * n_rows_ + kSlack + 63) / 64 * 64;
    }
    panel_bins_ = allocate(offset);
}

// At most kBlock rows. If a table is given, whose first row has this number, its values are mapped to columns on the
// way.
void BinnedMatrix::fill_panels(std::size_t begin, std::size_t end, const TableView* table, std::size_t first_row) {
    Bin bins[kBlock];
    const std::size_t n = end - begin;
    for (const Panel& panel : panels_) {
        Bin* const rows = panel_bins_.data + panel.offset + begin * panel.row_stride;
        for (std::uint32_t j = 0; j < panel.width; ++j) {
            fill_bundle(bundles_[panel.first_bundle + j], begin, n, table, first_row, bins);
            for (std::size_t i = 0; i < n; ++i) rows[i * panel.row_stride + j] = bins[i];
        }
    }
}

// Codes of rows [begin, begin + n) of a bundle.
void BinnedMatrix::fill_bundle(const FeatureBundle& bundle, std::size_t begin, std::size_t n, const TableView* table,
                               std::size_t first_row, Bin* out) {
    int unit = 1;
    for (std::size_t position = 0; position < bundle.features.size(); ++position) {
        const FeatureIndex feature = bundle.features[position];
        Bin* const column = columns_.data + feature * column_stride_ + begin;
        if (table != nullptr) mapper_->map(feature, table->columns[feature], begin - first_row, n, column);
        const int first = bundle.first_bin[position];
        if (position == 0) std::fill_n(out, n, Bin{0});
        for (std::size_t i = 0; i < n; ++i) out[i] = static_cast<Bin>(out[i] + unit * (column[i] - first));
        unit *= base(bundle, position);
    }
}

BinnedMatrixBuilder::BinnedMatrixBuilder(std::shared_ptr<const BinMapper> mapper, std::size_t n_rows, int n_threads,
                                         BinAllocator allocate)
    : matrix_(std::move(mapper), n_rows, allocate), n_threads_(n_threads), allocate_(std::move(allocate)) {}

void BinnedMatrixBuilder::require_room(std::size_t n) const {
    require(!finished_, "The matrix is finished: it takes no more rows.");
    require(n <= matrix_.n_rows() - n_appended_,
            "There are more rows than the " + std::to_string(matrix_.n_rows()) + " that were announced.");
}

void BinnedMatrixBuilder::append_bins(std::span<const Bin* const> columns, std::size_t n, StopRequest stop) {
    require_room(n);
    matrix_.append_bins(columns, n, n_appended_, n_threads_, stop);
    n_appended_ += n;
}

void BinnedMatrixBuilder::append(const TableView& batch, StopRequest stop) {
    require_room(batch.n_rows);
    matrix_.append(batch, n_appended_, n_threads_, stop);
    n_appended_ += batch.n_rows;
}

BinnedMatrix BinnedMatrixBuilder::finish(StopRequest stop, const Slice& slice) {
    require(!finished_, "The matrix is finished already.");
    require(n_appended_ == matrix_.n_rows(), "There are " + std::to_string(n_appended_) + " rows; " +
                                                 std::to_string(matrix_.n_rows()) + " were announced.");
    matrix_.finish(n_threads_, stop, slice, allocate_);
    finished_ = true;
    return std::move(matrix_);
}

}  // namespace coterie
