// kernels/generic/shap.cpp: the shared loops, in plain C++.
#include "coterie/kernels/shap.hpp"

#include <cstring>

namespace coterie::generic {
namespace {

#include "coterie/kernels/shared/shap.inl"

}  // namespace

ShapKernels shap_kernels() { return {.tables = shap_tables, .row = shap_row, .interactions = shap_interactions}; }

}  // namespace coterie::generic
