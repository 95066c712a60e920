// kernels/strips.hpp: values of sixteen features that lie side by side in each row, mapped to bins together.
#pragma once

#include <cstddef>
#include <cstdint>

#include "coterie/base/types.hpp"

namespace coterie {

inline constexpr std::size_t kStripFeatures = 16;
inline constexpr std::size_t kMostStripCuts = 8;  // of a feature

/// Cuts of the features of a strip: the first of each, the second of each and so on, ascending, then infinity.
template <class Float>
struct alignas(64) StripCuts {
    Float cuts[kMostStripCuts][kStripFeatures];
    std::size_t n_cuts = 0;  // of the feature with the most
};

/// A row's values begin at rows, rows + stride, ... The bin of feature k in row i goes to out[k * out_stride + i]: 0 if
/// the value is NaN, else 1 + the number of cuts below it. What is written behind the last row, up to a multiple of
/// sixteen, does not matter.
template <class Float>
using MapStrip = void (*)(const std::byte* rows, std::ptrdiff_t stride, std::size_t n, const StripCuts<Float>& cuts,
                          std::size_t out_stride, Bin* out);

namespace generic {
void map_strip(const std::byte* rows, std::ptrdiff_t stride, std::size_t n, const StripCuts<float>& cuts,
               std::size_t out_stride, Bin* out);
void map_strip(const std::byte* rows, std::ptrdiff_t stride, std::size_t n, const StripCuts<double>& cuts,
               std::size_t out_stride, Bin* out);
}  // namespace generic
namespace avx2 {
void map_strip(const std::byte* rows, std::ptrdiff_t stride, std::size_t n, const StripCuts<float>& cuts,
               std::size_t out_stride, Bin* out);
void map_strip(const std::byte* rows, std::ptrdiff_t stride, std::size_t n, const StripCuts<double>& cuts,
               std::size_t out_stride, Bin* out);
}  // namespace avx2

}  // namespace coterie
