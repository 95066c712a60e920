// forest/class_split.hpp: the split of one node of a tree for several classes.
//
// Words
//   cell     the weight of each class at one coarse code
//   step     a row as a sweep meets it, in the order of codes
//   sweep    moves rows from the right side to the left one after the other, and judges each cut on the way
//   lawful   both sides keep the rows and the weight that the options ask for
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "coterie/base/buffer.hpp"
#include "coterie/base/prefetch.hpp"
#include "coterie/forest/node_search.hpp"
#include "coterie/forest/random_cuts.hpp"

namespace coterie::sums {

inline constexpr std::size_t kDenseClasses = 40;       // times the classes: rows from which all cells are filled
inline constexpr std::size_t kDenseBytes = 48u << 10;  // of cells that are filled in one pass

/// Whole weights are summed in whole numbers, so that no order of rows and no way of the search changes a score.
template <class Score, class Weight, bool kRandom, bool kCountRows>
class ClassSplitFinder : public NodeSearch<LabelPay<Weight>, kCountRows> {
    using Pay = LabelPay<Weight>;
    using Base = NodeSearch<Pay, kCountRows>;
    using Base::coarse_, Base::node_, Base::rows_, Base::keys_, Base::extent_, Base::varies_, Base::done_,
        Base::perfect_, Base::n_rows, Base::for_codes, Base::ranks_of, Base::sort_codes, Base::is_lawful;
    using Square = std::conditional_t<Pay::kWhole, std::int64_t, double>;

public:
    using Node = NodeView<Pay>;

    ClassSplitFinder(const ForestRows& rows, const ForestTreeOptions& options, const PackedForest& forest)
        : Base(rows, options, forest),
          n_classes_(rows.targets.n_classes[0]),
          width_((n_classes_ + 3) / 4 * 4),
          together_(std::clamp<std::size_t>(kDenseBytes / (256 * width_ * sizeof(Weight)), 1, kTogether)),
          left_(width_, 0),
          right_(width_, 0),
          below_(width_, 0),
          missing_(width_, 0),
          counts_(kRandom ? 0 : together_ * 256, 0),
          lanes_(kRandom ? width_ * kCodeColumns : 0) {
        if constexpr (kRandom) {
            values_.emplace(rows);
        } else {
            cells_.resize(together_ * 256 * width_);
            std::fill(cells_.begin(), cells_.end(), Weight{0});
        }
    }

    /// `totals`: the weight of each class in the node.
    Split find(const Node& node, std::span<const Weight> totals, std::vector<FeatureIndex>& features) {
        totals_ = totals;
        best_ = {};
        Base::begin(node, Score::of_pure_sides(node.weight));
        const bool dense = extent_ > kDenseClasses * n_classes_;
        const std::size_t together = kRandom ? (Base::takes_lanes() ? kTogether : 1) : dense ? together_ : 1;
        Base::draw_features(features, together, [&](const FeatureIndex* first, std::size_t n) {
            if constexpr (kRandom) return together > 1 ? draw_lanes(first, n) : draw_one(first[0]);
            if (dense) return search_dense(first, n);
            if (extent_ > kTinyNode) return search_buckets(first[0]);
            if (sort_codes(first[0])) search_keys(first[0]);
        });
        if (best_.coarse) refine();
        return best_;
    }

private:
    struct Step {
        std::uint32_t code;
        Pay pay;
    };

    // --- sweeps

    // Both sides as a sweep has parted them.
    void start(std::span<const Weight> on_left) {
        left_squares_ = right_squares_ = 0;
        left_weight_ = 0;
        for (std::size_t k = 0; k < n_classes_; ++k) {
            left_[k] = on_left[k];
            right_[k] = totals_[k] - on_left[k];
            left_weight_ += left_[k];
            left_squares_ += Square{left_[k]} * left_[k];
            right_squares_ += Square{right_[k]} * right_[k];
        }
    }

    void move(Pay pay) {
        Weight& left = left_[pay.label];
        Weight& right = right_[pay.label];
        if constexpr (Score::kSquares) {
            left_squares_ += Square{pay.own} * (Square{left} * 2 + pay.own);
            right_squares_ -= Square{pay.own} * (Square{right} * 2 - pay.own);
        }
        left += pay.own;
        right -= pay.own;
        left_weight_ += pay.own;
    }

