// kernels/small_nodes.hpp: the best cut of a forest's small node, without sorting its rows.
//
// Every row is compared with every other: what lies on the left of a cut is the sum of the rows whose codes are not
// greater. For a few dozen rows that is less work than to sort them, and no branch depends on the data. Of classes, the
// cuts of one feature are judged side by side; of numbers, those of up to sixteen features.
#pragma once

#include <cstddef>
#include <cstdint>

#include "coterie/kernels/word_records.hpp"

namespace coterie {

inline constexpr std::size_t kMostFewRows = 64;      // of classes; also the most that they weigh
inline constexpr std::size_t kMostFewNumbers = 127;  // the same of numbers

/// The rows of a node as all its features see them: a weighted target above, a weight in the low 8 bits.
template <class Word>
struct FewPays {
    const Word* pay = nullptr;
    std::size_t n = 0;
    std::uint32_t sum = 0;     // of all rows; times the weight of all below 2^31
    std::uint32_t weight = 0;  // of all rows
    std::uint16_t salt = 0;    // decides between equal cuts
};
using FewClasses = FewPays<std::uint16_t>;  // sums of 8 bits
using FewNumbers = FewPays<std::uint32_t>;  // sums of 24 bits

/// Gain: with sums s and weights w of the left (l) and of all (a), (s_l w_a - w_l s_a)^2 / (w_l w_r), the same for
/// either side; -1 if there is no cut. Of equal cuts, which are common, the one with the least code ^ salt: always to
/// take the lowest would make the trees of a forest alike.
struct FewCut {
    float gain = -1.0f;
    std::uint32_t code = 0;  // the greatest on the left
};

inline constexpr std::size_t kFewLanes = 16;

/// The best cuts of up to kFewLanes features; what other lanes hold does not matter.
struct FewCuts {
    float gain[kFewLanes];
    std::uint32_t code[kFewLanes];

    FewCut operator[](std::size_t lane) const { return {gain[lane], code[lane]}; }
};

/// Codes of few rows in up to kFewLanes features, kFewLanes to a row.
struct FewCodes {
    const std::uint16_t* codes;
    std::size_t n_features;
};

struct SmallNodeKernels {
    // The codes of records in some columns, as FewCodes. Returns the columns in which something is missing (0), a bit
    // for each.
    std::uint32_t (*pick_codes)(const CodeRows& rows, const WordRecord* records, std::size_t n,
                                const std::uint32_t* columns, std::size_t n_columns, std::uint16_t* out);

    // `codes` has room for kMostFewRows; those behind the last row are overwritten.
    FewCut (*cut_classes)(std::uint16_t* codes, const FewClasses& rows);
    void (*cut_numbers)(const FewCodes& codes, const FewNumbers& rows, FewCuts& cuts);
};

namespace generic {
SmallNodeKernels small_node_kernels();
}
namespace avx2 {
SmallNodeKernels small_node_kernels();
}
namespace avx512 {
SmallNodeKernels small_node_kernels();
}

}  // namespace coterie
