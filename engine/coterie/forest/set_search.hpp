// forest/set_search.hpp: the split of a node of two classes that is a set of rows, by random thresholds.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

#include "coterie/exact/criterion_tree.hpp"
#include "coterie/forest/node_draws.hpp"
#include "coterie/forest/random_cuts.hpp"

namespace coterie::sums {

struct SetNode {
    const RowSet* set;
    ClassStatistic total;
    std::size_t n_rows;
};

struct SetSplit {
    double gain = criterion::kForbidden;  // of the score, beyond that of the node
    FeatureIndex feature = 0;
    RandomCut cut;
    bool missing_left = false;
    std::size_t n_left = 0;
    ClassStatistic left;  // of the rows that go left
    RowSet left_set = 0;  // the rows themselves, if one word holds the set

    bool found() const { return gain != criterion::kForbidden; }
};

template <class Score>
class RandomSetSearch {
public:
    RandomSetSearch(const CodeValues& values, const CriterionOptions& options, NodeDraws& draws)
        : values_(values),
          options_(options),
          draws_(draws),
          draws_together_(std::is_same_v<Score, SquareScore> && values.all_by_code() && options.min_rows_leaf <= 1 &&
                          options.min_weight_leaf <= 0.0) {}

    /// Of a set with rows of both classes.
    const SetSplit& find(const SetNode& node, const TransposedCodes& codes, const SetWeights& weights,
                         std::vector<FeatureIndex>& features) {
        total_ = node.total.sums();
        split_.gain = criterion::kForbidden;
        best_ = {.gain = criterion::kForbidden};
        varies_ = false;
        draws_.start_node();
        const bool together = codes.n_words == 1 && draws_together_;
        const bool two = node.n_rows == 2 && together;
        // A long column is read twice before the next one takes its place in the cache.
        const std::size_t at_once = codes.n_words < kLongColumn ? kCodeColumns : 1;
        draws_.draw_features(features, at_once, varies_, [&](const FeatureIndex* first, std::size_t n) {
            if (two && split_two(node, codes, first, n)) return true;
            if (!together || !draw_together(node, codes, weights, first, n)) draw_cuts(node, codes, weights, first, n);
            return false;
        });
        return split_;
    }

private:
    static constexpr std::size_t kLongColumn = 64;  // words: eight columns of codes do not fit into the nearest cache

    // In one kernel. Returns false where something is missing.
    bool draw_together(const SetNode& node, const TransposedCodes& codes, const SetWeights& weights,
                       const FeatureIndex* features, std::size_t n) {
        if (!kernels().row_set.draw_cuts(codes, *node.set, features, n, draws_.shares(), weights, node.total.word,
                                         best_))
            return false;
        varies_ = varies_ || best_.varies;
        if (!best_.found) return true;
        const ClassStatistic statistic{best_.statistic};
        split_.gain = Score::gain(best_.gain, total_);
        split_.feature = features[best_.column];
        split_.cut.shift = 1;
        split_.cut.last = best_.last;
        split_.missing_left = statistic.weight() * 2 > total_.weight;
        split_.n_left = static_cast<std::size_t>(std::popcount(best_.left));
        split_.left = statistic;
        split_.left_set = best_.left;
        return true;
    }

