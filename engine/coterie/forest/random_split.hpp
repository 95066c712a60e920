// forest/random_split.hpp: the split of a node by random thresholds, the best of one for each feature that was drawn.
//
// For all targets but two classes with whole weights, whose nodes are sets (set_search.hpp).
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "coterie/forest/class_sides.hpp"
#include "coterie/forest/node_search.hpp"
#include "coterie/forest/random_cuts.hpp"

namespace coterie::sums {

template <class Statistic, bool kCountRows>
class RandomSearch : public NodeSearch<Statistic, kCountRows> {
    using Base = NodeSearch<Statistic, kCountRows>;

public:
    RandomSearch(const ForestRows& rows, const ForestTreeOptions& options, const PackedForest& forest)
        : Base(rows, options, forest), values_(rows) {}

protected:
    /// Up to eight features, a lane for each.
    struct Lanes {
        std::array<CodeRange, kCodeColumns> range;
        std::array<std::uint16_t, kCodeColumns> shift{};
        std::array<std::uint16_t, kCodeColumns> last{};

        RandomCut cut(std::size_t k) const { return {shift[k], last[k]}; }
    };

    /// Features are tried together, or one by one if there are few rows.
    template <class TryOne, class TryLanes>
    void draw_features(std::vector<FeatureIndex>& features, TryOne try_one, TryLanes try_lanes) {
        static_assert(kTogether == kCodeColumns);
        const bool together = Base::takes_lanes();
        Base::draw_features(features, together ? kTogether : 1, [&](const FeatureIndex* first, std::size_t n) {
            if constexpr (Statistic::kWhole)
                if (n > 1) return try_lanes(first, n);
            for (std::size_t k = 0; k < n; ++k) try_one(first + k);
        });
    }

    /// The codes of all records in one feature, in `codes_`.
    CodeRange gather(FeatureIndex feature) {
        if (codes_.size() < Base::n_rows()) codes_.resize(Base::n_rows());
        CodeRange range;
        Base::for_codes(feature, [&](std::size_t i, std::uint32_t code) {
            codes_[i] = static_cast<Code>(code);
            range.see(code);
        });
        return range;
    }

    RandomCut draw(const FeatureIndex* features, std::size_t k, const CodeRange& range) {
        Base::varies_ = true;
        return draw_cut(values_, Base::draws_, features, k, range);
    }

    /// The same for several features: codes lie record after record, a lane for each feature.
    Lanes gather_lanes(const FeatureIndex* features, std::size_t n_features, Code* codes) {
        CodeRanges ranges;
        kernels().words.gather_codes(Base::node_->codes, Base::node_->stride, word_records(Base::node_->records),
                                     Base::n_rows(), features, n_features, codes, ranges);
        Lanes lanes;
        for (std::size_t k = 0; k < n_features; ++k) {
            lanes.range[k] = CodeRange::of_lane(ranges, k);
            if (!lanes.range[k].varies()) continue;
            const RandomCut cut = draw(features, k, lanes.range[k]);
            lanes.shift[k] = cut.shift;
            lanes.last[k] = cut.last;
        }
        return lanes;
    }

    // What was never missing follows the heavier side.
    void score_cut(double score, FeatureIndex feature, const CodeRange& range, RandomCut cut, bool left_is_heavier) {
        if (score > Base::best_.score)
            Base::take(score, feature, cut.last, range.has_missing() ? cut.shift == 0 : left_is_heavier);
    }

    std::vector<Code> codes_;

private:
    CodeValues values_;
};

/// Two classes, or numbers.
template <class Score, class Statistic, bool kCountRows>
class RandomSumFinder : public RandomSearch<Statistic, kCountRows> {
    using Base = RandomSearch<Statistic, kCountRows>;
    using Base::node_, Base::best_, Base::seen_, Base::n_rows;

public:
    using Base::Base;

    /// `statistic`: of all records.
    Split find(const NodeView<Statistic>& node, Statistic statistic, std::vector<FeatureIndex>& features) {
        total_ = statistic.sums();
        Base::begin(node, Score::of_pure_sides(total_));
        Base::draw_features(
            features, [&](const FeatureIndex* feature) { try_one(feature); },
            [&](const FeatureIndex* first, std::size_t n) { try_lanes(first, n); });
        return best_;
    }

private:
    void score_left(FeatureIndex feature, const CodeRange& range, RandomCut cut, Sums left) {
        Base::score_cut(Score::split(left, total_ - left), feature, range, cut, left.weight * 2 > total_.weight);
    }

    void try_one(const FeatureIndex* feature) {
        const CodeRange range = Base::gather(*feature);
        if (!range.varies()) return;
        const RandomCut cut = Base::draw(feature, 0, range);
        Statistic left{};
        std::uint32_t n_left = 0;
        for (std::size_t i = 0; i < n_rows(); ++i) {
            const bool goes = cut.goes_left(Base::codes_[i]);
            left.add_if(goes, node_->records[i].statistic);
            if constexpr (kCountRows) n_left += goes;
        }
        const double before = best_.score;
        if (Base::is_valid(left.weight(), n_left)) score_left(*feature, range, cut, left.sums());
        if (best_.score > before) seen_ = {};  // what was kept is another feature's
    }

