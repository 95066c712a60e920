// kernels/generic/binning.cpp: what mapping values to bins means.
#include "coterie/kernels/binning.hpp"

#include <cstring>

namespace coterie::generic {
namespace {

template <class Float>
void map_values(const std::byte* data, std::ptrdiff_t stride, std::size_t n, const CutTable<Float>& table, Bin* out) {
    for (std::size_t i = 0; i < n; ++i, data += stride) {
        Float value;
        std::memcpy(&value, data, sizeof(Float));
        int coarse = 0;
        for (int k = 0; k < 16; ++k) coarse += table.pivots[k] < value;
        int bin = 16 * coarse;
        for (int k = 0; k < 16; ++k) bin += table.cuts[16 * coarse + k] < value;
        out[i] = value == value ? static_cast<Bin>(bin + 1) : kMissingBin;
    }
}

template <class Float>
void map_strip(const std::byte* rows, std::ptrdiff_t stride, std::size_t n, const StripCuts<Float>& cuts,
               std::size_t out_stride, Bin* out) {
    for (std::size_t i = 0; i < n; ++i, rows += stride) {
        Float values[kStripFeatures];
        std::memcpy(values, rows, sizeof(values));
        for (std::size_t k = 0; k < kStripFeatures; ++k) {
            int bin = values[k] == values[k] ? 1 : 0;
            for (std::size_t j = 0; j < cuts.n_cuts; ++j) bin += cuts.cuts[j][k] < values[k];
            out[k * out_stride + i] = static_cast<Bin>(bin);
        }
    }
}

}  // namespace

BinningKernels binning_kernels() {
    return {.map_float = map_values<float>,
            .map_double = map_values<double>,
            .map_strip_float = map_strip<float>,
            .map_strip_double = map_strip<double>};
}

}  // namespace coterie::generic
