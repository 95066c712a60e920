// kernels/word_records.hpp: the rows of a forest's node, as the kernels see them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace coterie {

/// A row of a forest's node: what it adds to a cell, and where its codes are. Growers know the word by other types, so
/// this one may alias them (MSVC knows neither the attribute nor the assumption).
struct [[gnu::may_alias]] WordRecord {
    std::uint64_t pay;
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

inline constexpr std::size_t kCodeLanes = 8;
inline constexpr std::size_t kLaneCells = 256;  // of each lane

/// Per lane, of the codes that were seen: the least code, the greatest, and the least but one for missing (0), which
/// becomes the highest number there is.
struct CodeRanges {
    std::uint16_t least[kCodeLanes];
    std::uint16_t greatest[kCodeLanes];
    std::uint16_t least_known_less_one[kCodeLanes];
};

/// Up to eight columns of a node, and how their codes become cells: (code + add) times `factor`, without the last 16
/// bits. A factor of 0 leaves the code as it is. Lanes that are not used have zeros.
struct CellColumns {
    std::size_t n = 0;
    std::uint32_t column[kCodeLanes] = {};
    std::uint16_t add[kCodeLanes] = {};
    std::uint16_t factor[kCodeLanes] = {};
};

/// Rows of codes, as records name them.
struct CodeRows {
    const std::uint16_t* codes;
    std::size_t stride;
    std::size_t fetched;    // codes from the beginning of a row that are fetched ahead of their use ...
    std::size_t n_fetched;  // ... of so many records, some of which may follow behind the last
};

// fill_cells adds what each of n records pays to its cell in each column, lane by lane, and writes its codes, eight to
// a row of `seen`.
//
// part_words: those that go left move to the front, the others to `right`, which has room for one more than all; both
// in their order. Returns how many go left.
namespace generic {
void fill_cells(const CodeRows& rows, const WordRecord* records, std::size_t n, const CellColumns& columns,
                std::uint64_t* cells, std::uint16_t* seen);
std::size_t part_words(WordRecord* records, std::size_t n, const RecordCodes& codes, WordRecord* right);
}  // namespace generic
namespace avx2 {
void fill_cells(const CodeRows& rows, const WordRecord* records, std::size_t n, const CellColumns& columns,
                std::uint64_t* cells, std::uint16_t* seen);
std::size_t part_words(WordRecord* records, std::size_t n, const RecordCodes& codes, WordRecord* right);
}  // namespace avx2
namespace avx512 {
void gather_codes(const std::uint16_t* codes, std::size_t stride, const WordRecord* records, std::size_t n,
                  const std::uint32_t* columns, std::size_t n_columns, std::uint16_t* out, CodeRanges& ranges);
void sum_left(const std::uint16_t* codes, const WordRecord* records, std::size_t n, const std::uint16_t* shift,
              const std::uint16_t* last, std::uint64_t* sums);
std::size_t part_words(WordRecord* records, std::size_t n, const RecordCodes& codes, WordRecord* right);
}  // namespace avx512

}  // namespace coterie