    double score_of_sides() const {
        const auto left = static_cast<double>(left_weight_);
        const double right = node_->weight - left;
        if (!(left > 0.0 && right > 0.0)) return criterion::kForbidden;
        if constexpr (Score::kSquares) {
            return (static_cast<double>(left_squares_) * right + static_cast<double>(right_squares_) * left) /
                   (left * right);
        } else {
            double score = -x_log_x(left) - x_log_x(right);
            for (std::size_t k = 0; k < n_classes_; ++k)
                score += x_log_x(static_cast<double>(left_[k])) + x_log_x(static_cast<double>(right_[k]));
            return score;
        }
    }

    void take(double score, FeatureIndex feature, std::uint32_t code, bool missing_left) {
        best_ = {.score = score, .feature = feature, .code = code, .missing_left = missing_left};
        done_ = score >= perfect_ || extent_ == 2;
    }

    // What was never missing follows the heavier side.
    bool left_is_heavier() const { return 2.0 * static_cast<double>(left_weight_) > node_->weight; }

    // The best cut between steps of different codes. `on_left` and n_left rows lie before the first; `cells`: codes are
    // coarse cells.
    void sweep(FeatureIndex feature, std::span<const Step> steps, std::span<const Weight> on_left, std::size_t n_left,
               bool missing_left, bool cells) {
        start(on_left);
        const bool coarse = cells && coarse_[feature].shift > 0;
        for (std::size_t i = 0; i + 1 < steps.size(); ++i) {
            move(steps[i].pay);
            if (steps[i].code == steps[i + 1].code) continue;
            const double score = score_of_sides();
            if (!(score > best_.score) || !is_lawful(static_cast<double>(left_weight_), n_left + i + 1)) continue;
            const std::uint32_t code = steps[i].code;
            const std::uint32_t next = steps[i + 1].code;
            take(score, feature, coarse ? code : (code + next) / 2, has_missing_ ? missing_left : left_is_heavier());
            best_.coarse = coarse;
            best_.next = next;
        }
    }

    // Missing values on either side of all cuts, and against all that is known.
    void sweep_known(FeatureIndex feature, std::span<const Step> steps, bool cells) {
        if (has_missing_ && !steps.empty()) judge_missing(feature);
        sweep(feature, steps, nothing(), 0, false, cells);
        if (has_missing_) sweep(feature, steps, missing_, n_missing_, true, cells);
    }

    void judge_missing(FeatureIndex feature) {
        for (std::size_t k = 0; k < n_classes_; ++k) below_[k] = totals_[k] - missing_[k];
        start(below_);
        const double score = score_of_sides();
        if (score > best_.score && is_lawful(static_cast<double>(left_weight_), n_rows() - n_missing_))
            take(score, feature, rows_.table.features[feature].n_codes - 1, false);
    }

    std::span<const Weight> nothing() {
        std::fill(below_.begin(), below_.end(), Weight{0});
        return below_;
    }

    void clear_missing() {
        std::fill(missing_.begin(), missing_.end(), Weight{0});
        n_missing_ = 0;
        has_missing_ = false;
    }

    void see_missing(Pay pay) {
        missing_[pay.label] += pay.own;
        ++n_missing_;
        has_missing_ = true;
    }

    // --- small nodes: by sorted codes

    void search_keys(FeatureIndex feature) {
        varies_ = true;
        clear_missing();
        steps_.clear();
        for (const std::uint64_t key : keys_) {
            const Pay pay = node_->records[static_cast<std::uint32_t>(key)].pay;
            const auto code = static_cast<std::uint32_t>(key >> 32);
            if (code == kMissingCode)
                see_missing(pay);
            else
                steps_.push_back({code, pay});
        }
        sweep_known(feature, steps_, false);
    }

    // --- middling nodes: rows are put into the order of their cells

