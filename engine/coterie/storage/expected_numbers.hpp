// storage/expected_numbers.hpp: what the numbers of a split are expected to be, given those of its children.
//
// Files depend on these formulas to the last bit: a stored difference is one from what they say. They use the four
// operations in a fixed order, which are the same on every machine, and never change.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "coterie/storage/zigzag.hpp"
#include "coterie/tree/tree.hpp"

namespace coterie {

/// What is known of a tree as a whole.
struct TreeRule {
    double unit = 0.0;        // that covers are multiples of; 0: of none
    double l2 = 0.0;          // that shrank values towards zero
    double gain_scale = 1.0;  // of gains
};

struct Sides {
    double left = 0.0;
    double right = 0.0;
};

/// The bits of a NaN that comes out of a calculation are not the same everywhere.
inline double number_or_zero(double value) { return value == value ? value : 0.0; }

inline double expected_value(Sides value, Sides cover, double whole, double l2) {
    const double sum = value.left * (cover.left + l2) + value.right * (cover.right + l2);
    return number_or_zero(sum / (whole + l2));
}

inline double expected_gain(Sides value, Sides cover, double own_value, double whole, const TreeRule& rule) {
    const double left = value.left * value.left * (cover.left + rule.l2);
    const double right = value.right * value.right * (cover.right + rule.l2);
    const double own = own_value * own_value * (whole + rule.l2);
    return number_or_zero(rule.gain_scale * (left + right - own));
}

inline constexpr std::uint64_t kSignBit = std::uint64_t{1} << 63;

/// The ordinal of a double among all of them in order, and the double of an ordinal. Signs are a guess, so no branches.
inline std::uint64_t ordinal_of(double value) {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    return bits ^ ((0 - (bits >> 63)) | kSignBit);
}
inline double double_at(std::uint64_t ordinal) {
    return std::bit_cast<double>(ordinal ^ (((ordinal >> 63) - 1) | kSignBit));
}

/// How many doubles lie between two, small for either sign.
inline std::uint64_t doubles_between(double expected, double found) {
    return zigzag(ordinal_of(found) - ordinal_of(expected));
}

inline double double_after(double expected, std::uint64_t between) {
    return double_at(ordinal_of(expected) + unzigzag(between));
}

/// The rule that makes the numbers of a tree most expected. The tree is sound.
TreeRule rule_of(const Tree& tree);

/// The covers as whole numbers of units, those of splits the sums of their children's; empty if they are not.
std::vector<std::uint64_t> covers_in_units(const Tree& tree, double unit);

}  // namespace coterie
