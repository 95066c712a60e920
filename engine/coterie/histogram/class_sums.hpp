// histogram/class_sums.hpp: the weight of each class in each bin, as whole numbers.
//
// Words
//   amount   a row's weight in fixed point, or the difference to what it was: modulo 2^64 both are added
//   sums     a number for each bundle, class and code of the bundle
//   tile     neighbouring bundles whose sums, of all classes, fit the first-level cache together
#pragma once

#include <span>
#include <vector>

#include "coterie/binning/binned_matrix.hpp"

namespace coterie {

using ClassIndex = std::uint16_t;
using Amount = std::uint64_t;

class ClassSums {
public:
    ClassSums(const BinnedMatrix& matrix, std::size_t n_classes);

    std::size_t n_classes() const { return n_classes_; }
    std::size_t n_cells() const { return n_cells_; }

    /// Adds amounts[i] to the sums of row rows[i], whose class is classes[i].
    void add(std::span<const RowIndex> rows, const ClassIndex* classes, const Amount* amounts, Amount* sums) const;

    /// The sums of one feature: those of bin b and class k go to out[b * n_classes + k].
    void of_feature(FeatureIndex feature, const Amount* sums, std::vector<Amount>& out) const;

private:
    struct ClassTile {
        std::uint32_t panel;
        std::uint32_t first_byte;  // of the panel's rows
        std::uint32_t width;
        std::size_t stride;  // from bundle to bundle; those of the next class follow those of all bundles
        std::size_t offset;
    };
    struct FeatureDigit {
        std::uint32_t bundle;
        int unit;  // of the feature's digit in the bundle's code
        Bin first_bin;
    };

    const BinnedMatrix& matrix_;
    std::size_t n_classes_;
    std::size_t n_cells_ = 0;
    std::vector<ClassTile> tiles_;
    std::vector<std::size_t> bundle_offsets_;
    std::vector<std::size_t> class_strides_;  // by bundle
    std::vector<FeatureDigit> digits_;        // by feature
};

}  // namespace coterie
