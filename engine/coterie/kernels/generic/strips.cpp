#include "coterie/kernels/strips.hpp"

#include <cstring>

namespace coterie::generic {
namespace {

template <class Float>
void map_rows(const std::byte* rows, std::ptrdiff_t stride, std::size_t n, const StripCuts<Float>& cuts,
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

void map_strip(const std::byte* rows, std::ptrdiff_t stride, std::size_t n, const StripCuts<float>& cuts,
               std::size_t out_stride, Bin* out) {
    map_rows(rows, stride, n, cuts, out_stride, out);
}

void map_strip(const std::byte* rows, std::ptrdiff_t stride, std::size_t n, const StripCuts<double>& cuts,
               std::size_t out_stride, Bin* out) {
    map_rows(rows, stride, n, cuts, out_stride, out);
}

}  // namespace coterie::generic
