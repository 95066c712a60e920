// kernels/generic/row_sets.cpp: what the kernels of row sets mean.
#include "coterie/kernels/row_sets.hpp"

#include <algorithm>
#include <bit>

namespace coterie::generic {
namespace {

// Calls visit(row) for the rows of a word, which begin at `first`.
template <class Visit>
void for_rows(RowSet word, std::size_t first, Visit visit) {
    for (; word != 0; word &= word - 1) visit(first + static_cast<std::size_t>(std::countr_zero(word)));
}

RowSet left_of(const std::uint16_t* codes, RowSet word, std::uint16_t shift, std::uint16_t last) {
    RowSet left = 0;
    const auto span = static_cast<std::uint16_t>(last - shift);
    for_rows(word, 0,
             [&](std::size_t row) { left |= RowSet{static_cast<std::uint16_t>(codes[row] - shift) <= span} << row; });
    return left;
}

std::uint64_t count(RowSet word) { return static_cast<std::uint64_t>(std::popcount(word)); }

// The statistic of rows of a word.
std::uint64_t statistic_of(const SetWeights& weights, std::size_t n_words, std::size_t word, RowSet rows) {
    std::uint64_t sum = 0;
    for_rows(rows, 0, [&](std::size_t row) {
        std::uint64_t weight = weights.n_bits == 0;
        for (std::size_t bit = 0; bit < weights.n_bits; ++bit)
            weight |= (weights.weight[bit * n_words + word] >> row & 1) << bit;
        sum += kSetRows * word + row >= weights.second ? weight << 32 | weight : weight;
    });
    return sum;
}

void transpose_codes(const std::uint16_t* codes, std::size_t stride, const std::uint32_t* rows, std::size_t n,
                     std::size_t n_columns, std::uint16_t* out, std::size_t out_stride) {
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t column = 0; column < n_columns; ++column)
            out[column * out_stride + i] = codes[rows[i] * stride + column];
}

void code_ranges(const TransposedCodes& codes, const RowSet* set, const std::uint32_t* columns, std::size_t n_columns,
                 CodeRanges& ranges) {
    for (std::size_t k = 0; k < n_columns; ++k) {
        const std::uint16_t* const column = codes.column[columns[k]];
        std::uint16_t least = 0xffff;
        std::uint16_t greatest = 0;
        std::uint16_t known = 0xffff;
        for (std::size_t word = 0; word < codes.n_words; ++word)
            for_rows(set[word], kSetRows * word, [&](std::size_t row) {
                least = std::min(least, column[row]);
                greatest = std::max(greatest, column[row]);
                known = std::min(known, static_cast<std::uint16_t>(column[row] - 1));
            });
        ranges.least[k] = least;
        ranges.greatest[k] = greatest;
        ranges.least_known_less_one[k] = known;
    }
}

void sum_left(const TransposedCodes& codes, const RowSet* set, const std::uint32_t* columns, std::size_t n_columns,
              const SetCuts& cuts, const SetWeights& weights, SetSums& sums, RowSet* left) {
    for (std::size_t k = 0; k < n_columns; ++k) {
        const std::uint16_t* const column = codes.column[columns[k]];
        sums.statistic[k] = 0;
        sums.n_rows[k] = 0;
        for (std::size_t word = 0; word < codes.n_words; ++word) {
            const RowSet own = left_of(column + kSetRows * word, set[word], cuts.shift[k], cuts.last[k]);
            sums.statistic[k] += statistic_of(weights, codes.n_words, word, own);
            sums.n_rows[k] += static_cast<std::uint32_t>(count(own));
            if (left != nullptr) left[k * codes.n_words + word] = own;
        }
    }
}

void partition(const std::uint16_t* column, std::size_t n_words, std::uint16_t shift, std::uint16_t last, RowSet* set,
               RowSet* left) {
    for (std::size_t word = 0; word < n_words; ++word) {
        left[word] = left_of(column + kSetRows * word, set[word], shift, last);
        set[word] &= ~left[word];
    }
}

std::size_t rows_of(const RowSet* set, std::size_t n_words, const std::uint32_t* rows, std::uint32_t* out) {
    std::size_t n = 0;
    for (std::size_t word = 0; word < n_words; ++word)
        for_rows(set[word], kSetRows * word, [&](std::size_t row) { out[n++] = rows[row]; });
    return n;
}

void codes_of(const std::uint16_t* column, RowSet set, std::uint16_t* out) {
    for_rows(set, 0, [&](std::size_t row) { *out++ = column[row]; });
}

bool draw_cuts(const TransposedCodes& codes, RowSet set, const std::uint32_t* columns, std::size_t n_columns,
               const std::uint32_t* shares, const SetWeights& weights, std::uint64_t total, DrawnCut& best) {
    CodeRanges ranges;
    code_ranges(codes, &set, columns, n_columns, ranges);
    for (std::size_t k = 0; k < n_columns; ++k)
        if (ranges.least[k] == 0) return false;
    best.found = false;
    const auto all = static_cast<std::int64_t>(total & 0xffffffffu);
    const auto second = static_cast<std::int64_t>(total >> 32);
    for (std::size_t k = 0; k < n_columns; ++k) {
        const std::uint64_t span = ranges.greatest[k] - std::uint64_t{ranges.least[k]};
        if (span == 0) continue;
        best.varies = true;
        const auto last = static_cast<std::uint16_t>(ranges.least[k] + (shares[k] * span >> 32));
        const RowSet left = left_of(codes.column[columns[k]], set, 1, last);
        const std::uint64_t statistic = statistic_of(weights, 1, 0, left);
        const auto weight = static_cast<std::int64_t>(statistic & 0xffffffffu);
        const auto distance = static_cast<double>(static_cast<std::int64_t>(statistic >> 32) * all - weight * second);
        const double gain = distance * distance / static_cast<double>(weight * (all - weight));
        if (!(gain > best.gain)) continue;
        best.gain = gain;
        best.column = static_cast<std::uint32_t>(k);
        best.last = last;
        best.statistic = statistic;
        best.left = left;
        best.found = true;
    }
    return true;
}

}  // namespace

RowSetKernels row_set_kernels() {
    return {.transpose_codes = transpose_codes,
            .code_ranges = code_ranges,
            .sum_left = sum_left,
            .partition = partition,
            .rows_of = rows_of,
            .codes_of = codes_of,
            .draw_cuts = draw_cuts};
}

}  // namespace coterie::generic
