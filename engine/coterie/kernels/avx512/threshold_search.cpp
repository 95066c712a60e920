// kernels/avx512/threshold_search.cpp: a value is compared with all thresholds from its cell on, eight to a vector.
#include "coterie/kernels/threshold_search.hpp"

#if defined(COTERIE_HAS_AVX2)

#include <immintrin.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "coterie/kernels/kernels.hpp"

namespace coterie::avx512 {
namespace {

constexpr std::size_t kLanes = 8;

// What comes behind a cell is not below the value, and what comes before it is: vectors may reach beyond either end.
template <std::size_t kVectors>
void code_as(const ThresholdCells& cells, const double* values, std::size_t n, std::uint16_t* out) {
    const std::uint32_t last_start = cells.n - static_cast<std::uint32_t>(kVectors * kLanes);
    for (std::size_t i = 0; i < n; ++i) {
        const std::uint32_t start = std::min(cells.begin[cells.cell_of(values[i])], last_start);
        const __m512d value = _mm512_set1_pd(values[i]);
        unsigned below = start + 1;
        for (std::size_t v = 0; v < kVectors; ++v) {
            const __m512d thresholds = _mm512_loadu_pd(cells.thresholds + start + v * kLanes);
            below += static_cast<unsigned>(std::popcount(unsigned{_mm512_cmp_pd_mask(thresholds, value, _CMP_LT_OQ)}));
        }
        out[i] = std::isnan(values[i]) ? 0 : static_cast<std::uint16_t>(below);
    }
}

void code(const ThresholdCells& cells, const double* values, std::size_t n, std::uint16_t* out) {
    const std::size_t n_vectors = (cells.fullest + kLanes - 1) / kLanes;
    if (n_vectors * kLanes > cells.n) return generic_kernels().thresholds.code(cells, values, n, out);
    switch (n_vectors) {
        case 1: return code_as<1>(cells, values, n, out);
        case 2: return code_as<2>(cells, values, n, out);
        case 3: return code_as<3>(cells, values, n, out);
        case 4: return code_as<4>(cells, values, n, out);
        default: return generic_kernels().thresholds.code(cells, values, n, out);
    }
}

}  // namespace

ThresholdKernels threshold_kernels() { return {.code = code}; }

}  // namespace coterie::avx512

#endif
