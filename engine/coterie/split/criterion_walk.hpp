// split/criterion_walk.hpp: moving the groups of a node from right to left, and the score after each move.
//
// A walk starts with every row on the right, takes groups in a given order, and always knows both sides. It
// also names the orders worth trying for a nominal feature: the best of the 2^levels partitions is among
// the cuts of the levels ordered by their mean (two classes, or one output; Fisher 1958, Breiman 1984), unless
// a limit such as min_rows forbids some partitions: then it is the best allowed cut. For more classes or outputs
// there is no such order, so one order for each class or output is tried.
#pragma once

#include <algorithm>
#include <concepts>
#include <span>
#include <vector>

#include "coterie/split/criterion_rows.hpp"

namespace coterie::criterion {

template <class W>
concept SplitWalk = requires(W walk, const W fixed, const NodeRows& node, Groups& groups, std::size_t group,
                             std::span<const std::uint32_t> order, std::span<double> keys) {
    walk.start(node, groups, order);  // every row on the right
    walk.move(group);                 // the next group of `order` goes left
    { fixed.left_weight() } -> std::same_as<double>;
    { fixed.right_weight() } -> std::same_as<double>;
    { fixed.score() } -> std::same_as<double>;
    { fixed.left_value() } -> std::same_as<double>;  // what the side would predict, for monotone constraints
    { fixed.right_value() } -> std::same_as<double>;
    { fixed.n_orders() } -> std::same_as<std::size_t>;
    walk.order_keys(node, groups, std::size_t{}, keys);  // groups of a nominal feature are ordered by these
};

/// Sums the groups while counting them: one pass, when rows outnumber codes.
template <class Add>
void sum_groups(std::span<const Code> column, const NodeRows& node, std::uint32_t n_codes, std::size_t n_columns,
                Groups& groups, Add add) {
    groups.dense = true;
    groups.key.assign(n_codes, 0);
    groups.weight.assign(n_codes, 0.0);
    groups.sums.assign(n_codes * n_columns, 0.0);
    for (std::size_t i = 0; i < node.size(); ++i) {
        const std::size_t code = column[node.rows[i]];
        ++groups.key[code];
        groups.weight[code] += node.weight[i];
        add(i, groups.sums.data() + code * n_columns);
    }
    groups.code.clear();
    groups.begin.assign(1, 0);
    for (std::uint32_t code = 0; code < n_codes; ++code) {
        if (groups.key[code] == 0) continue;
        const std::size_t group = groups.code.size();
        groups.code.push_back(static_cast<Code>(code));
        groups.begin.push_back(groups.begin.back() + groups.key[code]);
        groups.weight[group] = groups.weight[code];
        std::copy_n(groups.sums.begin() + static_cast<std::ptrdiff_t>(code * n_columns), n_columns,
                    groups.sums.begin() + static_cast<std::ptrdiff_t>(group * n_columns));
    }
}

/// Two classes or one output of numbers: one sum a side, kept in a register.
template <class Formula>
class OneSumWalk {
public:
    explicit OneSumWalk(const Targets&) {}

    void group(std::span<const Code> column, const NodeRows& node, std::uint32_t n_codes, Groups& groups) const {
        if (node.size() < n_codes) return sort_positions(column, node.rows, n_codes, groups);
        sum_groups(column, node, n_codes, 1, groups,
                   [&](std::size_t i, double* sum) { *sum += node.weight[i] * node.target[i]; });
    }

    void start(const NodeRows& node, const Groups& groups, std::span<const std::uint32_t>) {
        node_ = &node;
        groups_ = &groups;
        weight_ = 0.0;
        sum_ = 0.0;
    }

    void move(std::size_t group) {
        const auto [weight, sum] = sums_of(group);
        weight_ += weight;
        sum_ += sum;
    }

    /// All that go left, without groups. The same sums, as nothing is added for the others.
    void move_rows(const NodeRows& node, const std::uint8_t* left) {
        node_ = &node;
        double weight = 0.0;
        double sum = 0.0;
        for (std::size_t i = 0; i < node.size(); ++i) {
            weight += left[i] ? node.weight[i] : 0.0;
            sum += left[i] ? node.weight[i] * node.target[i] : 0.0;
        }
        weight_ = weight;
        sum_ = sum;
    }

    /// The same, summed up by the caller: sums[column * stride] is that of a column.
    void move_sums(const NodeRows& node, double weight, const double* sums, std::size_t) {
        node_ = &node;
        weight_ = weight;
        sum_ = *sums;
    }
    std::size_t n_columns() const { return 1; }
    /// Calls add(column, amount) for what a row adds to the sums of its side.
    template <class Add>
    void add_row_to(const NodeRows& node, std::size_t position, Add add) const {
        add(std::size_t{0}, node.weight[position] * node.target[position]);
    }

    double left_weight() const { return weight_; }
    double right_weight() const { return node_->total_weight - weight_; }
    double score() const { return Formula::score(weight_, sum_, right_weight(), node_->total[0] - sum_); }
    double left_value() const { return Formula::value(weight_, sum_) + node_->shift[0]; }
    double right_value() const { return Formula::value(right_weight(), node_->total[0] - sum_) + node_->shift[0]; }

