#include "coterie/split/criterion_median.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

namespace coterie::criterion {

double weighted_median(std::span<const double> target, std::span<const double> weight) {
    const double half = 0.5 * std::accumulate(weight.begin(), weight.end(), 0.0);
    double below = 0.0;
    for (std::size_t i = 0; i + 1 < target.size(); ++i) {
        below += weight[i];
        if (below == half) return (target[i] + target[i + 1]) / 2;
        if (below > half) return target[i];
    }
    return target.back();
}

void MedianTree::reset(std::size_t n_ranks) {
    weight_.assign(n_ranks + 1, 0.0);
    weighted_target_.assign(n_ranks + 1, 0.0);
    top_step_ = std::bit_floor(n_ranks);
    total_weight_ = 0.0;
    total_target_ = 0.0;
}

void MedianTree::add(std::uint32_t rank, double target, double weight) {
    total_weight_ += weight;
    total_target_ += weight * target;
    for (std::size_t i = std::size_t{rank} + 1; i < weight_.size(); i += i & -i) {
        weight_[i] += weight;
        weighted_target_[i] += weight * target;
    }
}

MedianTree::Centre MedianTree::centre(std::span<const double> sorted_target) const {
    const double half = 0.5 * total_weight_;
    // Ranks below `upper` weigh at most half together; those below `lower` weigh less than half.
    std::size_t upper = 0;
    std::size_t lower = 0;
    double below = 0.0;
    double below_target = 0.0;
    double below_lower = 0.0;
    for (std::size_t step = top_step_; step > 0; step /= 2) {
        if (upper + step < weight_.size() && below + weight_[upper + step] <= half) {
            upper += step;
            below += weight_[upper];
            below_target += weighted_target_[upper];
        }
        if (lower + step < weight_.size() && below_lower + weight_[lower + step] < half) {
            lower += step;
            below_lower += weight_[lower];
        }
    }
    // Rounding may leave no rank above half; the last one is then meant.
    upper = std::min(upper, sorted_target.size() - 1);
    const double median = below == half ? (sorted_target[lower] + sorted_target[upper]) / 2 : sorted_target[upper];
    const double above = total_weight_ - below;
    const double above_target = total_target_ - below_target;
    return {.median = median, .distance = (above_target - median * above) + (median * below - below_target)};
}

void MedianWalk::add_group(std::size_t group, std::size_t output) {
    const std::uint32_t* rank = node_->rank.data() + output * node_->size();
    const double* sorted = node_->sorted_target.data() + output * node_->size();
    for (std::uint32_t i = groups_->begin[group]; i < groups_->begin[group + 1]; ++i) {
        const std::uint32_t position = groups_->position[i];
        tree_.add(rank[position], sorted[rank[position]], node_->weight[position]);
    }
}

void MedianWalk::start(const NodeRows& node, const Groups& groups, std::span<const std::uint32_t> order) {
    node_ = &node;
    groups_ = &groups;
    moved_ = 0;
    weight_ = 0.0;
    left_.assign(order.size() + 1, {.median = 0.0, .distance = 0.0});
    right_.assign(order.size() + 1, {.median = 0.0, .distance = 0.0});
    const auto accumulate = [](MedianTree::Centre& sum, MedianTree::Centre centre) {
        sum.median = centre.median;
        sum.distance += centre.distance;
    };
    for (std::size_t output = 0; output < n_outputs_; ++output) {
        const std::span sorted(node.sorted_target.data() + output * node.size(), node.size());
        tree_.reset(node.size());
        for (std::size_t i = 0; i < order.size(); ++i) {
            add_group(order[i], output);
            accumulate(left_[i + 1], tree_.centre(sorted));
        }
        tree_.reset(node.size());
        for (std::size_t i = order.size(); i-- > 0;) {
            add_group(order[i], output);
            accumulate(right_[i], tree_.centre(sorted));
        }
    }
}

void MedianWalk::move(std::size_t group) {
    ++moved_;
    for (std::uint32_t i = groups_->begin[group]; i < groups_->begin[group + 1]; ++i)
        weight_ += node_->weight[groups_->position[i]];
}

double MedianWalk::score() const {
    const auto outputs = static_cast<double>(n_outputs_);
    const double left = left_[moved_].distance / (left_weight() * outputs);
    const double right = right_[moved_].distance / (right_weight() * outputs);
    return -right_weight() * right - left_weight() * left;
}

void MedianWalk::order_keys(const NodeRows& node, const Groups& groups, std::size_t output, std::span<double> keys) {
    const std::uint32_t* rank = node.rank.data() + output * node.size();
    std::vector<std::uint32_t> positions;
    std::vector<double> target;
    std::vector<double> weight;
    for (std::size_t group = 0; group < keys.size(); ++group) {
        positions.assign(groups.position.begin() + groups.begin[group],
                         groups.position.begin() + groups.begin[group + 1]);
        std::sort(positions.begin(), positions.end(), [&](auto a, auto b) { return rank[a] < rank[b]; });
        target.clear();
        weight.clear();
        for (const std::uint32_t position : positions) {
            target.push_back(node.sorted_target[output * node.size() + rank[position]]);
            weight.push_back(node.weight[position]);
        }
        keys[group] = weighted_median(target, weight);
    }
}

}  // namespace coterie::criterion
