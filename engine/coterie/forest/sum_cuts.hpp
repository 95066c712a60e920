// forest/sum_cuts.hpp: the cuts of a feature in a node of a sum tree, and their scores.
//
// Words
//   cut      a boundary between two neighbouring codes (or cells) of a node; `left_*` hold what lies before each cut
//   valid    both sides keep the rows and the weight that the options require
#pragma once

#include <algorithm>
#include <vector>

#include "coterie/forest/node_search.hpp"

namespace coterie::sums {

template <class Score, class Statistic, bool kCountRows>
class SumCuts : public NodeSearch<Statistic, kCountRows> {
    using Base = NodeSearch<Statistic, kCountRows>;

protected:
    using Base::node_, Base::rows_, Base::keys_, Base::varies_, Base::best_, Base::n_rows, Base::ranks_of,
        Base::sort_codes, Base::is_valid;

public:
    using Base::Base;

protected:
    /// `statistic`: of all records.
    void begin(const NodeView<Statistic>& node, Statistic statistic) {
        statistic_ = statistic;
        total_ = statistic.sums();
        Base::begin(node, Score::of_pure_sides(total_));
    }

    void take(double score, FeatureIndex feature, std::uint32_t code, bool missing_left, Sums left) {
        Base::take(score, feature, code, missing_left);
        best_left_ = left;
        best_missing_ = {};
    }

    // The best of n cuts: left_* say what lies before each, without missing rows. Returns its number, or n.
    std::size_t score_cuts(FeatureIndex feature, std::size_t n, Sums missing, std::uint32_t n_missing) {
        std::size_t chosen = n;
        for (const bool missing_left : {false, true}) {
            if (missing_left) {
                if (missing.weight == 0.0) break;
                for (std::size_t i = 0; i < n; ++i) {
                    left_sum_[i] += missing.sum;
                    left_weight_[i] += missing.weight;
                    left_count_[i] += n_missing;
                }
            }
            Score::scores(left_sum_.data(), left_weight_.data(), n, total_, score_.data());
            double best = best_.score;
            std::size_t at = n;
            for (std::size_t i = 0; i < n; ++i) {
                if (!(score_[i] > best)) continue;
                if (!is_valid(left_weight_[i], left_count_[i])) continue;
                best = score_[i];
                at = i;
            }
            if (at == n) continue;
            take(best, feature, last_[at], missing_left, {left_sum_[at], left_weight_[at]});
            best_missing_ = missing;
            chosen = at;
        }
        // What was never missing follows the heavier side.
        if (chosen < n && missing.weight == 0.0) best_.missing_left = best_left_.weight * 2 > total_.weight;
        return chosen;
    }

    // Known values on the left, missing ones on the right.
    void score_missing(FeatureIndex feature, Sums missing, std::uint32_t n_missing) {
        const Sums left = total_ - missing;
        if (!is_valid(left.weight, n_rows() - n_missing)) return;
        const double score = Score::split(left, missing);
        if (score > best_.score) take(score, feature, rows_.table.features[feature].n_codes - 1, false, left);
    }

    void make_room(std::size_t n_cuts) {
        if (left_sum_.size() >= n_cuts) return;
        left_sum_.resize(n_cuts);
        left_weight_.resize(n_cuts);
        left_count_.resize(n_cuts);
        score_.resize(n_cuts);
        last_.resize(n_cuts);
        next_.resize(n_cuts);
    }

    // --- small nodes: by sorted codes

    void search_sorted(FeatureIndex feature) {
        const std::size_t n = n_rows();
        keys_.resize(n);
        if (n == 2) {  // most nodes; a feature that varies parts them
            const std::uint16_t* const ranks = ranks_of(feature);
            std::uint32_t a = node_->codes[node_->records[0].row * node_->stride + feature];
            std::uint32_t b = node_->codes[node_->records[1].row * node_->stride + feature];
            if (ranks != nullptr) a = ranks[a], b = ranks[b];
            if (a == b) return;
            keys_[0] = std::min(std::uint64_t{a} << 32, std::uint64_t{b} << 32 | 1);
            keys_[1] = std::max(std::uint64_t{a} << 32, std::uint64_t{b} << 32 | 1);
        } else if (!sort_codes(feature)) {
            return;
        }
        varies_ = true;
        score_keys(feature, n);
    }

    // The cuts between different codes from key `first` on. Keys are code << 32 | record, ascending; `below` is on the
    // left already. Returns how many there are.
    std::size_t fill_cuts(std::size_t first, std::size_t n, Sums below, std::uint32_t n_below) {
        make_room(n);
        Statistic left{};
        std::size_t n_cuts = 0;
        for (std::size_t i = first; i + 1 < n; ++i) {
            left += node_->records[static_cast<std::uint32_t>(keys_[i])].statistic;
            const auto code = static_cast<std::uint32_t>(keys_[i] >> 32);
            const auto next = static_cast<std::uint32_t>(keys_[i + 1] >> 32);
            const Sums so_far = below + left.sums();
            left_sum_[n_cuts] = so_far.sum;
            left_weight_[n_cuts] = so_far.weight;
            left_count_[n_cuts] = n_below + static_cast<std::uint32_t>(i + 1 - first);
            last_[n_cuts] = (code + next) / 2;
            n_cuts += code != next;
        }
        return n_cuts;
    }

    void score_keys(FeatureIndex feature, std::size_t n) {
        Statistic missing{};
        std::uint32_t n_missing = 0;
        for (; n_missing < n && keys_[n_missing] >> 32 == kMissingCode; ++n_missing)
            missing += node_->records[static_cast<std::uint32_t>(keys_[n_missing])].statistic;
        const std::size_t n_cuts = fill_cuts(n_missing, n, {}, 0);
        if (n_missing > 0) score_missing(feature, missing.sums(), n_missing);
        score_cuts(feature, n_cuts, missing.sums(), n_missing);
    }

    // All known values lie in one cell, so its codes are searched.
    void search_inside(FeatureIndex feature) {
        if (!sort_codes(feature)) return;
        varies_ = true;
        score_keys(feature, keys_.size());
    }

    Statistic statistic_;  // of the node
    Sums total_;           // the same, as numbers
    Sums best_left_;       // of the best split
    Sums best_missing_;    // what is missing in its feature

    std::vector<double> left_sum_;
    std::vector<double> left_weight_;
    std::vector<std::uint32_t> left_count_;
    std::vector<double> score_;
    std::vector<std::uint32_t> last_;
    std::vector<std::uint32_t> next_;
};

}  // namespace coterie::sums
