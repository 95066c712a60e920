// kernels/derivatives.hpp: losses, and what becomes of their derivatives before a tree is grown: row by row, in loops
// without branches.
#pragma once

#include <cstddef>
#include <cstdint>

#include "coterie/kernels/gradient_pairs.hpp"

namespace coterie {

/// How to round derivatives to pairs.
struct Rounding {
    float gradient_scale;
    float hessian_scale;
    std::uint32_t salt;
};

struct PairSums {
    double gradient_mass = 0;  // sum of |gradient|
    double hessian_mass = 0;
    float gradient_max = 0;  // of |gradient|
    float hessian_max = 0;
};

struct MassBelow {
    double mass = 0;    // of the values below the limit
    std::size_t n = 0;  // how many there are
};

/// 32 random bits for a row: a finaliser good enough to decide draws and roundings, cheap enough for a vector lane.
constexpr std::uint32_t hash_of_row(std::uint32_t row, std::uint32_t salt) {
    std::uint32_t x = row * 0x9e3779b1u + salt;
    x ^= x >> 16;
    x *= 0x85ebca6bu;
    x ^= x >> 13;
    x *= 0xc2b2ae35u;
    x ^= x >> 16;
    return x;
}

/// Gradient and hessian of each row; weight may be null.
struct LossKernels {
    void (*log_loss)(const float* score, const float* y, const float* weight, std::size_t n, float* gradient,
                     float* hessian);
    void (*squared_error)(const float* score, const float* y, const float* weight, std::size_t n, float* gradient);
    // Multinomial: log of the sum of exp(score_k) of each row, then the derivatives for one class.
    void (*log_sum_exp)(const float* scores, std::size_t n_classes, std::size_t class_stride, std::size_t n,
                        float* out);
    void (*softmax)(const float* score, const float* log_sum, const std::int32_t* y, std::int32_t which,
                    const float* weight, std::size_t n, float* gradient, float* hessian);
};

/// Derivatives to pairs, and what the choice of scales needs to know of them. An empty hessian means 1.
struct RoundingKernels {
    PairSums (*sum_pairs)(const float* gradient, const float* hessian, std::size_t n);
    void (*round_pairs)(const float* gradient, const float* hessian, std::size_t n, RowIndex first_row,
                        const Rounding& rounding, Pair* out);
};

/// Sampling: sqrt(gradient^2 + weight * hessian^2) of each row; the mass of the sizes below a limit; and who is drawn
/// (1) or not (0), with chance min(1, size / limit), and how many. Rows are first_row + [0, n), or those given.
struct SamplingKernels {
    void (*row_sizes)(const float* gradient, const float* hessian, std::size_t n, float weight, float* sizes);
    MassBelow (*mass_below)(const float* sizes, std::size_t n, float limit);
    std::size_t (*draw)(const float* sizes, float limit, const RowIndex* rows, RowIndex first_row, std::size_t n,
                        std::uint32_t salt, std::uint8_t* drawn);
};

namespace generic {
LossKernels loss_kernels();
RoundingKernels rounding_kernels();
SamplingKernels sampling_kernels();
}  // namespace generic
namespace avx2 {
LossKernels loss_kernels();
RoundingKernels rounding_kernels();
SamplingKernels sampling_kernels();
}  // namespace avx2
namespace avx512 {
LossKernels loss_kernels();
RoundingKernels rounding_kernels();
SamplingKernels sampling_kernels();
}  // namespace avx512

}  // namespace coterie
