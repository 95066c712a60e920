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

// What rows of a word pay.
std::uint64_t pay_of(const SetPays& pays, std::size_t n_words, std::size_t word, RowSet rows) {
    std::uint64_t sum = 0;
    for_rows(rows, 0, [&](std::size_t row) {
        std::uint64_t weight = pays.n_bits == 0;
        for (std::size_t bit = 0; bit < pays.n_bits; ++bit)
            weight |= (pays.weight[bit * n_words + word] >> row & 1) << bit;
        sum += kSetRows * word + row >= pays.second ? weight << 32 | weight : weight;
    });
    return sum;
}

void turn_codes(const std::uint16_t* codes, std::size_t stride, const std::uint32_t* rows, std::size_t n,
                std::size_t n_columns, std::uint16_t* out, std::size_t out_stride) {
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t column = 0; column < n_columns; ++column)
            out[column * out_stride + i] = codes[rows[i] * stride + column];
}

void set_ranges(const TurnedCodes& codes, const RowSet* set, const std::uint32_t* columns, std::size_t n_columns,
                CodeRanges& ranges) {
    for (std::size_t lane = 0; lane < n_columns; ++lane) {
        const std::uint16_t* const column = codes.column[columns[lane]];
        std::uint16_t least = 0xffff;
        std::uint16_t greatest = 0;
        std::uint16_t known = 0xffff;
        for (std::size_t word = 0; word < codes.n_words; ++word)
            for_rows(set[word], kSetRows * word, [&](std::size_t row) {
                least = std::min(least, column[row]);
                greatest = std::max(greatest, column[row]);
                known = std::min(known, static_cast<std::uint16_t>(column[row] - 1));
            });
        ranges.least[lane] = least;
        ranges.greatest[lane] = greatest;
        ranges.least_known_less_one[lane] = known;
    }
}

void sum_set(const TurnedCodes& codes, const RowSet* set, const std::uint32_t* columns, std::size_t n_columns,
             const SetCuts& cuts, const SetPays& pays, SetSums& sums, RowSet* left) {
    for (std::size_t lane = 0; lane < n_columns; ++lane) {
        const std::uint16_t* const column = codes.column[columns[lane]];
        sums.pay[lane] = 0;
        sums.n_rows[lane] = 0;
        for (std::size_t word = 0; word < codes.n_words; ++word) {
            const RowSet own = left_of(column + kSetRows * word, set[word], cuts.shift[lane], cuts.last[lane]);
            sums.pay[lane] += pay_of(pays, codes.n_words, word, own);
            sums.n_rows[lane] += static_cast<std::uint32_t>(count(own));
            if (left != nullptr) left[lane * codes.n_words + word] = own;
        }
    }
}

void part_set(const std::uint16_t* column, std::size_t n_words, std::uint16_t shift, std::uint16_t last, RowSet* set,
              RowSet* left) {
    for (std::size_t word = 0; word < n_words; ++word) {
        left[word] = left_of(column + kSetRows * word, set[word], shift, last);
        set[word] &= ~left[word];
    }
}

std::size_t set_rows(const RowSet* set, std::size_t n_words, const std::uint32_t* rows, std::uint32_t* out) {
    std::size_t n = 0;
    for (std::size_t word = 0; word < n_words; ++word)
        for_rows(set[word], kSetRows * word, [&](std::size_t row) { out[n++] = rows[row]; });
    return n;
}

void set_codes(const std::uint16_t* column, RowSet set, std::uint16_t* out) {
    for_rows(set, 0, [&](std::size_t row) { *out++ = column[row]; });
}

bool draw_cuts(const TurnedCodes& codes, RowSet set, const std::uint32_t* columns, std::size_t n_columns,
               const std::uint32_t* shares, const SetPays& pays, std::uint64_t total, DrawnCut& best) {
    CodeRanges ranges;
    set_ranges(codes, &set, columns, n_columns, ranges);
    for (std::size_t lane = 0; lane < n_columns; ++lane)
        if (ranges.least[lane] == 0) return false;
    best.found = false;
    const auto all = static_cast<std::int64_t>(total & 0xffffffffu);
    const auto second = static_cast<std::int64_t>(total >> 32);
    for (std::size_t lane = 0; lane < n_columns; ++lane) {
        const std::uint64_t span = ranges.greatest[lane] - std::uint64_t{ranges.least[lane]};
        if (span == 0) continue;
        best.varies = true;
        const auto last = static_cast<std::uint16_t>(ranges.least[lane] + (shares[lane] * span >> 32));
        const RowSet left = left_of(codes.column[columns[lane]], set, 1, last);
        const std::uint64_t pay = pay_of(pays, 1, 0, left);
        const auto weight = static_cast<std::int64_t>(pay & 0xffffffffu);
        const auto distance = static_cast<double>(static_cast<std::int64_t>(pay >> 32) * all - weight * second);
        const double gain = distance * distance / static_cast<double>(weight * (all - weight));
        if (!(gain > best.gain)) continue;
        best.gain = gain;
        best.lane = static_cast<std::uint32_t>(lane);
        best.last = last;
        best.pay = pay;
        best.left = left;
        best.found = true;
    }
    return true;
}

}  // namespace

RowSetKernels row_set_kernels() {
    return {.transpose_codes = turn_codes,
            .code_ranges = set_ranges,
            .sum_left = sum_set,
            .partition = part_set,
            .rows_of = set_rows,
            .codes_of = set_codes,
            .draw_cuts = draw_cuts};
}

}  // namespace coterie::generic
