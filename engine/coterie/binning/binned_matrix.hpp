// binning/binned_matrix.hpp: the table as bins, twice: row-major panels for histograms, columns for partitions.
//
// Words
//   bundle   a byte of a panel's row: the bin of one feature, or of several
//   fused    a bundle of several features with few bins each, as the digits of one number below 256: one histogram
//            update serves them all, and their own cells are sums over the other digits (histogram/marginal)
//   complete  a feature without missing values: its digit does not count the missing bin, so more of them fit a bundle
#pragma once

#include <functional>

#include "coterie/binning/bin_mapper.hpp"

namespace coterie {

/// Features of one bundle; the first is the lowest digit. A digit is the feature's bin, counted from `first_bin`.
struct FeatureBundle {
    std::vector<FeatureIndex> features;
    int n_codes = 1;                // product of the bases
    std::vector<Bin> first_bin{0};  // by position: 1 if the bundle is fused and the feature complete, else 0

    bool fused() const { return features.size() > 1; }
};

/// Up to 64 bundles, row after row.
struct Panel {
    std::uint32_t first_bundle;
    std::uint32_t width;     // bundles
    std::size_t row_stride;  // bytes from row to row
    std::size_t offset;      // of row 0 in the buffer of panels
};

/// Bundles for features with these bins, complete ones flagged: features with few bins share one, wherever they are in
/// the table.
std::vector<FeatureBundle> plan_bundles(const std::vector<FeatureBins>& features,
                                        const std::vector<std::uint8_t>& complete);

/// Room for bins, in memory or in a file that the caller has mapped; whoever holds it keeps it.
struct BinStorage {
    std::shared_ptr<const void> owner;
    Bin* data = nullptr;
};
using BinAllocator = std::function<BinStorage(std::size_t n_bytes)>;

/// Memory of the process, in large pages where that is quicker.
BinStorage bins_in_memory(std::size_t n_bytes);

class BinnedMatrix {
public:
    /// Workers agree on which features are complete, since that decides where cells lie in a histogram.
    BinnedMatrix(const TableView& table, std::shared_ptr<const BinMapper> mapper, int n_threads, StopRequest stop = {},
                 const Slice& slice = {});

    std::size_t n_rows() const { return n_rows_; }
    std::size_t n_features() const { return mapper_->features().size(); }
    const FeatureBins& feature(FeatureIndex feature) const { return mapper_->features()[feature]; }
    const std::vector<FeatureBins>& features() const { return mapper_->features(); }
    const std::vector<FeatureBundle>& bundles() const { return bundles_; }
    const std::vector<Panel>& panels() const { return panels_; }

    /// Row 0 of the panel; the next row is row_stride further.
    const Bin* rows(const Panel& panel) const { return panel_bins_.data + panel.offset; }
    const Bin* column(FeatureIndex feature) const { return columns_.data + feature * column_stride_; }
    /// How many digits the feature at this position of the bundle has.
    int base(const FeatureBundle& bundle, std::size_t position) const {
        return feature(bundle.features[position]).n_bins - bundle.first_bin[position];
    }

private:
    friend class BinnedMatrixBuilder;

    BinnedMatrix(std::shared_ptr<const BinMapper> mapper, std::size_t n_rows, const BinAllocator& allocate);
    bool some_share() const;
    void append(const TableView& table, std::size_t first_row, int n_threads, StopRequest& stop);
    void append_bins(std::span<const Bin* const> columns, std::size_t n, std::size_t first_row, int n_threads,
                     StopRequest& stop);
    void finish(int n_threads, StopRequest& stop, const Slice& slice, const BinAllocator& allocate);
    void map_columns(const TableView& table, std::size_t first_row, int n_threads, StopRequest& stop);
    void lay_out_panels(const BinAllocator& allocate);
    void fill_panels(std::size_t begin, std::size_t end, const TableView* table, std::size_t first_row);
    void fill_bundle(const FeatureBundle& bundle, std::size_t begin, std::size_t n, const TableView* table,
                     std::size_t first_row, Bin* out);

    std::size_t n_rows_;
    std::size_t column_stride_;
    std::shared_ptr<const BinMapper> mapper_;
    std::vector<std::uint8_t> complete_;  // features without a missing value so far
    std::vector<FeatureBundle> bundles_;
    std::vector<Panel> panels_;
    BinStorage panel_bins_;
    BinStorage columns_;
};

/// The matrix of a table that comes in batches: the same bits as of the whole table, for batches of any size.
class BinnedMatrixBuilder {
public:
    BinnedMatrixBuilder(std::shared_ptr<const BinMapper> mapper, std::size_t n_rows, int n_threads,
                        BinAllocator allocate = bins_in_memory);

    std::size_t n_appended() const { return n_appended_; }

    /// The next rows.
    void append(const TableView& batch, StopRequest stop = {});

    /// The next n rows, which were binned elsewhere with the same cuts: a column of bins for each feature.
    void append_bins(std::span<const Bin* const> columns, std::size_t n, StopRequest stop = {});

    /// The matrix, when all rows are there; no batch comes after that.
    BinnedMatrix finish(StopRequest stop = {}, const Slice& slice = {});

private:
    void require_room(std::size_t n) const;

    BinnedMatrix matrix_;
    std::size_t n_appended_ = 0;
    int n_threads_;
    bool finished_ = false;
    BinAllocator allocate_;
};

}  // namespace coterie
