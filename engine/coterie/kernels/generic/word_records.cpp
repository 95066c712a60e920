#include "coterie/kernels/word_records.hpp"

namespace coterie::generic {

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

}  // namespace coterie::generic
