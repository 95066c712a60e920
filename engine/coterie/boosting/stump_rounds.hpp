// boosting/stump_rounds.hpp: AdaBoost on stumps: the best stump for the weights as they are, and the weights after it.
//
// Words
//   weight   of a row, a float that every counted stump multiplies by a factor
//   amount   the same in fixed point, which is what histograms sum: all amounts together are about 2^52
//   score    what the stumps so far say of a row: the difference of two classes, or a number for each class
// Steps of a round
//   1. `find` the best stump. All it needs is in the histogram, so no row is looked at.
//   2. The caller looks at the weight of each class on both sides (`sums`), and decides on factors and votes.
//   3. `count` the stump: one pass over the rows. Rows whose factor is 1 leave the histogram alone.
// Everything that is summed is a whole number, amounts and wrong weights (base/fixed_point.hpp) alike: the same bits
// for any number of threads, and for any number of workers, each with a slice of the rows. The histogram, of all
// workers' rows, is made anew only when amounts have grown too large, or too small.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "coterie/base/communicator.hpp"
#include "coterie/base/fixed_point.hpp"
#include "coterie/histogram/class_sums.hpp"
#include "coterie/split/stump_split.hpp"

namespace coterie {

/// What a counted stump does to a row of class k on side s, which is 0 or 1.
struct StumpEffect {
    std::span<const double> factors;  // of the weight, at [s * n_classes + k]; finite and >= 0
    std::span<const double> votes;    // added to the scores, at [s * n_scores + score]
};

struct RoundTotals {
    double weight;  // of all rows, in units of 2^exponent
    int exponent;
    double wrong_weight;  // first weights of the rows whose score is wrong; rows have 1 without weights
};

class StumpRounds {
public:
    /// An empty weight means 1 for every row. Classes are below n_classes, of which there are at least 2. Workers that
    /// each have a slice of the rows find the same stumps, if each makes the same calls.
    StumpRounds(std::shared_ptr<const BinnedMatrix> matrix, std::span<const std::int32_t> classes,
                std::size_t n_classes, std::span<const double> weight, StumpScore score, int n_threads,
                const Slice& slice = {});

    std::size_t n_classes() const { return sums_.n_classes(); }
    std::size_t n_scores() const { return n_classes() == 2 ? 1 : n_classes(); }
    std::size_t n_rows() const { return matrix_->n_rows(); }
    const std::vector<double>& weights() const { return weights_; }

    /// The best stump for the weights as they are, or for others.
    Stump find() const;
    Stump find_for(std::span<const double> weights) const;

    /// The weight of class k on side s, at [s * n_classes + k].
    std::vector<double> sums(const Stump& stump) const;

    /// Multiplies the weights, adds to the scores, and says what there is then.
    RoundTotals count(const Stump& stump, const StumpEffect& effect);

private:
    struct Batch;   // rows of a chunk that have something to add
    struct Change;  // what happens to the rows

    double checked_sum(std::span<const double> weights) const;
    Amount total_of(const std::vector<Amount>& cells) const;
    Stump best(const std::vector<Amount>& cells) const;
    template <class Fill>
    void add_chunks(std::vector<Amount>& cells, Fill fill) const;
    std::vector<Amount> cells_of(std::span<const double> weights, double unit) const;
    void change_two(const Change& change, std::size_t begin, std::size_t end, Batch& batch);
    void change_many(const Change& change, std::size_t begin, std::size_t end, Batch& batch);
    std::uint64_t wrong_weight(std::size_t begin, std::size_t end) const;

    std::shared_ptr<const BinnedMatrix> matrix_;
    ClassSums sums_;
    StumpScore score_;
    int n_threads_;
    Slice slice_;
    std::vector<ClassIndex> classes_;
    std::vector<double> first_weights_;
    FixedPoint first_units_;  // in which first weights are summed
    std::vector<double> weights_;
    std::vector<double> scores_;
    std::vector<Amount> cells_;
    double unit_ = 1;   // amounts are weights times this, a power of two
    int exponent_ = 0;  // weights have been halved so many times
};

}  // namespace coterie
