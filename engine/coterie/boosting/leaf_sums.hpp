// boosting/leaf_sums.hpp: the sums of derivatives that the values of leaves are made of.
//
// A tree grows by sums of rounded derivatives. The values of its leaves come from the same sums; on small tables from
// the unrounded derivatives of the same rows; and if the tree saw a sample, or has several outputs, from the unrounded
// derivatives of all rows, each added to the leaf that it reaches.
#pragma once

#include <span>
#include <vector>

#include "coterie/base/fixed_point.hpp"
#include "coterie/boosting/leaf_values.hpp"
#include "coterie/boosting/open_leaf.hpp"
#include "coterie/boosting/rounded_pairs.hpp"
#include "coterie/boosting/row_router.hpp"
#include "coterie/boosting/row_sample.hpp"

namespace coterie {

/// The sums that the tree grew by.
NodeSums rounded_sums(const OpenLeaf& leaf, const TreeFacts& facts);

/// The units of unrounded sums (base/fixed_point.hpp), which any grouping of the rows adds up to the same bits.
struct SumUnits {
    FixedPoint gradient;
    FixedPoint hessian;

    SumUnits() = default;
    explicit SumUnits(const DerivativeSizes& sizes)
        : gradient(static_cast<double>(sizes.gradient_max), sizes.n_rows),
          hessian(static_cast<double>(sizes.hessian_max), sizes.n_rows) {}
};

/// Sums in fixed point.
struct FixedSums {
    std::uint64_t gradient = 0;
    std::uint64_t hessian = 0;
};

/// The sums of the unrounded derivatives of the leaf's rows that this worker has.
FixedSums exact_sums(const RowRange& rows, const RowPartition& partition, const Derivatives& derivatives,
                     const SumUnits& units);

/// The sums of a leaf's rows for one or more outputs, which share the hessian.
class RoutedSums {
public:
    RoutedSums(std::size_t n_leaves, std::size_t n_outputs, const SumUnits& units)
        : n_outputs_(n_outputs), units_(units), sums_(n_leaves * (n_outputs + 2), 0) {}

    double gradient(std::size_t leaf, std::size_t output) const {
        return units_.gradient.value_of(sums_[leaf * width() + output]);
    }
    double hessian(std::size_t leaf) const { return units_.hessian.value_of(sums_[leaf * width() + n_outputs_]); }
    std::uint32_t n_rows(std::size_t leaf) const {  // of rows with a hessian above zero
        return static_cast<std::uint32_t>(sums_[leaf * width() + n_outputs_ + 1]);
    }

    FixedSums fixed(std::size_t leaf, std::size_t output) const {
        return {.gradient = sums_[leaf * width() + output], .hessian = sums_[leaf * width() + n_outputs_]};
    }

    void add(std::size_t leaf, std::span<const std::span<const float>> gradients, float hessian, std::size_t row) {
        std::uint64_t* const own = sums_.data() + leaf * width();
        for (std::size_t k = 0; k < n_outputs_; ++k) own[k] += units_.gradient(static_cast<double>(gradients[k][row]));
        own[n_outputs_] += units_.hessian(static_cast<double>(hessian));
        own[n_outputs_ + 1] += hessian > 0;
    }
    void add(const RoutedSums& other) {
        for (std::size_t i = 0; i < sums_.size(); ++i) sums_[i] += other.sums_[i];
    }
    void reduce(const Slice& slice) { slice.sum(sums_); }

private:
    std::size_t width() const { return n_outputs_ + 2; }

    std::size_t n_outputs_;
    SumUnits units_;
    std::vector<std::uint64_t> sums_;  // by leaf: gradients, hessian, rows
};

/// The rows whose derivatives are added up.
struct RoutedRows {
    std::span<const std::span<const float>> gradients;
    std::span<const float> hessian;  // empty: 1 for every row
    std::span<const RowIndex> rows;  // empty: all
    bool nobody = false;             // no row at all
    const LeafOfRow& leaf_of_row;
};

/// Adds every row of all workers to its leaf.
RoutedSums sum_by_leaf(const RoutedRows& routed, const SumUnits& units, const Slice& slice, int n_threads);

/// Sets the covers and numbers of rows of leaves, and of the nodes above them.
void set_covers(Tree& tree, std::span<const NodeIndex> leaves, const RoutedSums& sums);

}  // namespace coterie
