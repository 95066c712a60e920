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

/// Multinomial log loss along a direction r over the classes, for a tree that serves all of them: with p the shares of
/// the classes, gradient = sum of r p - r[y], hessian = sum of r^2 p - (sum of r p)^2.
struct DirectionRows {
    std::span<const float> scores;     // class-major
    std::span<const float> direction;  // of each class
    std::span<const std::int32_t> y;
    std::span<const float> weight;
    int n_threads = 1;
};

/// What the derivatives of a row are written to, and what those of single classes need of it.
struct DirectionDerivatives {
    std::span<float> log_sum;  // of the exponentials of the row's scores
    std::span<float> gradient;
    std::span<float> hessian;
};
void softmax_direction_derivatives(const DirectionRows& rows, const DirectionDerivatives& out);

}  // namespace coterie
