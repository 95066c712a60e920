// split/stump_split.hpp: the best stump of one feature, by the weight of each class in each bin.
//
// Words
//   side     left or right; a stump says which side each bin is on, the missing bin among them
//   score    what is to be large, a sum over both sides:
//              error        the weight of the side's heaviest class: the stump with the least weighted error
//              gini         the sum of squared class weights over the weight of the side: least squares
//              exponential  of two classes, minus the exponential loss of a side that predicts half its log odds
// Rules
//   - The side that a bin without weight is on, should it ever be seen, is the heavier one.
//   - A stump replaces another only if its score is higher by more than `tolerance`: of those that differ by rounding
//     the first stays, whatever the order in which weights were summed.
//   - Levels of a nominal feature: for the error every level is on the side that predicts it better; otherwise they are
//     sorted by the share of a class, each class in turn, and cut. Both are optimal for two classes.
#pragma once

#include <array>
#include <span>

#include "coterie/binning/bin_mapper.hpp"

namespace coterie {

enum class StumpScore : std::uint8_t { error, gini, exponential };

inline constexpr double kMinShare = 0.01;  // of a class on a side, before odds are taken

struct Stump {
    std::int32_t feature = -1;                   // -1: every row is on the left
    std::array<std::uint8_t, kMaxBins> right{};  // by bin
};

struct ScoredStump {
    Stump stump;
    double score;
};

/// The weights of one feature: those of bin b and class k at weights[b * n_classes + k].
struct StumpCells {
    FeatureIndex feature;
    const FeatureBins& bins;
    std::span<const std::uint64_t> weights;
    std::size_t n_classes;
};

/// The score of rows that all are on one side; `weights` has an entry for each class.
double side_score(StumpScore score, std::span<const std::uint64_t> weights);

/// Replaces `best` by a stump of this feature if one is better.
void improve_stump(StumpScore score, const StumpCells& cells, double tolerance, ScoredStump& best);

}  // namespace coterie
