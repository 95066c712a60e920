// reference/histogram.hpp: what a histogram means. Used by tests only.
#pragma once

#include <span>
#include <vector>

#include "coterie/kernels/kernels.hpp"

namespace coterie::reference {

/// The sums of one bin, in fields that no test can overflow.
struct BinStats {
    std::int64_t gradient = 0;
    std::int64_t hessian = 0;
    std::uint32_t n = 0;

    friend bool operator==(const BinStats&, const BinStats&) = default;
};

/// Gradients, hessians and rows of each bin of one column, added one by one.
inline std::vector<BinStats> slow_histogram(std::span<const Bin> column, std::span<const RowIndex> rows,
                                            std::span<const Pair> pairs, std::size_t n_bins) {
    std::vector<BinStats> histogram(n_bins);
    for (const RowIndex row : rows) {
        BinStats& bin = histogram[column[row]];
        bin.gradient += static_cast<std::int16_t>(pairs[row] >> 16);
        bin.hessian += static_cast<std::uint16_t>(pairs[row]);
        bin.n += 1;
    }
    return histogram;
}

/// The cell that holds these sums.
constexpr Cell cell_of(const BinStats& sums, bool counted) {
    const auto gradient = static_cast<Cell>(sums.gradient);
    const auto hessian = static_cast<Cell>(sums.hessian);
    return counted ? (gradient << 38) + (hessian << 16) + sums.n : (gradient << 32) + hessian;
}

}  // namespace coterie::reference
