// split/criterion_median.hpp: the walk for absolute errors, which needs medians rather than sums.
//
// Rows enter a Fenwick tree at the rank of their target, so the weighted median of the rows so far, and the
// sum of the distances to it, take log(n) steps. Going through the order of groups once forwards and once
// backwards gives both sides of every cut: O(n log n) for a feature.
#pragma once

#include <span>
#include <vector>

#include "coterie/split/criterion_rows.hpp"

namespace coterie::criterion {

/// Where the weight below reaches half of the whole; halfway between two targets if it does so exactly there.
/// Targets ascend.
double weighted_median(std::span<const double> target, std::span<const double> weight);

/// Weights and weighted targets by rank, with prefix sums and the median in O(log n).
class MedianTree {
public:
    void reset(std::size_t n_ranks);
    void add(std::uint32_t rank, double target, double weight);

    struct Centre {
        double median;
        double distance;  // the weighted sum of the distances to the median
    };
    Centre centre(std::span<const double> sorted_target) const;

private:
    std::vector<double> weight_;
    std::vector<double> weighted_target_;
    std::size_t top_step_ = 0;
    double total_weight_ = 0.0;
    double total_target_ = 0.0;
};

class MedianWalk {
public:
    explicit MedianWalk(const Targets& targets) : n_outputs_(targets.n_outputs) {}

    void group(std::span<const Code> column, const NodeRows& node, std::uint32_t n_codes, Groups& groups) const {
        sort_positions(column, node.rows, n_codes, groups);
    }

    void start(const NodeRows& node, const Groups& groups, std::span<const std::uint32_t> order);
    void move(std::size_t group);

    double left_weight() const { return weight_; }
    double right_weight() const { return node_->total_weight - weight_; }
    double score() const;
    double left_value() const { return left_[moved_].median; }
    double right_value() const { return right_[moved_].median; }

    std::size_t n_orders() const { return n_outputs_; }
    void order_keys(const NodeRows& node, const Groups& groups, std::size_t output, std::span<double> keys);

private:
    void add_group(std::size_t group, std::size_t output);

    std::size_t n_outputs_;
    const NodeRows* node_ = nullptr;
    const Groups* groups_ = nullptr;
    MedianTree tree_;
    std::vector<MedianTree::Centre> left_;  // after so many moves; distances are summed over the outputs
    std::vector<MedianTree::Centre> right_;
    std::size_t moved_ = 0;
    double weight_ = 0.0;
};

}  // namespace coterie::criterion
