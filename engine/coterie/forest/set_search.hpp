// forest/set_search.hpp: the split of a node of two classes that is a set of rows, by random thresholds.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

#include "coterie/forest/node_draws.hpp"
#include "coterie/forest/random_cuts.hpp"
#include "coterie/growth/criterion_tree.hpp"

namespace coterie::sums {

struct SetNode {
    const RowSet* set;
    ClassPay total;
    std::size_t n_rows;
};

struct SetSplit {
    double score = criterion::kForbidden;
    FeatureIndex feature = 0;
    RandomCut cut;
    bool missing_left = false;
    std::size_t n_left = 0;
    ClassPay left;        // of the rows that go left
    RowSet left_set = 0;  // the rows themselves, if one word holds the set

    bool found() const { return score != criterion::kForbidden; }
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
    const SetSplit& find(const SetNode& node, const TurnedCodes& codes, const SetPays& pays,
                         std::vector<FeatureIndex>& features) {
        total_ = node.total.sums();
        split_.score = criterion::kForbidden;
        best_ = {.gain = criterion::kForbidden};
        varies_ = false;
        draws_.start_node();
        const bool one_word = codes.n_words == 1;
        const bool together = one_word && draws_together_;
        // Every cut parts two rows of different classes, and the first feature that varies has one.
        const bool few = node.n_rows == 2 && one_word;
        draws_.draw_features(features, few ? 1 : kCodeLanes, varies_, [&](const FeatureIndex* first, std::size_t n) {
            if (few && !varies(codes.column[*first], *node.set)) return false;
            if (!together || !draw_together(node, codes, pays, first, n)) draw_cuts(node, codes, pays, first, n);
            return few;
        });
        return split_;
    }

private:
    // In one kernel. Returns false where something is missing.
    bool draw_together(const SetNode& node, const TurnedCodes& codes, const SetPays& pays, const FeatureIndex* features,
                       std::size_t n) {
        if (!kernels().draw_cuts(codes, *node.set, features, n, draws_.shares(), pays, node.total.word, best_))
            return false;
        varies_ = varies_ || best_.varies;
        if (!best_.found) return true;
        const ClassPay pay{best_.pay};
        const Sums own = pay.sums();
        split_.score = Score::split(own, total_ - own);
        split_.feature = features[best_.lane];
        split_.cut.shift = 1;
        split_.cut.last = best_.last;
        split_.missing_left = own.weight * 2 > total_.weight;
        split_.n_left = static_cast<std::size_t>(std::popcount(best_.left));
        split_.left = pay;
        split_.left_set = best_.left;
        return true;
    }

    // Of two rows.
    static bool varies(const Code* column, RowSet set) {
        return column[std::countr_zero(set)] != column[std::countr_zero(set & (set - 1))];
    }

    void draw_cuts(const SetNode& node, const TurnedCodes& codes, const SetPays& pays, const FeatureIndex* features,
                   std::size_t n) {
        CodeRanges ranges;
        kernels().set_ranges(codes, node.set, features, n, ranges);
        SetCuts cuts;
        for (std::size_t k = 0; k < n; ++k) {
            const CodeRange range = CodeRange::of_lane(ranges, k);
            const RandomCut cut = draw_cut(values_, draws_, features, k, range);
            cuts.shift[k] = cut.shift;
            cuts.last[k] = cut.last;
        }
        SetSums sums;
        RowSet left[kCodeLanes];
        kernels().sum_set(codes, node.set, features, n, cuts, pays, sums, codes.n_words == 1 ? left : nullptr);
        std::int64_t best = order_of(best_.gain);
        std::size_t at = n;
        for (std::size_t k = 0; k < n; ++k) {
            const Sums own = ClassPay{sums.pay[k]}.sums();
            const std::int64_t score = order_of(Score::merit(own, total_));
            if (!CodeRange::of_lane(ranges, k).varies()) continue;
            varies_ = true;
            if (!is_lawful(node, own.weight, sums.n_rows[k])) continue;
            at = score > best ? k : at;
            best = score > best ? score : best;
        }
        if (at == n) return;
        const ClassPay pay{sums.pay[at]};
        const Sums own = pay.sums();
        const bool has_missing = CodeRange::of_lane(ranges, at).has_missing();
        best_.gain = Score::merit(own, total_);
        // Field by field: what is written in one piece is slow to read in others.
        split_.score = Score::split(own, total_ - own);
        split_.feature = features[at];
        split_.cut.shift = cuts.shift[at];
        split_.cut.last = cuts.last[at];
        // What was never missing follows the heavier side.
        split_.missing_left = has_missing ? cuts.shift[at] == 0 : own.weight * 2 > total_.weight;
        split_.n_left = sums.n_rows[at];
        split_.left = pay;
        if (codes.n_words == 1) split_.left_set = left[at];
    }

    // Whole numbers in the order of scores: comparing those takes no branch.
    static std::int64_t order_of(double score) {
        const auto bits = std::bit_cast<std::int64_t>(score);
        return bits ^ (bits >> 63 & std::numeric_limits<std::int64_t>::max());
    }

    bool is_lawful(const SetNode& node, double left_weight, std::size_t n_left) const {
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
