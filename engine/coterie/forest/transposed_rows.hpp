// forest/transposed_rows.hpp: the rows of a subtree, column by column, and their weights, bit by bit
// (kernels/row_sets.hpp).
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "coterie/base/buffer.hpp"
#include "coterie/binning/ranks.hpp"
#include "coterie/kernels/kernels.hpp"

namespace coterie::sums {

inline std::size_t words_of(std::size_t n_rows) { return (n_rows + kSetRows - 1) / kSetRows; }

/// The first n rows are in the set, others are not.
inline void fill_set(RowSet* set, std::size_t n_words, std::size_t n) {
    std::fill_n(set, n_words, RowSet{0});
    std::fill_n(set, n / kSetRows, ~RowSet{0});
    if (n % kSetRows != 0) set[n / kSetRows] = ~RowSet{0} >> (kSetRows - n % kSetRows);
}

/// Weights of rows of two classes; keeps its memory for the next ones.
class WeightSets {
public:
    /// weight_of(i) is the weight of row i; rows from `second` on are of the second class.
    template <class WeightOf>
    SetWeights weigh(std::size_t n, std::size_t second, WeightOf weight_of) {
        std::uint32_t all = 0;
        for (std::size_t i = 0; i < n; ++i) all |= weight_of(i);
        const auto n_bits = static_cast<std::size_t>(std::bit_width(all));
        const std::size_t n_words = words_of(n);
        if (weight_.size() < n_bits * n_words) weight_.resize(n_bits * n_words);
        for (std::size_t word = 0; word < n_words; ++word) {
            const std::size_t first = word * kSetRows;
            const std::size_t n_now = std::min(n - first, kSetRows);
            for (std::size_t bit = 0; bit < n_bits; ++bit) {
                RowSet own = 0;
                for (std::size_t i = 0; i < n_now; ++i) own |= RowSet{weight_of(first + i) >> bit & 1} << i;
                weight_[bit * n_words + word] = own;
            }
        }
        return {weight_.data(), n_bits, second};
    }

private:
    Buffer<RowSet> weight_;
};

/// Columns of the codes of some rows; keeps its memory for the next ones.
class TransposedRows {
public:
    explicit TransposedRows(std::size_t n_features) : columns_(n_features) {}

    TransposedCodes codes() const { return {columns_.data(), n_words_}; }

    void transpose(const Code* codes, std::size_t stride, std::span<const RowIndex> rows) {
        n_words_ = words_of(rows.size());
        // An odd number of words: columns whose lines compete for the same sets of a cache would be transposed
        // slowly.
        const std::size_t column_stride = (n_words_ | 1) * kSetRows;
        const std::size_t room = (columns_.size() + 7) / 8 * 8 * column_stride;
        if (transposed_.size() < room) transposed_.resize(room);
        for (std::size_t feature = 0; feature < columns_.size(); ++feature)
            columns_[feature] = transposed_.data() + feature * column_stride;
        kernels().row_set.transpose_codes(codes, stride, rows.data(), rows.size(), columns_.size(), transposed_.data(),
                                          column_stride);
    }

    /// Levels of a nominal feature become ranks.
    void rank(FeatureIndex feature, const std::uint16_t* ranks, std::size_t n) {
        Code* const own = transposed_.data() + (columns_[feature] - transposed_.data());
        for (std::size_t i = 0; i < n; ++i) own[i] = ranks[own[i]];
    }

private:
    std::size_t n_words_ = 0;
    Buffer<Code> transposed_;
    std::vector<const Code*> columns_;
};

}  // namespace coterie::sums