    // Two rows of different classes: the first feature that varies parts them, wherever the threshold lies. Returns
    // false if there is none, or something is missing.
    bool split_two(const SetNode& node, const TransposedCodes& codes, const FeatureIndex* features, std::size_t n) {
        const std::size_t first = static_cast<std::size_t>(std::countr_zero(*node.set));
        const std::size_t second = static_cast<std::size_t>(std::countr_zero(*node.set & (*node.set - 1)));
        for (std::size_t k = 0; k < n; ++k) {
            const std::uint32_t a = codes.column[features[k]][first];
            const std::uint32_t b = codes.column[features[k]][second];
            if (a == kMissingCode || b == kMissingCode) return false;
            if (a == b) continue;
            const std::uint32_t low = std::min(a, b);
            const std::uint64_t span = std::max(a, b) - low;
            const std::uint64_t of_second = node.total.word >> 32;
            split_.feature = features[k];
            split_.cut.shift = 1;
            split_.cut.last = static_cast<std::uint16_t>(low + (draws_.shares()[k] * span >> 32));
            split_.n_left = 1;
            split_.left.word =
                a < b ? (node.total.word & ClassStatistic::kWeight) - of_second : of_second << 32 | of_second;
            split_.left_set = RowSet{1} << (a < b ? first : second);
            split_.missing_left = split_.left.weight() * 2 > total_.weight;
            split_.gain = Score::gain(Score::merit(split_.left.sums(), total_), total_);
            return true;
        }
        return false;
    }

    void draw_cuts(const SetNode& node, const TransposedCodes& codes, const SetWeights& weights,
                   const FeatureIndex* features, std::size_t n) {
        CodeRanges ranges;
        kernels().row_set.code_ranges(codes, node.set, features, n, ranges);
        SetCuts cuts;
        for (std::size_t k = 0; k < n; ++k) {
            const CodeRange range = CodeRange::of_lane(ranges, k);
            const RandomCut cut = draw_cut(values_, draws_, features, k, range);
            cuts.shift[k] = cut.shift;
            cuts.last[k] = cut.last;
        }
        SetSums sums;
        RowSet left[kCodeColumns];
        kernels().row_set.sum_left(codes, node.set, features, n, cuts, weights, sums,
                                   codes.n_words == 1 ? left : nullptr);
        std::int64_t best = order_of(best_.gain);
        std::size_t at = n;
        for (std::size_t k = 0; k < n; ++k) {
            const Sums own = ClassStatistic{sums.statistic[k]}.sums();
            const std::int64_t score = order_of(Score::merit(own, total_));
            if (!CodeRange::of_lane(ranges, k).varies()) continue;
            varies_ = true;
            if (!is_valid(node, own.weight, sums.n_rows[k])) continue;
            at = score > best ? k : at;
            best = score > best ? score : best;
        }
        if (at == n) return;
        const ClassStatistic statistic{sums.statistic[at]};
        const Sums own = statistic.sums();
        const bool has_missing = CodeRange::of_lane(ranges, at).has_missing();
        best_.gain = Score::merit(own, total_);
        // Field by field: what is written in one piece is slow to read in others.
        split_.gain = Score::gain(best_.gain, total_);
        split_.feature = features[at];
        split_.cut.shift = cuts.shift[at];
        split_.cut.last = cuts.last[at];
        // What was never missing follows the heavier side.
        split_.missing_left = has_missing ? cuts.shift[at] == 0 : own.weight * 2 > total_.weight;
        split_.n_left = sums.n_rows[at];
        split_.left = statistic;
        if (codes.n_words == 1) split_.left_set = left[at];
    }

    // Whole numbers in the order of scores: comparing those takes no branch.
    static std::int64_t order_of(double score) {
        const auto bits = std::bit_cast<std::int64_t>(score);
        return bits ^ (bits >> 63 & std::numeric_limits<std::int64_t>::max());
    }

    bool is_valid(const SetNode& node, double left_weight, std::size_t n_left) const {
        return n_left >= options_.min_rows_leaf && node.n_rows - n_left >= options_.min_rows_leaf &&
               left_weight >= options_.min_weight_leaf && total_.weight - left_weight >= options_.min_weight_leaf;
    }

    const CodeValues& values_;
    const CriterionOptions& options_;
    NodeDraws& draws_;
    bool draws_together_;  // sets of one word, if nothing is missing

    Sums total_;  // of the node
    DrawnCut best_;
    SetSplit split_;
    bool varies_ = false;  // some feature that was tried does
};

}  // namespace coterie::sums
