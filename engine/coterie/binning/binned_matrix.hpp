// binning/binned_matrix.hpp: the table as bins, twice: row-major panels for histograms, columns for partitions.
//
// Words
//   lane     a byte of a panel's row: the bin of one feature, or of several
//   fused    a lane of several features with few bins each, as the digits of one number below 256: one histogram
//            update serves them all, and their own cells are sums over the other digits (histogram/marginal)
#pragma once

#include "coterie/base/buffer.hpp"
#include "coterie/binning/bin_mapper.hpp"

namespace coterie {

/// Features of one lane; the first is the lowest digit. A digit's base is its feature's number of bins.
struct Lane {
    std::vector<FeatureIndex> features;
    int n_codes = 1;  // product of the bases

    bool fused() const { return features.size() > 1; }
};

/// Up to 64 lanes, row after row.
struct Panel {
    std::uint32_t first_lane;
    std::uint32_t width;     // lanes
    std::size_t row_stride;  // bytes from row to row
    std::size_t offset;      // of row 0 in the buffer of panels
};

/// Lanes for features with these bins: neighbours in spirit, not in place; features with few bins share.
std::vector<Lane> plan_lanes(const std::vector<FeatureBins>& features);

class BinnedMatrix {
public:
    BinnedMatrix(const TableView& table, std::shared_ptr<const BinMapper> mapper, int n_threads, StopRequest stop = {});

    std::size_t n_rows() const { return n_rows_; }
    std::size_t n_features() const { return mapper_->features().size(); }
    const FeatureBins& feature(FeatureIndex feature) const { return mapper_->features()[feature]; }
    const std::vector<FeatureBins>& features() const { return mapper_->features(); }
    const std::vector<Lane>& lanes() const { return lanes_; }
    const std::vector<Panel>& panels() const { return panels_; }

    /// Row 0 of the panel; the next row is row_stride further.
    const Bin* rows(const Panel& panel) const { return panel_bins_.data() + panel.offset; }
    const Bin* column(FeatureIndex feature) const { return columns_.data() + feature * column_stride_; }

private:
    void map_rows(const TableView& table, std::size_t begin, std::size_t end);
    void map_lane(const TableView& table, const Lane& lane, std::size_t begin, std::size_t n, Bin* out);

    std::size_t n_rows_;
    std::size_t column_stride_;
    std::shared_ptr<const BinMapper> mapper_;
    std::vector<Lane> lanes_;
    std::vector<Panel> panels_;
    Buffer<Bin> panel_bins_;
    Buffer<Bin> columns_;
};

}  // namespace coterie
