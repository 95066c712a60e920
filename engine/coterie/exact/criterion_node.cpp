#include "coterie/exact/criterion_node.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "coterie/base/logarithm.hpp"
#include "coterie/split/criterion_median.hpp"

namespace coterie::criterion {
namespace {

bool all_equal(const Targets& targets, std::span<const RowIndex> rows) {
    const std::size_t n = targets.n_outputs;
    const double* first = targets.value.data() + rows[0] * n;
    return std::all_of(rows.begin(), rows.end(), [&](RowIndex row) {
        return std::equal(first, first + n, targets.value.data() + std::size_t{row} * n);
    });
}

void summarise_classes(const Targets& targets, Criterion criterion, std::span<const RowIndex> rows, NodeSummary& node) {
    node.value.assign(std::accumulate(targets.n_classes.begin(), targets.n_classes.end(), std::size_t{0}), 0.0);
    for (const RowIndex row : rows) {
        double* sums = node.value.data();
        for (std::uint32_t output = 0; output < targets.n_outputs; ++output) {
            const double target = targets.value[std::size_t{row} * targets.n_outputs + output];
            sums[static_cast<std::size_t>(target)] += targets.weight[row];
            sums += targets.n_classes[output];
        }
    }
    const Side side{.weight = node.weight, .sums = node.value.data()};
    node.impurity = criterion == Criterion::gini ? ClassScore<Gini>::impurity(side, targets.n_classes)
                                                 : ClassScore<Entropy>::impurity(side, targets.n_classes);
    for (double& value : node.value) value /= node.weight;
}

double mean_of(std::span<const double> target, std::span<const double> weight, double total_weight) {
    return std::inner_product(target.begin(), target.end(), weight.begin(), 0.0) / total_weight;
}

// The weighted sum of what each row loses when the node predicts `value`.
double total_loss(Criterion criterion, std::span<const double> target, std::span<const double> weight, double value) {
    double total = 0.0;
    for (std::size_t i = 0; i < target.size(); ++i) {
        const double distance = target[i] - value;
        if (criterion == Criterion::squared_error)
            total += weight[i] * (distance * distance);
        else if (criterion == Criterion::absolute_error)
            total += weight[i] * std::abs(distance);
        else if (target[i] > 0)
            total += weight[i] * (target[i] * logarithm(target[i] / value));
    }
    return total;
}

void sort_by_target(std::vector<double>& target, std::vector<double>& weight) {
    std::vector<std::size_t> order(target.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return target[a] < target[b]; });
    std::vector<double> sorted_target;
    std::vector<double> sorted_weight;
    for (const std::size_t i : order) {
        sorted_target.push_back(target[i]);
        sorted_weight.push_back(weight[i]);
    }
    target.swap(sorted_target);
    weight.swap(sorted_weight);
}

void summarise_numbers(const Targets& targets, Criterion criterion, std::span<const RowIndex> rows, NodeSummary& node) {
    std::vector<double> target(rows.size());
    std::vector<double> weight(rows.size());
    double total = 0.0;
    for (std::uint32_t output = 0; output < targets.n_outputs; ++output) {
        for (std::size_t i = 0; i < rows.size(); ++i) {
            target[i] = targets.value[std::size_t{rows[i]} * targets.n_outputs + output];
            weight[i] = targets.weight[rows[i]];
        }
        // The grower's order of rows is by the first output.
        if (criterion == Criterion::absolute_error && output > 0) sort_by_target(target, weight);
        const double value = criterion == Criterion::absolute_error ? weighted_median(target, weight)
                                                                    : mean_of(target, weight, node.weight);
        node.value.push_back(value);
        total += total_loss(criterion, target, weight, value);
    }
    node.impurity = total / (node.weight * targets.n_outputs);
}

}  // namespace

NodeSummary summarise(const Targets& targets, Criterion criterion, std::span<const RowIndex> rows) {
    NodeSummary node;
    for (const RowIndex row : rows) node.weight += targets.weight[row];
    if (targets.are_classes())
        summarise_classes(targets, criterion, rows, node);
    else
        summarise_numbers(targets, criterion, rows, node);
    if (node.impurity != 0.0 && all_equal(targets, rows)) node.impurity = 0.0;
    return node;
}

}  // namespace coterie::criterion
