// histogram/layout.hpp: where the cells of each feature lie in a node's histogram.
#pragma once

#include <span>
#include <vector>

#include "coterie/binning/binned_matrix.hpp"
#include "coterie/kernels/histogram_rows.hpp"

namespace coterie {

/// Neighbouring bundles of one panel whose cells fit the first-level cache together.
struct Tile {
    std::uint32_t panel;
    std::uint32_t first_bundle;
    std::uint32_t width;
    int stride;          // cells from bundle to bundle
    std::size_t offset;  // of the first bundle's cells in the histogram
    AddRows add;

    std::size_t n_cells() const { return width * static_cast<std::size_t>(stride); }
};

/// Tiles [begin, end), whose cells lie one after the other.
struct TileRange {
    std::size_t begin = 0;
    std::size_t end = 0;
};

class HistogramLayout {
public:
    explicit HistogramLayout(const BinnedMatrix& matrix);

    const std::vector<Tile>& tiles() const { return tiles_; }
    std::span<const Tile> tiles(const TileRange& range) const {
        return std::span(tiles_).subspan(range.begin, range.end - range.begin);
    }
    TileRange all_tiles() const { return {0, tiles_.size()}; }
    /// The tiles of each panel.
    std::span<const TileRange> panels() const { return panels_; }
    std::size_t n_cells() const { return n_cells_; }
    std::size_t bundle_offset(std::uint32_t bundle) const { return bundle_offsets_[bundle]; }
    std::uint32_t bundle_of(FeatureIndex feature) const { return feature_bundles_[feature]; }

private:
    std::vector<Tile> tiles_;
    std::vector<TileRange> panels_;
    std::vector<std::size_t> bundle_offsets_;
    std::vector<std::uint32_t> feature_bundles_;
    std::size_t n_cells_ = 0;
};

}  // namespace coterie
