// split/criterion.hpp: how a criterion scores a split. Each formula once, about sums only.
//
// Words
//   side     the rows that go one way, summed up: their weight and one sum for each column
//   column   of sums: the weight of a class, or the weighted sum of an output
//   score    what a split search maximises; it orders the splits of a node as the decrease of impurity does
//
// The operations and their order are those of the textbook definitions, because two splits that tie on paper
// should tie, or not, in the same way as in other libraries that follow the definitions.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <numbers>
#include <span>

#include "coterie/base/logarithm.hpp"

namespace coterie {

enum class Criterion : std::uint8_t { gini, entropy, squared_error, absolute_error, poisson };

namespace criterion {

inline constexpr double kTiny = std::numeric_limits<double>::epsilon();  // sums and impurities up to here are zero
inline constexpr double kRoundingOfSums = 1e-12;                         // relative
inline constexpr double kForbidden = -std::numeric_limits<double>::infinity();

struct Side {
    double weight;
    const double* sums;
};

inline double log_base_2(double x) { return logarithm(x) / std::numbers::ln2; }

struct Gini {  // the chance that two draws from the node disagree
    static double impurity(Side side, std::uint32_t n_classes) {
        double squares = 0.0;
        for (std::uint32_t k = 0; k < n_classes; ++k) squares += side.sums[k] * side.sums[k];
        return 1.0 - squares / (side.weight * side.weight);
    }
};

struct Entropy {  // the bits needed to name the class of a row
    static double impurity(Side side, std::uint32_t n_classes) {
        double bits = 0.0;
        for (std::uint32_t k = 0; k < n_classes; ++k) {
            if (side.sums[k] <= 0.0) continue;
            const double share = side.sums[k] / side.weight;
            bits -= share * log_base_2(share);
        }
        return bits;
    }
};

/// Any number of outputs, each with its own classes; a side's impurity is the mean over the outputs.
template <class Impurity>
struct ClassScore {
    static constexpr bool kClasses = true;

    static double impurity(Side side, std::span<const std::uint32_t> n_classes) {
        double total = 0.0;
        for (const std::uint32_t n : n_classes) {
            total += Impurity::impurity(side, n);
            side.sums += n;
        }
        return total / static_cast<double>(n_classes.size());
    }
    static double score(Side left, Side right, std::span<const std::uint32_t> n_classes) {
        return -right.weight * impurity(right, n_classes) - left.weight * impurity(left, n_classes);
    }
};

/// Two classes need one sum, the weight of the second.
template <class Impurity>
struct TwoClassScore {
    static double impurity(double weight, double second) {
        const std::array<double, 2> sums = {weight - second, second};
        return Impurity::impurity({.weight = weight, .sums = sums.data()}, 2);
    }
    static double score(double left_weight, double left_sum, double right_weight, double right_sum) {
        return -right_weight * impurity(right_weight, right_sum) - left_weight * impurity(left_weight, left_sum);
    }
    // Monotone constraints are about the share of the first class.
    static double value(double weight, double sum) { return (weight - sum) / weight; }
};

struct SquaredError {  // the sum of squares explained by the two means
    static constexpr bool kClasses = false;

    static double score(Side left, Side right, std::span<const std::uint32_t> outputs) {
        double left_squares = 0.0;
        double right_squares = 0.0;
        for (std::size_t k = 0; k < outputs.size(); ++k) {
            left_squares += left.sums[k] * left.sums[k];
            right_squares += right.sums[k] * right.sums[k];
        }
        return left_squares / left.weight + right_squares / right.weight;
    }
};

struct Poisson {  // half the deviance, without what every split of the node shares
    static constexpr bool kClasses = false;

    static double score(Side left, Side right, std::span<const std::uint32_t> outputs) {
        double score = 0.0;
        for (std::size_t k = 0; k < outputs.size(); ++k) {
            // A mean of zero cannot be predicted: its deviance would be infinite for any later event. One side is
            // the total less the other, so a sum of zero may have become a rounding error.
            const double zero = kTiny + kRoundingOfSums * (left.sums[k] + right.sums[k]);
            if (left.sums[k] <= zero || right.sums[k] <= zero) return kForbidden;
            score += left.sums[k] * log_base_2(left.sums[k] / left.weight);
            score += right.sums[k] * log_base_2(right.sums[k] / right.weight);
        }
        return score;
    }
};

/// One output of numbers, one sum.
template <class Formula>
struct OneOutputScore {
    static double score(double left_weight, double left_sum, double right_weight, double right_sum) {
        static constexpr std::array<std::uint32_t, 1> one_output = {1};
        return Formula::score({.weight = left_weight, .sums = &left_sum}, {.weight = right_weight, .sums = &right_sum},
                              one_output);
    }
    static double value(double weight, double sum) { return sum / weight; }
};

}  // namespace criterion
}  // namespace coterie
