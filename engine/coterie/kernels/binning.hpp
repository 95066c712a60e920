// kernels/binning.hpp: values to bins, one feature at a time, or sixteen features that lie side by side in each row.
#pragma once

#include <cstddef>
#include <cstdint>

#include "coterie/base/types.hpp"

namespace coterie {

/// Cuts of one numeric feature for the two-level search: 16 pivots, then 16 x 16 cuts, padded by infinity.
template <class Float>
struct alignas(64) CutTable {
    Float pivots[16];
    Float cuts[256];
    std::size_t n_cuts;  // how many of the latter there are
};

inline constexpr std::size_t kStripFeatures = 16;
inline constexpr std::size_t kMaxStripCuts = 8;  // of a feature

/// Cuts of the features of a strip: the first of each, the second of each and so on, ascending, then infinity.
template <class Float>
struct alignas(64) StripCuts {
    Float cuts[kMaxStripCuts][kStripFeatures];
    std::size_t n_cuts = 0;  // of the feature with the most
};

/// A row's values begin at rows, rows + stride, ... The bin of feature k in row i goes to out[k * out_stride + i]: 0 if
/// the value is NaN, else 1 + the number of cuts below it. What is written behind the last row, up to a multiple of
/// sixteen, does not matter.
template <class Float>
using MapStrip = void (*)(const std::byte* rows, std::ptrdiff_t stride, std::size_t n, const StripCuts<Float>& cuts,
                          std::size_t out_stride, Bin* out);

struct BinningKernels {
    // Bins of n values at data, data + stride, ...: 0 if NaN, else 1 + the number of cuts below the value.
    void (*map_float)(const std::byte* data, std::ptrdiff_t stride, std::size_t n, const CutTable<float>& cuts,
                      Bin* out);
    void (*map_double)(const std::byte* data, std::ptrdiff_t stride, std::size_t n, const CutTable<double>& cuts,
                       Bin* out);
    MapStrip<float> map_strip_float;
    MapStrip<double> map_strip_double;
};

namespace generic {
BinningKernels binning_kernels();
}
namespace avx2 {
BinningKernels binning_kernels();
}
namespace avx512 {
BinningKernels binning_kernels();
}
namespace neon {
BinningKernels binning_kernels();
}

}  // namespace coterie
