// boosting/leaf_sums.hpp: the sums of derivatives that the values of leaves are made of.
//
// A tree grows by sums of rounded derivatives. The values of its leaves come from the same sums; on small tables from
// the unrounded derivatives of the same rows; and if the tree saw a sample, or has several outputs, from the unrounded
// derivatives of all rows, each added to the leaf that it reaches.
#pragma once

#include <span>
#include <vector>

#include "coterie/boosting/leaf_values.hpp"
#include "coterie/boosting/open_leaf.hpp"
#include "coterie/boosting/row_router.hpp"
#include "coterie/boosting/row_sample.hpp"

namespace coterie {

/// The sums that the tree grew by.
NodeSums rounded_sums(const OpenLeaf& leaf, const TreeFacts& facts);

/// The sums of the unrounded derivatives of the leaf's rows, added in their order.
NodeSums exact_sums(const OpenLeaf& leaf, const RowPartition& partition, const Derivatives& derivatives);

/// The sums of a leaf's rows for one or more outputs, which share the hessian.
class RoutedSums {
public:
    RoutedSums(std::size_t n_leaves, std::size_t n_outputs)
        : n_outputs_(n_outputs), sums_(n_leaves * (n_outputs + 2), 0.0) {}

    double gradient(std::size_t leaf, std::size_t output) const { return sums_[leaf * width() + output]; }
    double hessian(std::size_t leaf) const { return sums_[leaf * width() + n_outputs_]; }
    std::uint32_t n_rows(std::size_t leaf) const {  // of rows with a hessian above zero
        return static_cast<std::uint32_t>(sums_[leaf * width() + n_outputs_ + 1]);
    }

    void add(std::size_t leaf, std::span<const std::span<const float>> gradients, float hessian, std::size_t row) {
        double* const own = sums_.data() + leaf * width();
        for (std::size_t k = 0; k < n_outputs_; ++k) own[k] += static_cast<double>(gradients[k][row]);
        own[n_outputs_] += static_cast<double>(hessian);
        own[n_outputs_ + 1] += hessian > 0;
    }
    void add(const RoutedSums& other) {
        for (std::size_t i = 0; i < sums_.size(); ++i) sums_[i] += other.sums_[i];
    }

private:
    std::size_t width() const { return n_outputs_ + 2; }

    std::size_t n_outputs_;
    std::vector<double> sums_;  // by leaf: gradients, hessian, rows
};

/// Adds every row to its leaf, in chunks of rows, so that threads do not matter. Empty rows: all; an empty hessian:
/// 1 for every row.
RoutedSums sum_by_leaf(std::span<const std::span<const float>> gradients, std::span<const float> hessian,
                       std::span<const RowIndex> rows, const LeafOfRow& leaf_of_row, int n_threads);

/// Sets the covers and numbers of rows of leaves, and of the nodes above them.
void set_covers(Tree& tree, std::span<const NodeIndex> leaves, const RoutedSums& sums);

}  // namespace coterie