    void try_lanes(const FeatureIndex* features, std::size_t n_features) {
        if constexpr (Statistic::kWhole) {
            Code* const seen = seen_buffers_.room(kCodeColumns * n_rows(), seen_);
            const auto lanes = Base::gather_lanes(features, n_features, seen);
            std::array<std::uint64_t, kCodeColumns> left;
            kernels().words.sum_left(seen, word_records(node_->records), n_rows(), lanes.shift.data(),
                                     lanes.last.data(), left.data());
            for (std::size_t k = 0; k < n_features; ++k) {
                if (!lanes.range[k].varies()) continue;
                const double before = best_.score;
                score_left(features[k], lanes.range[k], lanes.cut(k), Statistic{left[k]}.sums());
                if (!(best_.score > before)) continue;
                seen_ = {seen + k, kCodeColumns};
                seen_buffers_.keep();
            }
        }
    }

    Sums total_;  // of the node
    SeenBuffers seen_buffers_;
};

/// Several classes.
template <class Score, class Weight, bool kCountRows>
class RandomClassFinder : public RandomSearch<LabelStatistic<Weight>, kCountRows> {
    using Statistic = LabelStatistic<Weight>;
    using Base = RandomSearch<Statistic, kCountRows>;
    using Base::node_, Base::best_, Base::codes_, Base::n_rows;

public:
    RandomClassFinder(const ForestRows& rows, const ForestTreeOptions& options, const PackedForest& forest)
        : Base(rows, options, forest),
          n_classes_(rows.targets.n_classes[0]),
          sides_(n_classes_, n_classes_),
          left_(n_classes_, 0),
          lanes_(n_classes_ * kCodeColumns, 0) {}

    /// `totals`: the weight of each class in the node.
    Split find(const NodeView<Statistic>& node, std::span<const Weight> totals, std::vector<FeatureIndex>& features) {
        sides_.begin(totals, node.weight);
        Base::begin(node, Score::of_pure_sides(node.weight));
        Base::draw_features(
            features, [&](const FeatureIndex* feature) { try_one(feature); },
            [&](const FeatureIndex* first, std::size_t n) { try_lanes(first, n); });
        return best_;
    }

private:
    void try_one(const FeatureIndex* feature) {
        const CodeRange range = Base::gather(*feature);
        if (!range.varies()) return;
        const RandomCut cut = Base::draw(feature, 0, range);
        std::fill(left_.begin(), left_.end(), Weight{0});
        std::uint32_t n_left = 0;
        for (std::size_t i = 0; i < n_rows(); ++i) {
            const bool goes = cut.goes_left(codes_[i]);
            const Statistic statistic = node_->records[i].statistic;
            left_[statistic.label] += goes ? statistic.own : Weight{0};
            if constexpr (kCountRows) n_left += goes;
        }
        sides_.start(left_);
        if (Base::is_valid(sides_.left_weight(), n_left)) score_sides(*feature, range, cut);
    }

    void try_lanes(const FeatureIndex* features, std::size_t n_features) {
        if constexpr (Statistic::kWhole) {
            const std::size_t n = n_rows();
            if (codes_.size() < n * kCodeColumns) codes_.resize(n * kCodeColumns);
            const auto lanes = Base::gather_lanes(features, n_features, codes_.data());
            const std::array<std::uint16_t, kCodeColumns> shift = lanes.shift;
            std::array<std::uint16_t, kCodeColumns> reach{};
            for (std::size_t k = 0; k < kCodeColumns; ++k)
                reach[k] = static_cast<std::uint16_t>(lanes.last[k] - shift[k]);
            std::fill(lanes_.begin(), lanes_.end(), 0);
            const auto* const records = node_->records.data();
            std::int32_t* const sums = lanes_.data();
            const Code* const codes = codes_.data();
            for (std::size_t i = 0; i < n; ++i) {
                const Statistic statistic = records[i].statistic;
                std::int32_t* const sum = sums + statistic.label * kCodeColumns;
                const Code* const code = codes + i * kCodeColumns;
                for (std::size_t k = 0; k < kCodeColumns; ++k)
                    sum[k] += static_cast<std::uint16_t>(code[k] - shift[k]) <= reach[k] ? statistic.own : 0;
            }
            for (std::size_t k = 0; k < n_features; ++k) {
                if (!lanes.range[k].varies()) continue;
                for (std::size_t label = 0; label < n_classes_; ++label)
                    left_[label] = lanes_[label * kCodeColumns + k];
                sides_.start(left_);
                score_sides(features[k], lanes.range[k], lanes.cut(k));
            }
        }
    }

    void score_sides(FeatureIndex feature, const CodeRange& range, RandomCut cut) {
        Base::score_cut(sides_.score(), feature, range, cut, sides_.left_is_heavier());
    }

    std::size_t n_classes_;
    ClassSides<Score, Weight> sides_;
    std::vector<Weight> left_;         // of each class
    std::vector<std::int32_t> lanes_;  // the same for several features: a class after the other
};

}  // namespace coterie::sums
