// binning/binned_matrix.hpp: the table as bins, twice: row-major panels for histograms, columns for partitions.
#pragma once

#include "coterie/base/buffer.hpp"
#include "coterie/binning/bin_mapper.hpp"

namespace coterie {

/// Up to 64 neighbouring features, row after row.
struct Panel {
    FeatureIndex first_feature;
    std::uint32_t width;       // features
    std::size_t row_stride;    // bytes from row to row
    std::size_t offset;        // of row 0 in the buffer of panels
};

class BinnedMatrix {
public:
    BinnedMatrix(const TableView& table, std::shared_ptr<const BinMapper> mapper, int n_threads, StopRequest stop = {});

    std::size_t n_rows() const { return n_rows_; }
    std::size_t n_features() const { return mapper_->features().size(); }
    const FeatureBins& feature(FeatureIndex feature) const { return mapper_->features()[feature]; }
    const std::vector<Panel>& panels() const { return panels_; }

    /// Row 0 of the panel; the next row is row_stride further.
    const Bin* rows(const Panel& panel) const { return panel_bins_.data() + panel.offset; }
    const Bin* column(FeatureIndex feature) const { return columns_.data() + feature * column_stride_; }

private:
    void map_rows(const TableView& table, std::size_t begin, std::size_t end);

    std::size_t n_rows_;
    std::size_t column_stride_;
    std::shared_ptr<const BinMapper> mapper_;
    std::vector<Panel> panels_;
    Buffer<Bin> panel_bins_;
    Buffer<Bin> columns_;
};

}  // namespace coterie