    void search_buckets(FeatureIndex feature) {
        const Coarse coarse = coarse_[feature];
        const std::size_t n = n_rows();
        std::array<std::uint64_t, 4> touched{};
        if (drawn_.size() < n) drawn_.resize(n);
        for_codes(feature, [&](std::size_t i, std::uint32_t code) {
            const std::uint32_t cell = coarse(code);
            drawn_[i] = static_cast<Code>(cell);
            touched[cell >> 6] |= std::uint64_t{1} << (cell & 63);
            ++places_[cell];
        });
        clear_missing();
        std::uint32_t next = 0;
        std::size_t n_cells = 0;
        for (std::uint32_t word = 0; word < 4; ++word) {
            for (std::uint64_t bits = touched[word]; bits != 0; bits &= bits - 1) {
                const std::uint32_t cell = word * 64 + static_cast<std::uint32_t>(std::countr_zero(bits));
                next += std::exchange(places_[cell], next);
                n_cells += cell != kMissingCode;
            }
        }
        if (steps_.size() < n) steps_.resize(n);
        const std::uint32_t n_missing = touched[0] & 1 ? n_places_missing(n, touched) : 0;
        for (std::size_t i = 0; i < n; ++i) {
            const std::uint32_t cell = drawn_[i];
            steps_[places_[cell]++] = {cell, node_->records[i].pay};
        }
        for (std::uint32_t word = 0; word < 4; ++word)
            for (std::uint64_t bits = touched[word]; bits != 0; bits &= bits - 1)
                places_[word * 64 + static_cast<std::uint32_t>(std::countr_zero(bits))] = 0;
        for (std::uint32_t i = 0; i < n_missing; ++i) see_missing(steps_[i].pay);
        if (n_cells == 1 && coarse.shift > 0) return search_inside(feature);
        if (n_cells + has_missing_ < 2) return;
        varies_ = true;
        sweep_known(feature, {steps_.data() + n_missing, n - n_missing}, true);
    }

    // Rows without a value: they come first, so the next cell begins where they end.
    std::uint32_t n_places_missing(std::size_t n, std::array<std::uint64_t, 4> touched) const {
        touched[0] &= touched[0] - 1;
        for (std::uint32_t word = 0; word < 4; ++word)
            if (touched[word] != 0)
                return places_[word * 64 + static_cast<std::uint32_t>(std::countr_zero(touched[word]))];
        return static_cast<std::uint32_t>(n);
    }

    // All known values lie in one cell, so its codes are searched.
    void search_inside(FeatureIndex feature) {
        if (sort_codes(feature)) search_keys(feature);
    }

    // --- large nodes: all cells of a few features in one pass

    template <std::size_t kFeatures>
    void fill_dense(const FeatureIndex* features) {
        std::array<Coarse, kFeatures> coarse;
        std::array<FeatureIndex, kFeatures> column;
        std::array<const std::uint16_t*, kFeatures> ranks{};
        bool ranked = false;
        for (std::size_t k = 0; k < kFeatures; ++k) {
            coarse[k] = coarse_[features[k]];
            column[k] = features[k];
            ranks[k] = ranks_of(features[k]);
            ranked = ranked || ranks[k] != nullptr;
        }
        Weight* const cells = cells_.data();
        const std::size_t width = width_;
        const Code* const base = node_->codes;
        const std::size_t stride = node_->stride;
        const Record<Pay>* const records = node_->records.data();
        const std::size_t n = n_rows();
        for (std::size_t i = 0; i < n; ++i) {
            const Record<Pay> record = records[i];
            if (i + kAhead < n) prefetch(base + records[i + kAhead].row * stride + column[0]);
            const Code* const row = base + record.row * stride;
            for (std::size_t k = 0; k < kFeatures; ++k) {
                std::uint32_t code = row[column[k]];
                if (ranked && ranks[k] != nullptr) code = ranks[k][code];
                const std::size_t cell = 256 * k + coarse[k](code);
                cells[cell * width + record.pay.label] += record.pay.own;
                if constexpr (kCountRows) ++counts_[cell];
            }
        }
    }

    void search_dense(const FeatureIndex* features, std::size_t n) {
        static_assert(kTogether == 8);
        switch (n) {
            case 1: fill_dense<1>(features); break;
            case 2: fill_dense<2>(features); break;
            case 3: fill_dense<3>(features); break;
            case 4: fill_dense<4>(features); break;
            case 5: fill_dense<5>(features); break;
            case 6: fill_dense<6>(features); break;
            case 7: fill_dense<7>(features); break;
            default: fill_dense<8>(features); break;
        }
        for (std::size_t k = 0; k < n; ++k) judge_dense(features[k], 256 * k);
    }

