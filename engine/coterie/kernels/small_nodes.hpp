// kernels/small_nodes.hpp: the best cut of a forest's small node, without sorting its rows.
//
// Every row is compared with every other: what lies on the left of a cut is the sum of the rows whose codes are not
// greater. For a few dozen rows that is less work than to sort them, and no branch depends on the data. Of classes, the
// cuts of one feature are scored side by side; of numbers, those of up to sixteen features.
#pragma once

#include <cstddef>
#include <cstdint>

#include "coterie/kernels/word_records.hpp"

namespace coterie {

inline constexpr std::size_t kMaxClassRows = 64;    // of classes; also the most that they weigh
inline constexpr std::size_t kMaxNumberRows = 127;  // the same of numbers

/// The rows of a node as all its features see them: a weighted target above, a weight in the low 8 bits.
template <class Word>
struct SmallNode {
    const Word* statistic = nullptr;
    std::size_t n = 0;
    std::uint32_t sum = 0;     // of all rows; times the weight of all below 2^31
    std::uint32_t weight = 0;  // of all rows
    std::uint16_t salt = 0;    // decides between equal cuts
};
using SmallClassNode = SmallNode<std::uint16_t>;   // sums of 8 bits
using SmallNumberNode = SmallNode<std::uint32_t>;  // sums of 24 bits

/// Gain: with sums s and weights w of the left (l) and of all (a), (s_l w_a - w_l s_a)^2 / (w_l w_r), the same for
/// either side; -1 if there is no cut. Of equal cuts, which are common, the one with the least code ^ salt: always to
/// take the lowest would make the trees of a forest alike.
struct SmallNodeCut {
    float gain = -1.0f;
    std::uint32_t code = 0;  // the greatest on the left
};

inline constexpr std::size_t kSmallNodeFeatures = 16;

/// The best cuts of up to kSmallNodeFeatures features; what others hold does not matter.
struct SmallNodeCuts {
    float gain[kSmallNodeFeatures];
    std::uint32_t code[kSmallNodeFeatures];

    SmallNodeCut operator[](std::size_t k) const { return {gain[k], code[k]}; }
};

/// Codes of few rows in up to kSmallNodeFeatures features, kSmallNodeFeatures to a row.
struct SmallNodeCodes {
    const std::uint16_t* codes;
    std::size_t n_features;
};

struct SmallNodeKernels {
    // The codes of records in some columns, as SmallNodeCodes. Returns the columns in which something is missing (0), a
    // bit for each.
    std::uint32_t (*pick_codes)(const CodeRows& rows, const WordRecord* records, std::size_t n,
                                const std::uint32_t* columns, std::size_t n_columns, std::uint16_t* out);

    // `codes` has room for kMaxClassRows; those behind the last row are overwritten.
    SmallNodeCut (*cut_classes)(std::uint16_t* codes, const SmallClassNode& rows);
    void (*cut_numbers)(const SmallNodeCodes& codes, const SmallNumberNode& rows, SmallNodeCuts& cuts);
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