    std::size_t n_orders() const { return 1; }
    void order_keys(const NodeRows& node, const Groups& groups, std::size_t, std::span<double> keys) {
        start(node, groups, {});
        for (std::size_t group = 0; group < keys.size(); ++group) {
            const auto [weight, sum] = sums_of(group);
            keys[group] = sum / weight;
        }
    }

private:
    struct Sums {
        double weight;
        double sum;
    };

    Sums sums_of(std::size_t group) const {
        if (groups_->dense) return {groups_->weight[group], groups_->sums[group]};
        Sums sums{0.0, 0.0};
        for (std::uint32_t i = groups_->begin[group]; i < groups_->begin[group + 1]; ++i) {
            const std::uint32_t position = groups_->position[i];
            sums.weight += node_->weight[position];
            sums.sum += node_->weight[position] * node_->target[position];
        }
        return sums;
    }

    const NodeRows* node_ = nullptr;
    const Groups* groups_ = nullptr;
    double weight_ = 0.0;
    double sum_ = 0.0;
};

/// Several classes or several outputs: one sum for each column on each side.
template <class Formula>
class SumsWalk {
public:
    explicit SumsWalk(const Targets& targets) : n_outputs_(targets.n_outputs), shape_(targets.n_classes) {
        if (shape_.empty()) shape_.assign(n_outputs_, 1);
        for (const std::uint32_t n : shape_) n_columns_ += n;
        left_.resize(n_columns_);
        right_.resize(n_columns_);
    }

    void group(std::span<const Code> column, const NodeRows& node, std::uint32_t n_codes, Groups& groups) const {
        if (node.size() < n_codes * n_columns_) return sort_positions(column, node.rows, n_codes, groups);
        sum_groups(column, node, n_codes, n_columns_, groups,
                   [&](std::size_t i, double* sums) { add_row(node, i, sums); });
    }

    void start(const NodeRows& node, const Groups& groups, std::span<const std::uint32_t>) {
        node_ = &node;
        groups_ = &groups;
        weight_ = 0.0;
        std::fill(left_.begin(), left_.end(), 0.0);
    }

    void move(std::size_t group) { add_group(group, weight_, left_.data()); }

    void move_sums(const NodeRows& node, double weight, const double* sums, std::size_t stride) {
        node_ = &node;
        weight_ = weight;
        for (std::size_t k = 0; k < n_columns_; ++k) left_[k] = sums[k * stride];
    }
    std::size_t n_columns() const { return n_columns_; }
    template <class Add>
    void add_row_to(const NodeRows& node, std::size_t position, Add add) const {
        const double weight = node.weight[position];
        std::size_t column = 0;
        for (std::size_t output = 0; output < n_outputs_; column += shape_[output], ++output) {
            const double target = node.target[position * n_outputs_ + output];
            if constexpr (Formula::kClasses)
                add(column + static_cast<std::size_t>(target), weight);
            else
                add(column, weight * target);
        }
    }

    double left_weight() const { return weight_; }
    double right_weight() const { return node_->total_weight - weight_; }
    double score() const {
        for (std::size_t k = 0; k < n_columns_; ++k) right_[k] = node_->total[k] - left_[k];
        return Formula::score({.weight = weight_, .sums = left_.data()},
                              {.weight = right_weight(), .sums = right_.data()}, shape_);
    }
    // Monotone constraints are for two classes or one output, which OneSumWalk does.
    double left_value() const { return 0.0; }
    double right_value() const { return 0.0; }

    std::size_t n_orders() const { return n_columns_; }
    void order_keys(const NodeRows& node, const Groups& groups, std::size_t column, std::span<double> keys) {
        start(node, groups, {});
        for (std::size_t group = 0; group < keys.size(); ++group) {
            double weight = 0.0;
            std::fill(right_.begin(), right_.end(), 0.0);
            add_group(group, weight, right_.data());
            keys[group] = right_[column] / weight;
        }
    }

private:
    void add_row(const NodeRows& node, std::size_t position, double* sums) const {
        add_row_to(node, position, [&](std::size_t column, double amount) { sums[column] += amount; });
    }

    void add_group(std::size_t group, double& weight, double* sums) const {
        if (groups_->dense) {
            weight += groups_->weight[group];
            for (std::size_t k = 0; k < n_columns_; ++k) sums[k] += groups_->sums[group * n_columns_ + k];
            return;
        }
        for (std::uint32_t i = groups_->begin[group]; i < groups_->begin[group + 1]; ++i) {
            weight += node_->weight[groups_->position[i]];
            add_row(*node_, groups_->position[i], sums);
        }
    }

    std::size_t n_outputs_;
    std::vector<std::uint32_t> shape_;  // classes per output; ones for numbers
    std::size_t n_columns_ = 0;
    const NodeRows* node_ = nullptr;
    const Groups* groups_ = nullptr;
    double weight_ = 0.0;
    std::vector<double> left_;
    mutable std::vector<double> right_;
};

}  // namespace coterie::criterion
