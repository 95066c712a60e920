#include "coterie/histogram/marginal.hpp"

#include <algorithm>

namespace coterie {

void split_bundle(const BinnedMatrix& matrix, const FeatureBundle& bundle, const Cell* bundle_cells, BundleCells& out) {
    std::array<Cell, kMaxBins> left;  // what remains after higher digits are summed away
    std::copy_n(bundle_cells, bundle.n_codes, left.begin());
    int n_left = bundle.n_codes;
    std::size_t used = 0;
    for (std::size_t position = bundle.features.size(); position-- > 0;) {
        const int base = matrix.base(bundle, position);
        const int unit = n_left / base;
        out.offset[position] = static_cast<std::uint16_t>(used);
        Cell* const cells = out.cells.data() + used;
        const std::size_t padded =
            static_cast<std::size_t>(matrix.feature(bundle.features[position]).n_bins + 7) / 8 * 8;
        std::fill_n(cells, padded, Cell{0});
        used += padded;
        for (int digit = 0; digit < base; ++digit) {
            Cell sum = 0;
            for (int i = 0; i < unit; ++i) sum += left[static_cast<std::size_t>(digit * unit + i)];
            cells[bundle.first_bin[position] + digit] = sum;
        }
        for (int digit = 1; digit < base; ++digit)
            for (int i = 0; i < unit; ++i)
                left[static_cast<std::size_t>(i)] += left[static_cast<std::size_t>(digit * unit + i)];
        n_left = unit;
    }
}

}  // namespace coterie
