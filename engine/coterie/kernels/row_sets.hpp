// kernels/row_sets.hpp: nodes of a forest as sets of rows.
//
// The codes of a subtree's rows are transposed once, so that those of a feature lie next to each other. From then on a
// node is a bit for each row: nothing is moved, codes are compared side by side, and rows are counted.
//
// Words
//   set         rows of a subtree, one bit each, 64 to a word; bits behind the last row are 0
//   transposed  by column, in the order of the subtree's rows
#pragma once

#include <cstddef>
#include <cstdint>

#include "coterie/kernels/word_records.hpp"

namespace coterie {

using RowSet = std::uint64_t;  // one word of it
inline constexpr std::size_t kSetRows = 64;

/// Columns begin on a cache line, and can be read to the end of the last word.
struct TransposedCodes {
    const std::uint16_t* const* column = nullptr;
    std::size_t n_words = 0;
};

/// What rows of two classes weigh, bit by bit: a set of the rows whose weight has the bit, n_words apart. No bits at
/// all: every row weighs 1. Rows from `second` on are of the second class.
struct SetWeights {
    const RowSet* weight = nullptr;
    std::size_t n_bits = 0;
    std::size_t second = 0;
};

/// Those with codes from `shift` to `last` go left, modulo 2^16; per column.
struct SetCuts {
    std::uint16_t shift[kCodeColumns] = {};
    std::uint16_t last[kCodeColumns] = {};
};

/// Per column, of the rows that go left: their statistic (the second class above, all in the low 32 bits), and how many
/// there are.
struct SetSums {
    std::uint64_t statistic[kCodeColumns];
    std::uint32_t n_rows[kCodeColumns];
};

/// The best of the random cuts of a set of one word so far. Its gain is that of SmallNodeCut, in double precision.
struct DrawnCut {
    double gain = -1.0;
    std::uint32_t column = 0;     // among the columns of the call that found it
    std::uint16_t last = 0;       // the last code that goes left
    bool varies = false;          // some column does
    bool found = false;           // by the last call
    std::uint64_t statistic = 0;  // of the rows that go left
    RowSet left = 0;              // these rows
};

struct RowSetKernels {
    // Rows in the given order, `out_stride` codes from a column to the next. Codes of a row, and room for columns, are
    // read and written up to the next multiple of eight.
    void (*transpose_codes)(const std::uint16_t* codes, std::size_t stride, const std::uint32_t* rows, std::size_t n,
                            std::size_t n_columns, std::uint16_t* out, std::size_t out_stride);

    // Of a set that is not empty, in up to eight columns; ranges of others is left alone.
    void (*code_ranges)(const TransposedCodes& codes, const RowSet* set, const std::uint32_t* columns,
                        std::size_t n_columns, CodeRanges& ranges);

    // What goes left, in up to eight columns; `left` is null, or the sets themselves, n_words apart.
    void (*sum_left)(const TransposedCodes& codes, const RowSet* set, const std::uint32_t* columns,
                     std::size_t n_columns, const SetCuts& cuts, const SetWeights& weights, SetSums& sums,
                     RowSet* left);

    // Who goes left; the others stay in the set.
    void (*partition)(const std::uint16_t* column, std::size_t n_words, std::uint16_t shift, std::uint16_t last,
                      RowSet* set, RowSet* left);

    // Row numbers of a set, in their order. `out` has room for 15 more. Returns how many there are.
    std::size_t (*rows_of)(const RowSet* set, std::size_t n_words, const std::uint32_t* rows, std::uint32_t* out);

    // The codes of a set of one word, in their order. `out` has room for kSetRows.
    void (*codes_of)(const std::uint16_t* column, RowSet set, std::uint16_t* out);

    // Of a set of one word, a cut in each of up to eight columns: the code that is so many 2^-32ths of the way from the
    // least to the greatest; whose gain is the greatest, the first of equals, if it is greater than that of `best`.
    // `total` is the statistic of the set. `shares` can be read eight at a time. Returns whether no code is missing:
    // otherwise nothing was done.
    bool (*draw_cuts)(const TransposedCodes& codes, RowSet set, const std::uint32_t* columns, std::size_t n_columns,
                      const std::uint32_t* shares, const SetWeights& weights, std::uint64_t total, DrawnCut& best);
};

namespace generic {
RowSetKernels row_set_kernels();
}
namespace avx2 {
RowSetKernels row_set_kernels();
}
namespace avx512 {
RowSetKernels row_set_kernels();
}
namespace neon {
RowSetKernels row_set_kernels();
}

}  // namespace coterie
