// kernels/avx2/shap.cpp: the shared loops, compiled for AVX2.
#include "coterie/kernels/shap.hpp"

#if defined(COTERIE_HAS_AVX2)

#include <immintrin.h>

#include <cstring>

namespace coterie::avx2 {
namespace {

#include "coterie/kernels/shared/shap.inl"

}  // namespace

ShapKernels shap_kernels() { return {.tables = shap_tables, .row = shap_row, .interactions = shap_interactions}; }

}  // namespace coterie::avx2

#endif
