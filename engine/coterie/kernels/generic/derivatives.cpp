// kernels/generic/derivatives.cpp: loops that compilers vectorise, for the processor that every user has.
#include "coterie/kernels/derivatives.hpp"

#include <bit>
#include <cmath>

namespace coterie::generic {
namespace {

#include "coterie/kernels/shared/derivatives.inl"

}  // namespace

LossKernels loss_kernels() {
    return {.log_loss = log_loss,
            .squared_error = squared_error,
            .log_sum_exp = log_sum_exp,
            .softmax = softmax,
            .softmax_direction = softmax_direction};
}

RoundingKernels rounding_kernels() { return {.sizes = sizes, .sum_sizes = sum_sizes, .round_pairs = round_pairs}; }

SamplingKernels sampling_kernels() { return {.row_sizes = row_sizes, .draw = draw}; }

}  // namespace coterie::generic
