// boosting/derivative_sizes.hpp: how large the derivatives of all rows are, from one pass over them.
#pragma once

#include <span>

#include "coterie/base/communicator.hpp"
#include "coterie/kernels/kernels.hpp"

namespace coterie {

/// What a pass over the derivatives of this worker's rows has seen.
struct SizesSeen {
    SizeBits gradient;
    SizeBits hessian;
    std::size_t n_rows = 0;
    bool has_hessian = false;

    void add(const SizesSeen& other);
};

/// One gradient of each row, and its hessian; an empty one means 1. On the calling thread.
SizesSeen see_sizes(std::span<const float> gradient, std::span<const float> hessian);

/// Several gradients of each row, and the hessian that they share.
SizesSeen see_sizes(std::span<const std::span<const float>> gradients, std::span<const float> hessian, int n_threads);

/// How large derivatives are, over all workers.
struct DerivativeSizes {
    std::uint64_t n_rows = 0;
    float gradient_max = 0;  // of |gradient|
    float hessian_max = 0;
    bool flat = false;      // the hessian is 1 for every row
    bool everybody = true;  // no worker has rows that take no part

    /// Refuses what is no number.
    void require_finite() const;
};

/// What the workers have seen, in one exchange.
DerivativeSizes sizes_of(const SizesSeen& seen, const Slice& slice);

/// The same, in the same exchange, of rows with these hessians, of which `everybody` takes part or not. Throws
/// InvalidInput with the first row whose hessian is negative: a rounded one has no sign. Workers refuse together.
DerivativeSizes checked_sizes(std::span<const float> hessian, const SizesSeen& seen, bool everybody,
                              const Slice& slice);

}  // namespace coterie
