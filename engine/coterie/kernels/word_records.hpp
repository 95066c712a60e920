// kernels/word_records.hpp: the rows of a forest's node, as the kernels see them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace coterie {

/// A row of a forest's node: what it adds to a cell, and where its codes are. Growers know the word by other types, so
/// this one may alias them (MSVC knows neither the attribute nor the assumption).
struct [[gnu::may_alias]] WordRecord {
    std::uint64_t statistic;
    std::uint32_t row;
};

/// Codes of records in one feature, in their order. Those from `shift` to `last` go left, modulo 2^16.
struct RecordCodes {
    const std::uint16_t* codes;
    std::size_t stride;
    std::uint16_t shift;
    std::uint16_t last;

    bool goes_left(std::size_t i) const {
        return static_cast<std::uint16_t>(codes[i * stride] - shift) <= static_cast<std::uint16_t>(last - shift);
    }
};

inline constexpr std::size_t kCodeColumns = 8;
inline constexpr std::size_t kColumnCells = 256;  // of each column

/// Per column, of the codes that were seen: the least code, the greatest, and the least but one for missing (0), which
/// becomes the highest number there is.
struct CodeRanges {
    std::uint16_t least[kCodeColumns];
    std::uint16_t greatest[kCodeColumns];
    std::uint16_t least_known_less_one[kCodeColumns];
};

/// Up to eight columns of a node, and how their codes become cells: (code + add) times `factor`, without the last 16
/// bits. A factor of 0 leaves the code as it is. Columns that are not used have zeros.
struct CellColumns {
    std::size_t n = 0;
    std::uint32_t column[kCodeColumns] = {};
    std::uint16_t add[kCodeColumns] = {};
    std::uint16_t factor[kCodeColumns] = {};
};

/// Rows of codes, as records name them.
struct CodeRows {
    const std::uint16_t* codes;
    std::size_t stride;
    std::size_t fetched;    // codes from the beginning of a row that are fetched ahead of their use ...
    std::size_t n_fetched;  // ... of so many records, some of which may follow behind the last
};

/// The node of a forest whose cells are scanned. A cell is a word: a sum above, a weight in the low bits.
struct WordScan {
    std::uint64_t start = 0;  // on the left from the beginning
    std::uint64_t total = 0;  // of the node
    float mean = 0.0f;        // sum over weight of the node
    bool narrow = true;       // weights have 32 bits; otherwise 24, below sums of 39
};

/// Gain: the squared distance of the left sum from its share, over the product of the weights; -1 if there is no cut.
struct WordCut {
    float gain = -1.0f;
    std::uint32_t cell = 0;
};

struct WordSums {
    float sum;
    float weight;
};

inline WordSums word_sums(std::uint64_t word, bool narrow) {
    const auto high = static_cast<float>(static_cast<std::int32_t>(word >> 32));
    const auto low = static_cast<std::uint32_t>(word);
    if (narrow) return {high, static_cast<float>(static_cast<std::int32_t>(low))};
    return {high * 256.0f + static_cast<float>(static_cast<std::int32_t>(low >> 24)),
            static_cast<float>(static_cast<std::int32_t>(low & 0xffffffu))};
}

/// Kernels of nodes that are ranges of records.
struct WordKernels {
    // Codes of n records in up to eight columns, eight to a row of `out`, and their ranges.
    void (*gather_codes)(const std::uint16_t* codes, std::size_t stride, const WordRecord* records, std::size_t n,
                         const std::uint32_t* columns, std::size_t n_columns, std::uint16_t* out, CodeRanges& ranges);

    // Per column, the sum of the statistics of rows with code - shift <= last - shift.
    void (*sum_left)(const std::uint16_t* codes, const WordRecord* records, std::size_t n, const std::uint16_t* shift,
                     const std::uint16_t* last, std::uint64_t* sums);

    // Adds the statistic of each of n records to its cell in each column, and writes its codes, eight to a row of
    // `seen`.
    void (*fill_cells)(const CodeRows& rows, const WordRecord* records, std::size_t n, const CellColumns& columns,
                       std::uint64_t* cells, std::uint16_t* seen);

    // The best cut after one of cells 1 .. last.
    WordCut (*scan)(const std::uint64_t* cells, std::uint32_t last, const WordScan& task);

    // Those that go left move to the front, the others to `right`, which has room for one more than all; both in their
    // order. Returns how many go left.
    std::size_t (*partition)(WordRecord* records, std::size_t n, const RecordCodes& codes, WordRecord* right);

    // What n cuts score, of which the left sums are given: the squares of both sums over their weights. Nothing that
    // compares greater than a number where a side has no weight.
    void (*square_scores)(const double* sum, const double* weight, std::size_t n, double total_sum, double total_weight,
                          double* out);
};

namespace generic {
WordKernels word_kernels();
}
namespace avx2 {
WordKernels word_kernels();
}
namespace avx512 {
WordKernels word_kernels();
}

}  // namespace coterie
