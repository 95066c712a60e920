// kernels/avx512/split_scan.cpp: cells are subtracted eight at a time.
#include "coterie/kernels/split_scan.hpp"

#if defined(COTERIE_HAS_AVX2)

#include <immintrin.h>

namespace coterie::avx512 {
namespace {

void subtract(Cell* from, const Cell* what, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) from[i] -= what[i];
}

}  // namespace

SplitKernels split_kernels() {
    SplitKernels all = avx2::split_kernels();
    all.subtract = subtract;
    return all;
}

}  // namespace coterie::avx512

#endif
