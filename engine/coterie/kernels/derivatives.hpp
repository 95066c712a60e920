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

inline constexpr std::int32_t kMaxScaled = 1 << 20;  // of a value in a sum of sizes

inline constexpr std::uint32_t kRowFactor = 0x9e3779b1u;

/// The salt with which the rows of a slice have the hashes that they have in the table of all rows: row r of the slice
/// is row first_row + r there. Rows 2^32 apart share a hash, which no sum over so many notices.
constexpr std::uint32_t salt_of_slice(std::uint32_t salt, std::uint64_t first_row) {
    return salt + static_cast<std::uint32_t>(first_row) * kRowFactor;
}

/// 32 random bits for a row: a finaliser good enough to decide draws and roundings, cheap enough for a vector lane.
constexpr std::uint32_t hash_of_row(std::uint32_t row, std::uint32_t salt) {
    std::uint32_t x = row * kRowFactor + salt;
    x ^= x >> 16;
    x *= 0x85ebca6bu;
    x ^= x >> 13;
    x *= 0xc2b2ae35u;
    x ^= x >> 16;
    return x;
}

/// Raw predictions, class after class: that of class k and row i is values[k * stride + i].
struct ClassScores {
    const float* values;
    std::size_t n_classes;
    std::size_t stride;
};

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
    // Multinomial: derivatives along one direction over the classes, and the log of the sum of exp(score_k).
    void (*softmax_direction)(const ClassScores& scores, const std::int32_t* y, const float* direction,
                              const float* weight, std::size_t n, float* log_sum, float* gradient, float* hessian);
};

/// The bits of the largest |value|, which are above those of any number if one is none; and whether a value has a sign,
/// which -0 has as well.
struct SizeBits {
    std::uint32_t largest = 0;
    std::uint32_t signs = 0;  // 1 or 0
};

/// Derivatives to pairs, and what the choice of scales needs to know of them.
struct RoundingKernels {
    SizeBits (*sizes)(const float* values, std::size_t n);
    // The sum of the whole parts of |value| * scale, each of which is at most kMaxScaled.
    std::uint64_t (*sum_sizes)(const float* values, std::size_t n, float scale);
    // A null hessian means 1. Rows are first_row + [0, n), or those given.
    void (*round_pairs)(const float* gradient, const float* hessian, const RowIndex* rows, RowIndex first_row,
                        std::size_t n, const Rounding& rounding, Pair* out);
};

/// Sampling: sqrt(gradient^2 + weight * hessian^2) of each row; and who is drawn (1) or not (0), with chance
/// min(1, size / limit), and how many. Rows are first_row + [0, n), or those given.
struct SamplingKernels {
    void (*row_sizes)(const float* gradient, const float* hessian, std::size_t n, float weight, float* sizes);
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
