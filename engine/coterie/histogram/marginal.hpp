// histogram/marginal.hpp: the cells of one feature from those of a fused bundle.
//
// The bundle's code is a number whose digits are the features' bins, so a feature's cell is the sum over all
// other digits. Digits are summed away from the highest down: 256 cells give all their features in about 600 adds.
#pragma once

#include <array>
#include <span>

#include "coterie/binning/binned_matrix.hpp"

namespace coterie {

/// Where the cells of one feature of a bundle are, each followed by zeros up to a multiple of 8.
struct BundleCells {
    std::array<Cell, 4 * kMaxBins> cells;
    std::array<std::uint16_t, kMaxBins> offset;  // by the feature's position in the bundle

    const Cell* of(std::size_t position) const { return cells.data() + offset[position]; }
};

/// Fills `out` with the cells of every feature of a fused bundle.
void split_bundle(const BinnedMatrix& matrix, const FeatureBundle& bundle, const Cell* bundle_cells, BundleCells& out);

}  // namespace coterie
