// loss/derivatives.hpp: gradients and hessians of the built-in losses, row by row, on all threads.
#pragma once

#include <span>

#include "coterie/base/types.hpp"

namespace coterie {

/// One row each; an empty weight means 1. Scores and targets are those of the loss's own scale.
struct LossRows {
    std::span<const float> score;
    std::span<const float> y;
    std::span<const float> weight;
    int n_threads = 1;
};

/// y in {0, 1}, score = log odds: gradient = p - y, hessian = p (1 - p).
void log_loss_derivatives(const LossRows& rows, std::span<float> gradient, std::span<float> hessian);

/// gradient = score - y; the hessian is the weight, so none is written.
void squared_error_derivatives(const LossRows& rows, std::span<float> gradient);

/// Class-major scores (n_classes * n_rows) to the log of the sum of their exponentials, per row.
void log_sum_exp(std::span<const float> scores, std::size_t n_classes, std::span<float> out, int n_threads);

/// Multinomial log loss for one class: gradient = p - [y is the class], hessian = p (1 - p).
struct SoftmaxRows {
    std::span<const float> score;  // of the class
    std::span<const float> log_sum;
    std::span<const std::int32_t> y;
    std::span<const float> weight;
    std::int32_t which;
    int n_threads = 1;
};
void softmax_derivatives(const SoftmaxRows& rows, std::span<float> gradient, std::span<float> hessian);

}  // namespace coterie
