// forest/few_search.hpp: the best split of a node of two classes whose rows are a set of one word (Gini).
//
// All cuts of all features that were drawn are scored without sorting rows (kernels/small_nodes.hpp).
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <span>
#include <vector>

#include "coterie/forest/node_draws.hpp"
#include "coterie/forest/rows.hpp"
#include "coterie/forest/set_search.hpp"

namespace coterie::sums {

class FewSearch {
public:
    FewSearch(const ForestRows& rows, NodeDraws& draws) : rows_(rows), draws_(draws) {}

    /// The rows of the next nodes: their statistics.
    void start(std::span<const Record<ClassStatistic>> records) {
        for (std::size_t i = 0; i < records.size(); ++i) {
            const std::uint64_t word = records[i].statistic.word;
            statistic_[i] = static_cast<std::uint16_t>(word >> 24 | word);
        }
    }

    /// Of a set with rows of both classes. All rows together weigh kMaxClassRows at most.
    const SetSplit& find(const SetNode& node, const TransposedCodes& codes, const SetWeights& weights,
                         std::vector<FeatureIndex>& features) {
        split_.gain = criterion::kForbidden;
        best_ = {};
        varies_ = false;
        finished_ = false;
        packed_ = false;
        draws_.start_node();
        few_ = {.statistic = statistic_.data(),
                .n = node.n_rows,
                .sum = static_cast<std::uint32_t>(node.total.word >> 32),
                .weight = static_cast<std::uint32_t>(node.total.word),
                .salt = static_cast<std::uint16_t>(draws_.bits(0) & 0xffff)};
        const bool together = node.n_rows <= kernels().set_cut.max_rows;
        // Any feature that varies parts two rows: the first will do.
        draws_.draw_features(features, node.n_rows == 2 ? 1 : kCodeColumns, varies_,
                             [&](const FeatureIndex* first, std::size_t n) {
                                 bool done = false;
                                 if (together && search_together(node, codes, weights, first, n, done)) return done;
                                 pack(node);
                                 for (std::size_t k = 0; k < n && !done; ++k) done = search(node, codes, first[k]);
                                 return done;
                             });
        if (best_.gain >= 0.0f && !finished_) finish(node, codes, weights);
        return split_;
    }

private:
    // All features in one kernel. Returns false where something is missing.
    bool search_together(const SetNode& node, const TransposedCodes& codes, const SetWeights& weights,
                         const FeatureIndex* features, std::size_t n, bool& done) {
        few_.statistic = statistic_.data();
        SetCut cut;
        if (!kernels().set_cut.best(codes, *node.set, features, n, few_, weights, cut)) return false;
        if (cut.gain < 0.0f) return true;
        varies_ = true;
        if (!(cut.gain > best_.gain)) return true;
        best_.gain = cut.gain;
        finished_ = true;
        split_.feature = features[cut.column];
        split_.cut.shift = 1;
        split_.cut.last = static_cast<std::uint16_t>((cut.last + cut.next) / 2);
        split_.n_left = static_cast<std::size_t>(std::popcount(cut.left));
        split_.left = {cut.statistic};
        split_.left_set = cut.left;
        const Sums left = split_.left.sums();
        const Sums all = node.total.sums();
        split_.missing_left = left.weight * 2 > all.weight;
        split_.gain = SquareScore::split(left, all - left) - SquareScore::node(all);
        done = is_perfect(cut.gain);
        return true;
    }

    // The statistics of the rows of the node, one after the other.
    void pack(const SetNode& node) {
        few_.statistic = own_statistic_.data();
        if (packed_) return;
        kernels().row_set.codes_of(statistic_.data(), *node.set, own_statistic_.data());
        packed_ = true;
    }

    // A gain of this size parts the classes; and there is only one way to part two rows.
    bool is_perfect(float gain) const {
        return gain >= static_cast<float>(few_.sum * (few_.weight - few_.sum)) || few_.n == 2;
    }

    // Returns whether nothing can be better.
    bool search(const SetNode& node, const TransposedCodes& codes, FeatureIndex feature) {
        const std::size_t n = node.n_rows;
        kernels().row_set.codes_of(codes.column[feature], *node.set, codes_.data());
        bool has_missing = false;
        for (std::size_t i = 0; i < n; ++i) has_missing |= codes_[i] == kMissingCode;
        if (!has_missing)
            return take_if_better(kernels().small_node.cut_classes(codes_.data(), few_), feature, false, false);
        // Less one, what is missing is the greatest.
        for (std::size_t i = 0; i < n; ++i) --codes_[i];
        SmallNodeCut cut = kernels().small_node.cut_classes(codes_.data(), few_);
        ++cut.code;
        if (take_if_better(cut, feature, false, true)) return true;
        for (std::size_t i = 0; i < n; ++i) ++codes_[i];
        return take_if_better(kernels().small_node.cut_classes(codes_.data(), few_), feature, true, true);
    }

    bool take_if_better(SmallNodeCut cut, FeatureIndex feature, bool missing_left, bool has_missing) {
        if (cut.gain < 0.0f) return false;
        varies_ = true;
        if (!(cut.gain > best_.gain)) return false;
        best_ = cut;
        split_.feature = feature;
        split_.missing_left = missing_left;
        has_missing_ = has_missing;
        finished_ = false;
        return is_perfect(cut.gain);
    }

    // Who goes left, their statistic, and a threshold in the middle.
    void finish(const SetNode& node, const TransposedCodes& codes, const SetWeights& weights) {
        const FeatureIndex feature = split_.feature;
        const auto greatest = static_cast<std::uint16_t>(rows_.table.features[feature].n_codes - 1);
        auto last = static_cast<std::uint16_t>(best_.code);
        if (last == kMissingCode) {  // missing against known: known values go left
            split_.missing_left = false;
            last = greatest;
        }
        SetCuts cut;
        cut.shift[0] = split_.missing_left ? 0 : 1;
        cut.last[0] = last;
        SetSums sums;
        kernels().row_set.sum_left(codes, node.set, &feature, 1, cut, weights, sums, &split_.left_set);
        const RowSet right = *node.set & ~split_.left_set;
        CodeRanges ranges;
        kernels().row_set.code_ranges(codes, &right, &feature, 1, ranges);
        const bool only_missing = ranges.greatest[0] == kMissingCode;
        const std::uint32_t next = ranges.least_known_less_one[0] + 1u;
        split_.cut.shift = cut.shift[0];
        split_.cut.last = only_missing ? greatest : static_cast<std::uint16_t>((last + next) / 2);
        split_.n_left = sums.n_rows[0];
        split_.left = {sums.statistic[0]};
        const Sums left = split_.left.sums();
        const Sums all = node.total.sums();
        if (!has_missing_) split_.missing_left = left.weight * 2 > all.weight;
        split_.gain = SquareScore::split(left, all - left) - SquareScore::node(all);
    }

    const ForestRows& rows_;
    NodeDraws& draws_;
    alignas(kCacheLine) std::array<std::uint16_t, kMaxClassRows> statistic_;  // a column like those of codes

    SetSplit split_;
    SmallNodeCut best_;
    bool has_missing_ = false;  // in the feature of the best cut
    bool varies_ = false;       // some feature that was tried does
    bool finished_ = false;     // all of the best split is known
    bool packed_ = false;       // own_statistic_ is that of the node
    SmallClassNode few_;        // the rows of the node
    std::array<std::uint16_t, kMaxClassRows> own_statistic_;
    std::array<Code, kMaxClassRows> codes_;
};

}  // namespace coterie::sums
