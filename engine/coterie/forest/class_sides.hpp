// forest/class_sides.hpp: the weight of each class on both sides of a cut, and the score of these.
#pragma once

#include <span>
#include <type_traits>
#include <vector>

#include "coterie/forest/sums.hpp"

namespace coterie::sums {

/// Whole weights are summed in whole numbers, so that no order of rows and no way of the search changes a score.
template <class Score, class Weight>
class ClassSides {
public:
    using Statistic = LabelStatistic<Weight>;
    using Square = std::conditional_t<Statistic::kWhole, std::int64_t, double>;

    ClassSides(std::size_t n_classes, std::size_t width) : n_classes_(n_classes), left_(width, 0), right_(width, 0) {}

    /// `totals`: of each class in the node.
    void begin(std::span<const Weight> totals, double weight) {
        totals_ = totals;
        node_weight_ = weight;
    }

    void start(std::span<const Weight> on_left) {
        // In locals: the compiler cannot know that the sums do not change them.
        Square left_squares = 0;
        Square right_squares = 0;
        Weight weight = 0;
        Weight* const left = left_.data();
        Weight* const right = right_.data();
        for (std::size_t k = 0; k < n_classes_; ++k) {
            const Weight own = on_left[k];
            const Weight other = totals_[k] - own;
            left[k] = own;
            right[k] = other;
            weight += own;
            if constexpr (Score::kSquares) {
                left_squares += Square{own} * own;
                right_squares += Square{other} * other;
            }
        }
        left_weight_ = weight;
        left_squares_ = left_squares;
        right_squares_ = right_squares;
    }

    /// A row from the right side to the left one.
    void move(Statistic statistic) {
        Weight& left = left_[statistic.label];
        Weight& right = right_[statistic.label];
        if constexpr (Score::kSquares) {
            left_squares_ += Square{statistic.own} * (Square{left} * 2 + statistic.own);
            right_squares_ -= Square{statistic.own} * (Square{right} * 2 - statistic.own);
        }
        left += statistic.own;
        right -= statistic.own;
        left_weight_ += statistic.own;
    }

    double score() const {
        const auto left = static_cast<double>(left_weight_);
        const double right = node_weight_ - left;
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

    double left_weight() const { return static_cast<double>(left_weight_); }
    /// What was never missing follows the heavier side.
    bool left_is_heavier() const { return 2.0 * left_weight() > node_weight_; }
    Weight total(std::size_t k) const { return totals_[k]; }

private:
    std::size_t n_classes_;
    std::span<const Weight> totals_;
    double node_weight_ = 0.0;
    std::vector<Weight> left_;
    std::vector<Weight> right_;
    Weight left_weight_ = 0;
    Square left_squares_ = 0;
    Square right_squares_ = 0;
};

}  // namespace coterie::sums
