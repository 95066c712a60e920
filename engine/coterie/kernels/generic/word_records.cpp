// kernels/generic/word_records.cpp: what the kernels of records mean.
#include "coterie/kernels/word_records.hpp"

#include <algorithm>

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

WordCut scan_words(const std::uint64_t* cells, std::uint32_t last, const WordScan& task) {
    WordCut best;
    std::uint64_t left = task.start;
    const float total_weight = word_sums(task.total, task.narrow).weight;
    for (std::uint32_t cell = 1; cell <= last; ++cell) {
        left += cells[cell];
        const WordSums side = word_sums(left, task.narrow);
        const float right_weight = total_weight - side.weight;
        const float distance = side.sum - side.weight * task.mean;
        const float gain = distance * distance / (side.weight * right_weight);
        if (side.weight > 0.0f && right_weight > 0.0f && gain > best.gain) best = {.gain = gain, .cell = cell};
    }
    return best;
}

void gather_codes(const std::uint16_t* codes, std::size_t stride, const WordRecord* records, std::size_t n,
                  const std::uint32_t* columns, std::size_t n_columns, std::uint16_t* out, CodeRanges& ranges) {
    std::fill_n(ranges.least, kCodeColumns, std::uint16_t{0xffff});
    std::fill_n(ranges.greatest, kCodeColumns, std::uint16_t{0});
    std::fill_n(ranges.least_known_less_one, kCodeColumns, std::uint16_t{0xffff});
    for (std::size_t i = 0; i < n; ++i) {
        const std::uint16_t* const row = codes + records[i].row * stride;
        for (std::size_t k = 0; k < kCodeColumns; ++k) {
            const std::uint16_t code = k < n_columns ? row[columns[k]] : std::uint16_t{0};
            out[i * kCodeColumns + k] = code;
            ranges.least[k] = std::min(ranges.least[k], code);
            ranges.greatest[k] = std::max(ranges.greatest[k], code);
            ranges.least_known_less_one[k] =
                std::min(ranges.least_known_less_one[k], static_cast<std::uint16_t>(code - 1));
        }
    }
}

void sum_left(const std::uint16_t* codes, const WordRecord* records, std::size_t n, const std::uint16_t* shift,
              const std::uint16_t* last, std::uint64_t* sums) {
    std::fill_n(sums, kCodeColumns, std::uint64_t{0});
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t k = 0; k < kCodeColumns; ++k) {
            const auto code = static_cast<std::uint16_t>(codes[i * kCodeColumns + k] - shift[k]);
            sums[k] += code <= static_cast<std::uint16_t>(last[k] - shift[k]) ? records[i].statistic : 0;
        }
}

void fill_cells(const CodeRows& rows, const WordRecord* records, std::size_t n, const CellColumns& columns,
                std::uint64_t* cells, std::uint16_t* seen) {
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t k = 0; k < kCodeColumns; ++k) {
            const std::uint16_t code =
                k < columns.n ? rows.codes[records[i].row * rows.stride + columns.column[k]] : std::uint16_t{0};
            seen[i * kCodeColumns + k] = code;
            if (k >= columns.n) continue;
            const std::uint32_t sum = code + std::uint32_t{columns.add[k]};
            const std::uint32_t cell = columns.factor[k] == 0 ? sum : sum * columns.factor[k] >> 16;
            cells[k * kColumnCells + cell] += records[i].statistic;
        }
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
