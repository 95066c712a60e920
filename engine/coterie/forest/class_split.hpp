// forest/class_split.hpp: the best split of one node of a tree for several classes.
//
// Words
//   cell     the weight of each class at one coarse code
//   step     a row as a sweep meets it, in the order of codes
//   sweep    moves rows from the right side to the left one after the other, and scores each cut on the way
//   valid    both sides keep the rows and the weight that the options require
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <span>
#include <utility>
#include <vector>

#include "coterie/base/buffer.hpp"
#include "coterie/forest/class_sides.hpp"
#include "coterie/forest/node_search.hpp"

namespace coterie::sums {

inline constexpr std::size_t kDenseClasses = 40;       // times the classes: rows from which all cells are filled
inline constexpr std::size_t kDenseBytes = 48u << 10;  // of cells that are filled in one pass

/// Of the classes of a cell, and some space.
inline std::size_t cell_width(std::size_t n_classes) { return (n_classes + 3) / 4 * 4; }

template <class Score, class Weight, bool kCountRows>
class ClassSplitFinder : public NodeSearch<LabelStatistic<Weight>, kCountRows> {
    using Statistic = LabelStatistic<Weight>;
    using Base = NodeSearch<Statistic, kCountRows>;
    using Base::coarse_, Base::node_, Base::rows_, Base::keys_, Base::extent_, Base::varies_, Base::best_, Base::n_rows,
        Base::for_codes, Base::sort_codes, Base::is_valid, Base::take;

public:
    ClassSplitFinder(const ForestRows& rows, const ForestTreeOptions& options, const PackedForest& forest)
        : Base(rows, options, forest),
          n_classes_(rows.targets.n_classes[0]),
          width_(cell_width(n_classes_)),
          together_(std::clamp<std::size_t>(kDenseBytes / (kColumnCells * width_ * sizeof(Weight)), 1, kTogether)),
          sides_(n_classes_, width_),
          below_(width_, 0),
          missing_(width_, 0),
          so_far_(width_, 0),
          cells_(together_ * kColumnCells * width_),
          counts_(together_ * kColumnCells, 0) {
        std::fill(cells_.begin(), cells_.end(), Weight{0});
    }