    // Leaves the cells empty.
    void judge_dense(FeatureIndex feature, std::size_t first) {
        const Coarse coarse = coarse_[feature];
        const std::uint32_t last = coarse(rows_.table.features[feature].n_codes - 1);
        Weight* const cells = cells_.data() + first * width_;
        std::uint32_t* const counts = counts_.data() + first;
        n_missing_ = kCountRows ? counts[0] : 0;
        has_missing_ = false;
        for (std::size_t k = 0; k < n_classes_; ++k) {
            missing_[k] = cells[k];
            has_missing_ = has_missing_ || cells[k] > 0;
        }
        std::array<std::uint64_t, 4> touched{};
        for (std::uint32_t cell = 1; cell <= last; ++cell) {
            Weight any = 0;
            for (std::size_t k = 0; k < width_; ++k) any += cells[cell * width_ + k];
            touched[cell >> 6] |= std::uint64_t{any > 0} << (cell & 63);
        }
        std::size_t n_cells = 0;
        for (const std::uint64_t bits : touched) n_cells += static_cast<std::size_t>(std::popcount(bits));
        if (n_cells > 1 || (n_cells == 1 && has_missing_ && coarse.shift == 0)) {
            varies_ = true;
            if (has_missing_) judge_missing(feature);
            sweep_cells(feature, cells, counts, touched, nothing(), 0, false);
            if (has_missing_) sweep_cells(feature, cells, counts, touched, missing_, n_missing_, true);
        }
        std::fill_n(cells, (last + 1) * width_, Weight{0});
        if constexpr (kCountRows) std::fill_n(counts, last + 1, 0u);
        if (n_cells == 1 && coarse.shift > 0) search_inside(feature);
    }

    void sweep_cells(FeatureIndex feature, const Weight* cells, const std::uint32_t* counts,
                     std::array<std::uint64_t, 4> touched, std::span<const Weight> on_left, std::size_t n_left,
                     bool missing_left) {
        std::copy_n(on_left.begin(), n_classes_, left_.begin());
        std::uint32_t before = 0;
        for (std::uint32_t word = 0; word < 4; ++word) {
            for (std::uint64_t bits = touched[word]; bits != 0; bits &= bits - 1) {
                const std::uint32_t cell = word * 64 + static_cast<std::uint32_t>(std::countr_zero(bits));
                if (before > 0) judge_cell(feature, before, cell, n_left, missing_left);
                const Weight* const own = cells + cell * width_;
                for (std::size_t k = 0; k < width_; ++k) left_[k] += own[k];
                if constexpr (kCountRows) n_left += counts[cell];
                before = cell;
            }
        }
    }

    void judge_cell(FeatureIndex feature, std::uint32_t cell, std::uint32_t next, std::size_t n_left,
                    bool missing_left) {
        left_squares_ = right_squares_ = 0;
        left_weight_ = 0;
        for (std::size_t k = 0; k < n_classes_; ++k) {
            right_[k] = totals_[k] - left_[k];
            left_weight_ += left_[k];
            if constexpr (Score::kSquares) {
                left_squares_ += Square{left_[k]} * left_[k];
                right_squares_ += Square{right_[k]} * right_[k];
            }
        }
        const double score = score_of_sides();
        if (!(score > best_.score) || !is_lawful(static_cast<double>(left_weight_), n_left)) return;
        const bool coarse = coarse_[feature].shift > 0;
        take(score, feature, coarse ? cell : (cell + next) / 2, has_missing_ ? missing_left : left_is_heavier());
        best_.coarse = coarse;
        best_.next = next;
    }

    // The best cut lies between two cells; the exact one is looked for among the codes of both.
    void refine() {
        const Split rough = best_;
        const Coarse coarse = coarse_[rough.feature];
        const std::uint32_t from = coarse.first(rough.code);
        const std::uint32_t reach = coarse.last(rough.next) - from;
        keys_.clear();
        clear_missing();
        nothing();
        std::size_t n_below = 0;
        for_codes(rough.feature, [&](std::size_t i, std::uint32_t code) {
            const Pay pay = node_->records[i].pay;
            if (code - from <= reach) {
                keys_.push_back(std::uint64_t{code} << 32 | i);
            } else if (code == kMissingCode) {
                see_missing(pay);
            } else if (code < from) {
                below_[pay.label] += pay.own;
                ++n_below;
            }
        });
        std::sort(keys_.begin(), keys_.end());
        steps_.clear();
        for (const std::uint64_t key : keys_)
            steps_.push_back(
                {static_cast<std::uint32_t>(key >> 32), node_->records[static_cast<std::uint32_t>(key)].pay});
        best_ = {};
        sweep(rough.feature, steps_, below_, n_below, false, false);
        if (has_missing_) {
            for (std::size_t k = 0; k < n_classes_; ++k) below_[k] += missing_[k];
            sweep(rough.feature, steps_, below_, n_below + n_missing_, true, false);
        }
        if (best_.found()) return;
        best_ = rough;  // only rounding, of weights that are no whole numbers, can lead here
        best_.code = coarse.last(rough.code);
        best_.coarse = false;
    }

