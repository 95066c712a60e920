// kernels/generic/row_sets.cpp: what the kernels of row sets mean. Codes are compared and transposed in loops of
// constant length, which compilers turn into vectors.
#include "coterie/kernels/row_sets.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "coterie/base/prefetch.hpp"

namespace coterie::generic {
namespace {

#include "coterie/kernels/shared/bits.inl"

// Calls visit(row) for the rows of a word, which begin at `first`.
template <class Visit>
void for_rows(RowSet word, std::size_t first, Visit visit) {
    for (; word != 0; word &= word - 1) visit(first + static_cast<std::size_t>(std::countr_zero(word)));
}

std::uint64_t count(RowSet word) { return count_bits(word); }

class Cut {
public:
    Cut(std::uint16_t shift, std::uint16_t last) : shift_(shift), span_(static_cast<std::uint16_t>(last - shift)) {}

    // Of the 64 codes of a word.
    RowSet left_of(const std::uint16_t* codes) const {
        std::uint8_t flags[kSetRows];
        for (std::size_t i = 0; i < kSetRows; ++i)
            flags[i] = static_cast<std::uint16_t>(codes[i] - shift_) <= span_ ? 1 : 0;
        RowSet left = 0;
        for (std::size_t i = 0; i < kSetRows; i += 8) left |= RowSet{bits_of_flags(load_flags(flags + i))} << i;
        return left;
    }

private:
    std::uint16_t shift_;
    std::uint16_t span_;
};

#include "coterie/kernels/shared/set_sides.inl"

constexpr std::size_t kSide = 8;  // rows and columns of a square of codes

// Rows become columns: each of three rounds is a perfect shuffle of the codes.
void transpose(std::uint16_t (&square)[kSide * kSide]) {
    for (int round = 0; round < 3; ++round) {
        std::uint16_t next[kSide * kSide];
        for (std::size_t i = 0; i < kSide * kSide / 2; ++i) {
            next[2 * i] = square[i];
            next[2 * i + 1] = square[i + kSide * kSide / 2];
        }
        std::memcpy(square, next, sizeof(square));
    }
}

void transpose_codes(const std::uint16_t* codes, std::size_t stride, const std::uint32_t* rows, std::size_t n,
                     std::size_t n_columns, std::uint16_t* out, std::size_t out_stride) {
    constexpr std::size_t kAhead = 64;  // rows between a fetch and its use
    const auto fetch = [=](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i)
            for (std::size_t column = 0; column < n_columns; column += 32)
                prefetch_to_second_cache(codes + rows[i] * stride + column);
    };
    fetch(0, std::min(kAhead, n));
    for (std::size_t first = 0; first < n; first += kSide) {
        const std::uint16_t* row[kSide];
        for (std::size_t i = 0; i < kSide; ++i) row[i] = codes + rows[std::min(first + i, n - 1)] * stride;
        fetch(std::min(first + kAhead, n), std::min(first + kAhead + kSide, n));
        const std::size_t n_now = std::min(kSide, n - first);
        for (std::size_t column = 0; column < n_columns; column += kSide) {
            std::uint16_t square[kSide * kSide];
            for (std::size_t i = 0; i < kSide; ++i)
                std::memcpy(square + i * kSide, row[i] + column, kSide * sizeof(std::uint16_t));
            transpose(square);
            for (std::size_t k = 0; k < kSide; ++k)
                std::memcpy(out + (column + k) * out_stride + first, square + k * kSide, n_now * sizeof(std::uint16_t));
        }
    }
}

// All bits for the rows of a word that are in the set, none for others.
void find_members(RowSet word, std::uint16_t (&members)[kSetRows]) {
    for (std::size_t part = 0; part < kSetRows; part += 16) {
        const auto own = static_cast<std::uint16_t>(word >> part);
        for (unsigned i = 0; i < 16; ++i) {
            const auto bit = static_cast<std::uint16_t>(1u << i);
            members[part + i] = static_cast<std::uint16_t>((own & bit) == bit ? 0xffff : 0);
        }
    }
}

void code_ranges(const TransposedCodes& codes, const RowSet* set, const std::uint32_t* columns, std::size_t n_columns,
                 CodeRanges& ranges) {
    for (std::size_t k = 0; k < n_columns; ++k) {
        ranges.least[k] = ranges.least_known_less_one[k] = 0xffff;
        ranges.greatest[k] = 0;
    }
    for (std::size_t word = 0; word < codes.n_words; ++word) {
        if (set[word] == 0) continue;
        std::uint16_t members[kSetRows];
        find_members(set[word], members);
        for (std::size_t k = 0; k < n_columns; ++k) {
            const std::uint16_t* const own = codes.column[columns[k]] + kSetRows * word;
            std::uint16_t least = ranges.least[k];
            std::uint16_t greatest = ranges.greatest[k];
            std::uint16_t known = ranges.least_known_less_one[k];
            for (std::size_t i = 0; i < kSetRows; ++i) {
                const auto other = static_cast<std::uint16_t>(~members[i]);
                least = std::min(least, static_cast<std::uint16_t>(own[i] | other));
                greatest = std::max(greatest, static_cast<std::uint16_t>(own[i] & members[i]));
                known = std::min(known, static_cast<std::uint16_t>(static_cast<std::uint16_t>(own[i] - 1) | other));
            }
            ranges.least[k] = least;
            ranges.greatest[k] = greatest;
            ranges.least_known_less_one[k] = known;
        }
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
    const RowSet second_rows = second_of(weights, 0);
    const auto all = static_cast<std::int64_t>(total & 0xffffffffu);
    const auto second = static_cast<std::int64_t>(total >> 32);
    for (std::size_t k = 0; k < n_columns; ++k) {
        const std::uint64_t span = ranges.greatest[k] - std::uint64_t{ranges.least[k]};
        if (span == 0) continue;
        best.varies = true;
        const auto last = static_cast<std::uint16_t>(ranges.least[k] + (shares[k] * span >> 32));
        const RowSet left = Cut(1, last).left_of(codes.column[columns[k]]) & set;
        const std::uint64_t statistic = statistic_of_word(weights, second_rows, left);
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
