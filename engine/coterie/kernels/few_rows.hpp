// kernels/few_rows.hpp: the best cut of a forest's small node, without sorting its rows.
//
// Every row is compared with every other: what lies on the left of a cut is the sum of the rows whose codes are not
// greater. For a few dozen rows that is less work than to sort them, and no branch depends on the data.
#pragma once

#include <cstddef>
#include <cstdint>

namespace coterie {

inline constexpr std::size_t kMostFewRows = 64;  // also the most that they weigh

/// The rows of a node as all its features see them: a weighted target above, a weight in the low 8 bits.
template <class Word>
struct FewPays {
    const Word* pay = nullptr;
    std::size_t n = 0;
    std::uint32_t sum = 0;     // of all rows; times the weight of all below 2^31
    std::uint32_t weight = 0;  // of all rows, at most kMostFewRows
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

// `codes` has room for kMostFewRows; those behind the last row are overwritten.
namespace generic {
FewCut cut_few_classes(std::uint16_t* codes, const FewClasses& rows);
FewCut cut_few_numbers(std::uint16_t* codes, const FewNumbers& rows);
}  // namespace generic
namespace avx2 {
FewCut cut_few_classes(std::uint16_t* codes, const FewClasses& rows);
FewCut cut_few_numbers(std::uint16_t* codes, const FewNumbers& rows);
}  // namespace avx2

}  // namespace coterie
