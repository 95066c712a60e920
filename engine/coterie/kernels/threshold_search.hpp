// kernels/threshold_search.hpp: how many of ascending thresholds lie below each of many values.
#pragma once

#include <cstddef>
#include <cstdint>

namespace coterie {

/// Thresholds, and cells of equal width over them: those of earlier cells than a value's own lie below it, those of
/// later ones do not.
struct ThresholdCells {
    const double* thresholds = nullptr;
    std::uint32_t n = 0;                   // at least one
    const std::uint32_t* begin = nullptr;  // the first threshold of each cell, and n
    double low = 0.0;
    double cells_per_unit = 0.0;
    double last_cell = 0.0;
    std::uint32_t fullest = 0;  // the most thresholds of a cell

    std::size_t cell_of(double value) const {
        double cell = (value - low) * cells_per_unit;
        cell = cell > 0.0 ? cell : 0.0;  // also of NaN
        return static_cast<std::size_t>(cell < last_cell ? cell : last_cell);
    }
};

struct ThresholdKernels {
    // The thresholds below each value, plus one; 0 for NaN.
    void (*code)(const ThresholdCells& cells, const double* values, std::size_t n, std::uint16_t* out);
};

namespace generic {
ThresholdKernels threshold_kernels();
}
namespace avx512 {
ThresholdKernels threshold_kernels();
}

}  // namespace coterie
