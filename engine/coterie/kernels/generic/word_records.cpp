// kernels/generic/word_records.cpp: what the kernels of records mean. The number of columns is a constant, and loops
// have no branches, so that compilers turn them into vectors.
#include "coterie/kernels/word_records.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "coterie/base/prefetch.hpp"

namespace coterie::generic {
namespace {

void square_scores(const double* sum, const double* weight, std::size_t n, double total_sum, double total_weight,
                   double* out) {
    for (std::size_t i = 0; i < n; ++i) {
        const double right_sum = total_sum - sum[i];
        const double right_weight = total_weight - weight[i];
        out[i] = (sum[i] * sum[i] * right_weight + right_sum * right_sum * weight[i]) / (weight[i] * right_weight);
    }
}

constexpr std::uint32_t kStep = 16;  // cells whose gains are found side by side

bool any_above(const float* gains, float limit) {
    std::int32_t n = 0;
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC unroll 1  // or else it is unrolled before it could become vectors
#endif
    for (std::uint32_t j = 0; j < kStep; ++j) n += gains[j] > limit ? 1 : 0;
    return n != 0;
}

template <bool kNarrow>
WordCut scan_words_as(const std::uint64_t* cells, std::uint32_t last, const WordScan& task) {
    WordCut best;
    std::uint64_t left = task.start;
    const float total_weight = word_sums(task.total, kNarrow).weight;
    const float mean = task.mean;
    for (std::uint32_t cell = 1; cell <= last; cell += kStep) {
        const std::uint32_t n = std::min(kStep, last + 1 - cell);
        std::uint64_t lefts[kStep];
        for (std::uint32_t j = 0; j < n; ++j) lefts[j] = left += cells[cell + j];
        for (std::uint32_t j = n; j < kStep; ++j) lefts[j] = left;
        float gains[kStep];
        for (std::uint32_t j = 0; j < kStep; ++j) {
            const WordSums side = word_sums(lefts[j], kNarrow);
            const float right_weight = total_weight - side.weight;
            const float distance = side.sum - side.weight * mean;
            const float gain = distance * distance / (side.weight * right_weight);
            gains[j] = ((side.weight > 0.0f) & (right_weight > 0.0f)) ? gain : -1.0f;
        }
        if (!any_above(gains, best.gain)) continue;
        for (std::uint32_t j = 0; j < n; ++j)
            if (gains[j] > best.gain) best = {.gain = gains[j], .cell = cell + j};
    }
    return best;
}

WordCut scan_words(const std::uint64_t* cells, std::uint32_t last, const WordScan& task) {
    return task.narrow ? scan_words_as<true>(cells, last, task) : scan_words_as<false>(cells, last, task);
}

// The codes of a row in the first kColumns columns; others are 0.
template <std::size_t kColumns>
void pick(const std::uint16_t* row, const std::uint32_t* column, std::uint16_t* codes) {
    for (std::size_t k = 0; k < kColumns; ++k) codes[k] = row[column[k]];
    for (std::size_t k = kColumns; k < kCodeColumns; ++k) codes[k] = 0;
}

// Calls use with the number of columns, a constant.
template <class Use>
void with_columns(std::size_t n_columns, Use use) {
    switch (n_columns) {
        case 1: return use(std::integral_constant<std::size_t, 1>{});
        case 2: return use(std::integral_constant<std::size_t, 2>{});
        case 3: return use(std::integral_constant<std::size_t, 3>{});
        case 4: return use(std::integral_constant<std::size_t, 4>{});
        case 5: return use(std::integral_constant<std::size_t, 5>{});
        case 6: return use(std::integral_constant<std::size_t, 6>{});
        case 7: return use(std::integral_constant<std::size_t, 7>{});
        default: return use(std::integral_constant<std::size_t, 8>{});
    }
}

void gather_codes(const std::uint16_t* codes, std::size_t stride, const WordRecord* records, std::size_t n,
                  const std::uint32_t* columns, std::size_t n_columns, std::uint16_t* out, CodeRanges& ranges) {
    constexpr std::size_t kAhead = 12;  // records between a fetch and its use
    with_columns(n_columns, [&](auto constant) {
        constexpr std::size_t kColumns = decltype(constant)::value;
        std::uint32_t column[kColumns];
        std::copy_n(columns, kColumns, column);
        std::uint16_t least[kCodeColumns];
        std::uint16_t greatest[kCodeColumns] = {};
        std::uint16_t known[kCodeColumns];
        std::fill_n(least, kCodeColumns, std::uint16_t{0xffff});
        std::fill_n(known, kCodeColumns, std::uint16_t{0xffff});
        for (std::size_t i = 0; i < n; ++i) {
            if (i + kAhead < n) prefetch(codes + records[i + kAhead].row * stride + column[0]);
            std::uint16_t own[kCodeColumns];
            pick<kColumns>(codes + records[i].row * stride, column, own);
            for (std::size_t k = 0; k < kCodeColumns; ++k) {
                least[k] = std::min(least[k], own[k]);
                greatest[k] = std::max(greatest[k], own[k]);
                known[k] = std::min(known[k], static_cast<std::uint16_t>(own[k] - 1));
            }
            std::memcpy(out + i * kCodeColumns, own, sizeof(own));
        }
        std::copy_n(least, kCodeColumns, ranges.least);
        std::copy_n(greatest, kCodeColumns, ranges.greatest);
        std::copy_n(known, kCodeColumns, ranges.least_known_less_one);
    });
}

void sum_left(const std::uint16_t* codes, const WordRecord* records, std::size_t n, const std::uint16_t* shift,
              const std::uint16_t* last, std::uint64_t* sums) {
    std::uint64_t left[kCodeColumns] = {};
    std::uint16_t shifts[kCodeColumns];
    std::uint16_t spans[kCodeColumns];
    for (std::size_t k = 0; k < kCodeColumns; ++k) {
        shifts[k] = shift[k];
        spans[k] = static_cast<std::uint16_t>(last[k] - shift[k]);
    }
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t k = 0; k < kCodeColumns; ++k) {
            const auto code = static_cast<std::uint16_t>(codes[i * kCodeColumns + k] - shifts[k]);
            left[k] += records[i].statistic & (std::uint64_t{0} - static_cast<std::uint64_t>(code <= spans[k]));
        }
    std::copy_n(left, kCodeColumns, sums);
}

// The cells of a few rows are found before they are added to.
template <std::size_t kColumns>
void fill(const CodeRows& rows, const WordRecord* records, std::size_t n, const CellColumns& columns,
          std::uint64_t* cells, std::uint16_t* seen) {
    constexpr std::size_t kAhead = 64;  // records between a fetch and its use
    constexpr std::size_t kRows = 8;
    constexpr std::size_t kCells = kRows * kCodeColumns;
    constexpr std::size_t kLine = 32;  // codes
    std::uint32_t column[kColumns];
    std::copy_n(columns.column, kColumns, column);
    // Of each column, again for each row: one loop serves all of them.
    std::uint16_t add[kCells];
    std::uint16_t factor[kCells];
    std::uint16_t as_it_is[kCells];
    std::uint16_t first[kCells];
    for (std::size_t i = 0; i < kCells; ++i) {
        const std::size_t k = i % kCodeColumns;
        add[i] = columns.add[k];
        factor[i] = columns.factor[k];
        as_it_is[i] = factor[i] == 0 ? 0xffff : 0;
        first[i] = static_cast<std::uint16_t>(k * kColumnCells);
    }
    std::uint16_t own[kCells] = {};
    for (std::size_t begin = 0; begin < n; begin += kRows) {
        const std::size_t n_now = std::min(kRows, n - begin);
        for (std::size_t i = 0; i < n_now; ++i) {
            if (rows.fetched > 0 && begin + i + kAhead < rows.n_fetched) {
                const std::uint16_t* const ahead = rows.codes + records[begin + i + kAhead].row * rows.stride;
                for (std::size_t code = 0; code < rows.fetched; code += kLine) prefetch_to_second_cache(ahead + code);
            }
            pick<kColumns>(rows.codes + records[begin + i].row * rows.stride, column, own + i * kCodeColumns);
        }
        std::memcpy(seen + begin * kCodeColumns, own, n_now * kCodeColumns * sizeof(std::uint16_t));
        std::uint16_t cell[kCells];
        for (std::size_t i = 0; i < kCells; ++i) {
            const auto sum = static_cast<std::uint16_t>(own[i] + add[i]);
            const auto scaled =
                static_cast<std::uint16_t>(std::uint32_t{sum} * factor[i] >> 16);  // 0 where the factor is
            cell[i] = static_cast<std::uint16_t>((scaled | (sum & as_it_is[i])) + first[i]);
        }
        for (std::size_t i = 0; i < n_now; ++i) {
            const std::uint64_t statistic = records[begin + i].statistic;
            for (std::size_t k = 0; k < kColumns; ++k) cells[cell[i * kCodeColumns + k]] += statistic;
        }
    }
}

void fill_cells(const CodeRows& rows, const WordRecord* records, std::size_t n, const CellColumns& columns,
                std::uint64_t* cells, std::uint16_t* seen) {
    with_columns(columns.n,
                 [&](auto constant) { fill<decltype(constant)::value>(rows, records, n, columns, cells, seen); });
}

std::size_t partition(WordRecord* records, std::size_t n, const RecordCodes& codes, WordRecord* right) {
    WordRecord* left = records;
    for (std::size_t i = 0; i < n; ++i) {
        const bool goes_left = codes.goes_left(i);
        const WordRecord record = records[i];
        *left = *right = record;
        left += goes_left;
        right += !goes_left;
    }
    return static_cast<std::size_t>(left - records);
}

}  // namespace

WordKernels word_kernels() {
    return {.gather_codes = gather_codes,
            .sum_left = sum_left,
            .fill_cells = fill_cells,
            .scan = scan_words,
            .partition = partition,
            .square_scores = square_scores};
}

}  // namespace coterie::generic
