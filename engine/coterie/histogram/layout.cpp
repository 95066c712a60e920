#include "coterie/histogram/layout.hpp"

#include <algorithm>

namespace coterie {

HistogramLayout::HistogramLayout(const BinnedMatrix& matrix) : feature_bundles_(matrix.n_features()) {
    for (std::uint32_t bundle = 0; bundle < matrix.bundles().size(); ++bundle)
        for (const FeatureIndex feature : matrix.bundles()[bundle].features) feature_bundles_[feature] = bundle;
    for (std::uint32_t p = 0; p < matrix.panels().size(); ++p) {
        const Panel& panel = matrix.panels()[p];
        const std::uint32_t n_tiles = (panel.width + kMaxTileWidth - 1) / kMaxTileWidth;
        for (std::uint32_t t = 0; t < n_tiles; ++t) {
            const std::uint32_t begin = panel.width * t / n_tiles;
            const std::uint32_t end = panel.width * (t + 1) / n_tiles;
            int most_bins = 1;
            for (std::uint32_t j = begin; j < end; ++j)
                most_bins = std::max(most_bins, matrix.bundles()[panel.first_bundle + j].n_codes);
            const int stride = tile_stride(most_bins);
            const Tile tile{.panel = p,
                            .first_bundle = panel.first_bundle + begin,
                            .width = end - begin,
                            .stride = stride,
                            .offset = n_cells_,
                            .add = add_rows(static_cast<int>(end - begin), stride)};
            for (std::uint32_t j = 0; j < tile.width; ++j)
                bundle_offsets_.push_back(tile.offset + j * static_cast<std::size_t>(stride));
            n_cells_ += tile.n_cells();
            tiles_.push_back(tile);
        }
        panels_.push_back({tiles_.size() - n_tiles, tiles_.size()});
    }
}

}  // namespace coterie
