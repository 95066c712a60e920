// binning/binned_matrix.hpp: the table as bins, twice: row-major panels for histograms, columns for partitions.
//
// Words
//   lane     a byte of a panel's row: the bin of one feature, or of several
//   fused    a lane of several features with few bins each, as the digits of one number below 256: one histogram
//            update serves them all, and their own cells are sums over the other digits (histogram/marginal)
//   complete  a feature without missing values: its digit does not count the missing bin, so more of them fit a lane
#pragma once

#include "coterie/base/buffer.hpp"
#include "coterie/binning/bin_mapper.hpp"

namespace coterie {

/// Features of one lane; the first is the lowest digit. A digit is the feature's bin, counted from `first_bin`.
struct Lane {
    std::vector<FeatureIndex> features;
    int n_codes = 1;                // product of the bases
    std::vector<Bin> first_bin{0};  // by place: 1 if the lane is fused and the feature complete, else 0

    bool fused() const { return features.size() > 1; }
};

/// Up to 64 lanes, row after row.
struct Panel {
    std::uint32_t first_lane;
    std::uint32_t width;     // lanes
    std::size_t row_stride;  // bytes from row to row
    std::size_t offset;      // of row 0 in the buffer of panels
};

/// Lanes for features with these bins, complete ones flagged: neighbours in spirit, not in place; features with few
/// bins share.
std::vector<Lane> plan_lanes(const std::vector<FeatureBins>& features, const std::vector<std::uint8_t>& complete);

class BinnedMatrix {
public:
    /// Workers agree on which features are complete, since that decides where cells lie in a histogram.
    BinnedMatrix(const TableView& table, std::shared_ptr<const BinMapper> mapper, int n_threads, StopRequest stop = {},
                 const Slice& slice = {});

    std::size_t n_rows() const { return n_rows_; }
    std::size_t n_features() const { return mapper_->features().size(); }
    const FeatureBins& feature(FeatureIndex feature) const { return mapper_->features()[feature]; }
    const std::vector<FeatureBins>& features() const { return mapper_->features(); }
    const std::vector<Lane>& lanes() const { return lanes_; }
    const std::vector<Panel>& panels() const { return panels_; }

    /// Row 0 of the panel; the next row is row_stride further.
    const Bin* rows(const Panel& panel) const { return panel_bins_.data() + panel.offset; }
    const Bin* column(FeatureIndex feature) const { return columns_.data() + feature * column_stride_; }
    /// How many digits the feature at this place of the lane has.
    int base(const Lane& lane, std::size_t place) const {
        return feature(lane.features[place]).n_bins - lane.first_bin[place];
    }

private:
    std::vector<std::uint8_t> map_columns(const TableView& table, int n_threads, StopRequest& stop);
    void lay_out_panels();
    void fill_panels(std::size_t begin, std::size_t end, const TableView* table);
    void fill_lane(const Lane& lane, std::size_t begin, std::size_t n, const TableView* table, Bin* out);
    template <class F>
    void over_rows(int n_threads, StopRequest& stop, F body) const;

    std::size_t n_rows_;
    std::size_t column_stride_;
    std::shared_ptr<const BinMapper> mapper_;
    std::vector<Lane> lanes_;
    std::vector<Panel> panels_;
    Buffer<Bin> panel_bins_;
    Buffer<Bin> columns_;
};

}  // namespace coterie