    /// `totals`: the weight of each class in the node.
    Split find(const NodeView<Statistic>& node, std::span<const Weight> totals, std::vector<FeatureIndex>& features) {
        sides_.begin(totals, node.weight);
        Base::begin(node, Score::of_pure_sides(node.weight));
        const bool dense = extent_ > kDenseClasses * n_classes_;
        Base::draw_features(features, dense ? together_ : 1, [&](const FeatureIndex* first, std::size_t n) {
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
        Statistic statistic;
    };

    // The best cut between steps of different codes. `on_left` and n_left rows lie before the first; `cells`: codes are
    // coarse cells.
    void sweep(FeatureIndex feature, std::span<const Step> steps, std::span<const Weight> on_left, std::size_t n_left,
               bool missing_left, bool cells) {
        sides_.start(on_left);
        const bool coarse = cells && coarse_[feature].shift > 0;
        for (std::size_t i = 0; i + 1 < steps.size(); ++i) {
            sides_.move(steps[i].statistic);
            if (steps[i].code == steps[i + 1].code) continue;
            const double score = sides_.score();
            if (!(score > best_.score) || !is_valid(sides_.left_weight(), n_left + i + 1)) continue;
            const std::uint32_t code = steps[i].code;
            const std::uint32_t next = steps[i + 1].code;
            take(score, feature, coarse ? code : (code + next) / 2,
                 has_missing_ ? missing_left : sides_.left_is_heavier());
            best_.coarse = coarse;
            best_.next = next;
        }
    }

    // Missing values on either side of all cuts, and against all that is known.
    void sweep_known(FeatureIndex feature, std::span<const Step> steps, bool cells) {
        if (has_missing_ && !steps.empty()) score_missing(feature);
        sweep(feature, steps, nothing(), 0, false, cells);
        if (has_missing_) sweep(feature, steps, missing_, n_missing_, true, cells);
    }

    void score_missing(FeatureIndex feature) {
        for (std::size_t k = 0; k < n_classes_; ++k) below_[k] = sides_.total(k) - missing_[k];
        sides_.start(below_);
        const double score = sides_.score();
        if (score > best_.score && is_valid(sides_.left_weight(), n_rows() - n_missing_))
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

    void see_missing(Statistic statistic) {
        missing_[statistic.label] += statistic.own;
        ++n_missing_;
        has_missing_ = true;
    }

    // --- small nodes: by sorted codes

    void search_keys(FeatureIndex feature) {
        varies_ = true;
        clear_missing();
        steps_.clear();
        for (const std::uint64_t key : keys_) {
            const Statistic statistic = node_->records[static_cast<std::uint32_t>(key)].statistic;
            const auto code = static_cast<std::uint32_t>(key >> 32);
            if (code == kMissingCode)
                see_missing(statistic);
            else
                steps_.push_back({code, statistic});
        }
        sweep_known(feature, steps_, false);
    }

    // --- medium-sized nodes: rows are put into the order of their cells

    void search_buckets(FeatureIndex feature) {
        const Coarse coarse = coarse_[feature];
        const std::size_t n = n_rows();
        std::array<std::uint64_t, 4> touched{};
        if (cell_of_.size() < n) cell_of_.resize(n);
        for_codes(feature, [&](std::size_t i, std::uint32_t code) {
            const std::uint32_t cell = coarse(code);
            cell_of_[i] = static_cast<Code>(cell);
            touched[cell >> 6] |= std::uint64_t{1} << (cell & 63);
            ++next_of_cell_[cell];
        });
        clear_missing();
        std::uint32_t next = 0;
        std::size_t n_cells = 0;
        for (std::uint32_t word = 0; word < 4; ++word) {
            for (std::uint64_t bits = touched[word]; bits != 0; bits &= bits - 1) {
                const std::uint32_t cell = word * 64 + static_cast<std::uint32_t>(std::countr_zero(bits));
                next += std::exchange(next_of_cell_[cell], next);
                n_cells += cell != kMissingCode;
            }
        }
        if (steps_.size() < n) steps_.resize(n);
        const std::uint32_t n_missing = touched[0] & 1 ? count_missing(n, touched) : 0;
        for (std::size_t i = 0; i < n; ++i) {
            const std::uint32_t cell = cell_of_[i];
            steps_[next_of_cell_[cell]++] = {cell, node_->records[i].statistic};
        }
        for (std::uint32_t word = 0; word < 4; ++word)
            for (std::uint64_t bits = touched[word]; bits != 0; bits &= bits - 1)
                next_of_cell_[word * 64 + static_cast<std::uint32_t>(std::countr_zero(bits))] = 0;
        for (std::uint32_t i = 0; i < n_missing; ++i) see_missing(steps_[i].statistic);
        if (n_cells == 1 && coarse.shift > 0) return search_inside(feature);
        if (n_cells + has_missing_ < 2) return;
        varies_ = true;
        sweep_known(feature, {steps_.data() + n_missing, n - n_missing}, true);
    }

    // Rows without a value: they come first, so the next cell begins where they end.
    std::uint32_t count_missing(std::size_t n, std::array<std::uint64_t, 4> touched) const {
        touched[0] &= touched[0] - 1;
        for (std::uint32_t word = 0; word < 4; ++word)
            if (touched[word] != 0)
                return next_of_cell_[word * 64 + static_cast<std::uint32_t>(std::countr_zero(touched[word]))];
        return static_cast<std::uint32_t>(n);
    }

    // All known values lie in one cell, so its codes are searched.
    void search_inside(FeatureIndex feature) {
        if (sort_codes(feature)) search_keys(feature);
    }

    // --- large nodes: all cells of a few features in one pass

    void search_dense(const FeatureIndex* features, std::size_t n) {
        Weight* const cells = cells_.data();
        [[maybe_unused]] std::uint32_t* const counts = counts_.data();
        const std::size_t width = width_;
        Base::for_cells(features, n, [=](std::size_t cell, Statistic statistic) {
            cells[cell * width + statistic.label] += statistic.own;
            if constexpr (kCountRows) ++counts[cell];
        });
        for (std::size_t k = 0; k < n; ++k) score_dense(features[k], kColumnCells * k);
    }

    // Leaves the cells empty.
    void score_dense(FeatureIndex feature, std::size_t first) {
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
            if (has_missing_) score_missing(feature);
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
        std::copy_n(on_left.begin(), n_classes_, so_far_.begin());
        std::uint32_t before = 0;
        for (std::uint32_t word = 0; word < 4; ++word) {
            for (std::uint64_t bits = touched[word]; bits != 0; bits &= bits - 1) {
                const std::uint32_t cell = word * 64 + static_cast<std::uint32_t>(std::countr_zero(bits));
                if (before > 0) score_cell(feature, before, cell, n_left, missing_left);
                const Weight* const own = cells + cell * width_;
                for (std::size_t k = 0; k < width_; ++k) so_far_[k] += own[k];
                if constexpr (kCountRows) n_left += counts[cell];
                before = cell;
            }
        }
    }

    void score_cell(FeatureIndex feature, std::uint32_t cell, std::uint32_t next, std::size_t n_left,
                    bool missing_left) {
        sides_.start(so_far_);
        const double score = sides_.score();
        if (!(score > best_.score) || !is_valid(sides_.left_weight(), n_left)) return;
        const bool coarse = coarse_[feature].shift > 0;
        take(score, feature, coarse ? cell : (cell + next) / 2, has_missing_ ? missing_left : sides_.left_is_heavier());
        best_.coarse = coarse;
        best_.next = next;
    }

    // The best cut lies between two cells; the exact one is looked for among the codes of both.
    void refine() {
        const Split rough = best_;
        const std::uint32_t from = coarse_[rough.feature].first(rough.code);
        clear_missing();
        nothing();
        std::size_t n_below = 0;
        Base::sort_near(rough, [&](std::size_t i, std::uint32_t code, bool is_near) {
            if (is_near) return;
            const Statistic statistic = node_->records[i].statistic;
            if (code == kMissingCode) {
                see_missing(statistic);
            } else if (code < from) {
                below_[statistic.label] += statistic.own;
                ++n_below;
            }
        });
        steps_.clear();
        for (const std::uint64_t key : keys_)
            steps_.push_back(
                {static_cast<std::uint32_t>(key >> 32), node_->records[static_cast<std::uint32_t>(key)].statistic});
        best_ = {};
        sweep(rough.feature, steps_, below_, n_below, false, false);
        if (has_missing_) {
            for (std::size_t k = 0; k < n_classes_; ++k) below_[k] += missing_[k];
            sweep(rough.feature, steps_, below_, n_below + n_missing_, true, false);
        }
        if (!best_.found()) Base::fall_back_on(rough);
    }

    std::size_t n_classes_;
    std::size_t width_;     // of a cell
    std::size_t together_;  // features whose cells are filled in one pass
    ClassSides<Score, Weight> sides_;

    std::vector<Weight> below_;  // what a sweep begins with
    std::vector<Weight> missing_;
    std::size_t n_missing_ = 0;
    bool has_missing_ = false;
    std::vector<Weight> so_far_;  // of the cells that a sweep has passed

    std::vector<Step> steps_;
    std::array<std::uint32_t, 256> next_of_cell_{};
    std::vector<Code> cell_of_;  // of each record
    Buffer<Weight> cells_;
    std::vector<std::uint32_t> counts_;
};

}  // namespace coterie::sums
