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
    std::fill_n(ranges.least, kCodeLanes, std::uint16_t{0xffff});
    std::fill_n(ranges.greatest, kCodeLanes, std::uint16_t{0});
    std::fill_n(ranges.least_known_less_one, kCodeLanes, std::uint16_t{0xffff});
    for (std::size_t i = 0; i < n; ++i) {
        const std::uint16_t* const row = codes + records[i].row * stride;
        for (std::size_t lane = 0; lane < kCodeLanes; ++lane) {
            const std::uint16_t code = lane < n_columns ? row[columns[lane]] : std::uint16_t{0};
            out[i * kCodeLanes + lane] = code;
            ranges.least[lane] = std::min(ranges.least[lane], code);
            ranges.greatest[lane] = std::max(ranges.greatest[lane], code);
            ranges.least_known_less_one[lane] =
                std::min(ranges.least_known_less_one[lane], static_cast<std::uint16_t>(code - 1));
        }
    }
}

void sum_left(const std::uint16_t* codes, const WordRecord* records, std::size_t n, const std::uint16_t* shift,
              const std::uint16_t* last, std::uint64_t* sums) {
    std::fill_n(sums, kCodeLanes, std::uint64_t{0});
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t lane = 0; lane < kCodeLanes; ++lane) {
            const auto code = static_cast<std::uint16_t>(codes[i * kCodeLanes + lane] - shift[lane]);
            sums[lane] += code <= static_cast<std::uint16_t>(last[lane] - shift[lane]) ? records[i].pay : 0;
        }
}

void fill_cells(const CodeRows& rows, const WordRecord* records, std::size_t n, const CellColumns& columns,
                std::uint64_t* cells, std::uint16_t* seen) {
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t lane = 0; lane < kCodeLanes; ++lane) {
            const std::uint16_t code =
                lane < columns.n ? rows.codes[records[i].row * rows.stride + columns.column[lane]] : std::uint16_t{0};
            seen[i * kCodeLanes + lane] = code;
            if (lane >= columns.n) continue;
            const std::uint32_t sum = code + std::uint32_t{columns.add[lane]};
            const std::uint32_t cell = columns.factor[lane] == 0 ? sum : sum * columns.factor[lane] >> 16;
            cells[lane * kLaneCells + cell] += records[i].pay;
        }
}

std::size_t part_words(WordRecord* records, std::size_t n, const RecordCodes& codes, WordRecord* right) {
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
            .partition = part_words,
            .square_scores = square_scores};
}

}  // namespace coterie::generic
