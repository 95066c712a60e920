// boosting/row_sample.hpp: the rows that one tree sees, with what they count.
//
// Words
//   share    how many of the rows a tree sees, about
//   chance   the probability of a row to be drawn; a drawn row counts 1 / chance times, so sums are right on average
// Draws depend on the seed, on the number of the row in the whole table, and on counts over the rows of all workers:
// neither threads nor slices change them.
#pragma once

#include <span>

#include "coterie/base/buffer.hpp"
#include "coterie/base/communicator.hpp"
#include "coterie/base/types.hpp"
#include "coterie/boosting/derivative_sizes.hpp"

namespace coterie {

enum class SamplingMethod : std::uint8_t {
    none,              // every row, once
    uniform,           // each row with the same chance
    minimal_variance,  // chance in proportion to sqrt(gradient^2 + weight of hessian^2): what moves sums most is seen
                       // most
    bayesian,          // every row, with a weight from an exponential distribution
};

struct RowSampling {
    SamplingMethod method = SamplingMethod::none;
    double share = 1.0;
};

/// Derivatives of the loss at each row of the matrix.
struct Derivatives {
    std::span<const float> gradient;
    std::span<const float> hessian;  // empty: 1 for every row
    std::span<const RowIndex> rows;  // rows that take part, ascending; empty: all
    bool nobody = false;             // none of this worker's rows takes part, though those of others do

    bool everybody() const { return rows.empty() && !nobody; }
};

/// Rows in ascending order with the derivatives they count with.
struct RowSample {
    Buffer<RowIndex> rows;
    Buffer<float> gradient;
    Buffer<float> hessian;
    Buffer<std::uint8_t> drawn;  // 1 or 0 for each row that could be
    SizesSeen sizes;             // of the derivatives
};

/// Draws rows; without a method, takes those of `derivatives.rows`, which must not be empty then.
void draw_rows(const Derivatives& derivatives, const RowSampling& sampling, std::uint64_t seed, const Slice& slice,
               int n_threads, RowSample& sample);

}  // namespace coterie