    // --- random thresholds, for extra trees

    // The sides lie in left_ and left_weight_.
    void judge_drawn(FeatureIndex feature, const CodeRange& range, RandomCut cut) {
        has_missing_ = range.has_missing();
        const double score = score_of_sides();
        if (!(score > best_.score)) return;
        take(score, feature, cut.last, has_missing_ ? cut.shift == 0 : left_is_heavier());
    }

    void draw_one(FeatureIndex feature) {
        const std::size_t n = n_rows();
        if (drawn_.size() < n) drawn_.resize(n);
        CodeRange range;
        for_codes(feature, [&](std::size_t i, std::uint32_t code) {
            drawn_[i] = static_cast<Code>(code);
            range.see(code);
        });
        if (!range.varies()) return;
        varies_ = true;
        const RandomCut cut = draw_cut(*values_, Base::draws_, &feature, 0, range);
        nothing();
        std::uint32_t n_left = 0;
        for (std::size_t i = 0; i < n; ++i) {
            const bool goes = cut.goes_left(drawn_[i]);
            const Pay pay = node_->records[i].pay;
            below_[pay.label] += goes ? pay.own : Weight{0};
            if constexpr (kCountRows) n_left += goes;
        }
        start(below_);
        if (is_lawful(static_cast<double>(left_weight_), n_left)) judge_drawn(feature, range, cut);
    }

    // The same for up to eight features in one pass.
    void draw_lanes(const FeatureIndex* features, std::size_t n_features) {
        static_assert(kTogether == kCodeColumns);
        if constexpr (Pay::kWhole) {
            const std::size_t n = n_rows();
            if (drawn_.size() < n * kCodeColumns) drawn_.resize(n * kCodeColumns);
            CodeRanges ranges;
            kernels().words.gather_codes(node_->codes, node_->stride, word_records(node_->records), n, features,
                                         n_features, drawn_.data(), ranges);
            std::array<RandomCut, kCodeColumns> cuts{};
            std::array<std::uint16_t, kCodeColumns> shift{};
            std::array<std::uint16_t, kCodeColumns> reach{};
            for (std::size_t k = 0; k < n_features; ++k) {
                const CodeRange range = CodeRange::of_lane(ranges, k);
                if (!range.varies()) continue;
                varies_ = true;
                cuts[k] = draw_cut(*values_, Base::draws_, features, k, range);
                shift[k] = cuts[k].shift;
                reach[k] = static_cast<std::uint16_t>(cuts[k].last - cuts[k].shift);
            }
            std::fill(lanes_.begin(), lanes_.end(), 0);
            for (std::size_t i = 0; i < n; ++i) {
                const Pay pay = node_->records[i].pay;
                std::int32_t* const sum = lanes_.data() + pay.label * kCodeColumns;
                const Code* const code = drawn_.data() + i * kCodeColumns;
                for (std::size_t k = 0; k < kCodeColumns; ++k)
                    sum[k] += static_cast<std::uint16_t>(code[k] - shift[k]) <= reach[k] ? pay.own : 0;
            }
            for (std::size_t k = 0; k < n_features; ++k) {
                const CodeRange range = CodeRange::of_lane(ranges, k);
                if (!range.varies()) continue;
                for (std::size_t label = 0; label < n_classes_; ++label)
                    below_[label] = lanes_[label * kCodeColumns + k];
                start(below_);
                judge_drawn(features[k], range, cuts[k]);
            }
        }
    }

    std::optional<CodeValues> values_;
    std::size_t n_classes_;
    std::size_t width_;     // of a cell: the classes, and some space
    std::size_t together_;  // features whose cells are filled in one pass
    std::span<const Weight> totals_;
    Split best_;

    std::vector<Weight> left_;
    std::vector<Weight> right_;
    std::vector<Weight> below_;  // what a sweep begins with
    std::vector<Weight> missing_;
    std::size_t n_missing_ = 0;
    bool has_missing_ = false;
    Weight left_weight_ = 0;
    Square left_squares_ = 0;
    Square right_squares_ = 0;

    std::vector<Step> steps_;
    std::array<std::uint32_t, 256> places_{};
    Buffer<Weight> cells_;
    std::vector<std::uint32_t> counts_;
    std::vector<Code> drawn_;
    std::vector<std::int32_t> lanes_;  // sums of the left side: a class after the other, a feature per lane
};

}  // namespace coterie::sums
