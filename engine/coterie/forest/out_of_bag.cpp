#include "coterie/forest/out_of_bag.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "coterie/base/error.hpp"

namespace coterie {
namespace {

constexpr std::size_t kRowsAtOnce = 16'384;

// Calls add(column, amount) for what a row's target says of each column of a leaf value.
template <class Add>
void for_target(const ForestRows& rows, std::size_t place, Add add) {
    const criterion::Targets& targets = rows.targets;
    const double* const target = targets.value.data() + place * targets.n_outputs;
    std::size_t column = 0;
    for (std::uint32_t output = 0; output < targets.n_outputs; ++output) {
        if (!targets.are_classes()) {
            add(column++, target[output]);
            continue;
        }
        add(column + static_cast<std::size_t>(target[output]), 1.0);
        column += targets.n_classes[output];
    }
}

void remove_splits(GrownTree& grown_tree, const std::vector<std::uint8_t>& kept, std::uint32_t n_columns) {
    GrownTree small;
    std::vector<NodeIndex> new_index(grown_tree.nodes.size(), 0);
    const auto copy = [&](NodeIndex node) {
        new_index[node] = static_cast<NodeIndex>(small.nodes.size());
        small.nodes.push_back({.left = 0, .condition = PackedNode::kLeafFlag});
        small.weight.push_back(grown_tree.weight[node]);
        small.gain.push_back(0.0);
        const auto value = grown_tree.value.begin() + static_cast<std::ptrdiff_t>(std::size_t{node} * n_columns);
        small.value.insert(small.value.end(), value, value + n_columns);
    };
    copy(0);
    std::vector<NodeIndex> stack = {0};
    while (!stack.empty()) {
        const NodeIndex node = stack.back();
        stack.pop_back();
        const PackedNode& old = grown_tree.nodes[node];
        if (old.is_leaf() || !kept[node]) continue;
        PackedNode split = old;
        split.left = static_cast<NodeIndex>(small.nodes.size());
        small.nodes[new_index[node]] = split;
        small.gain[new_index[node]] = grown_tree.gain[node];
        copy(old.left);
        copy(old.left + 1);
        stack.push_back(old.left + 1);
        stack.push_back(old.left);
    }
    for (NodeIndex node = 0; node < grown_tree.nodes.size(); ++node) {  // children come after their parent
        const PackedNode& old = grown_tree.nodes[node];
        if (!old.is_leaf() && small.nodes[new_index[node]].is_leaf())
            new_index[old.left] = new_index[old.left + 1] = new_index[node];
    }
    for (NodeIndex& leaf : grown_tree.out_leaf) leaf = new_index[leaf];
    small.out_leaf = std::move(grown_tree.out_leaf);
    small.ranks = std::move(grown_tree.ranks);
    grown_tree = std::move(small);
}

}  // namespace

OutOfBag::OutOfBag(const ForestRows& rows)
    : n_columns_(rows.n_columns()),
      sums_(rows.n_places() * n_columns_, 0.0),
      counts_(rows.n_places(), 0),
      loss_(rows.n_places(), 0.0) {}

double loss_of(const ForestRows& rows, std::size_t place, const double* prediction, double n) {
    const criterion::Targets& targets = rows.targets;
    const double* const target = targets.value.data() + place * targets.n_outputs;
    double loss = 0.0;
    for (std::uint32_t output = 0; output < targets.n_outputs; ++output) {
        if (targets.are_classes()) {
            const std::uint32_t n_classes = targets.n_classes[output];
            loss += static_cast<double>(std::max_element(prediction, prediction + n_classes) - prediction) !=
                    target[output];
            prediction += n_classes;
        } else {
            const double distance = *prediction++ / n - target[output];
            loss += distance * distance;
        }
    }
    return loss / targets.n_outputs;
}

// loss_of(place, sum, count) is what the mean prediction is off. Losses are added up in pieces of a fixed size.
template <class LossOf>
void OutOfBag::add_all(const ForestRows& rows, std::span<const RowIndex> places,
                       std::span<const std::uint32_t> leaf_value_rows, std::span<const double> leaf_values,
                       LossOf loss_of) {
    for (std::size_t begin = 0; begin < places.size(); begin += kRowsAtOnce) {
        double loss = 0.0;
        double weight = 0.0;
        for (std::size_t i = begin; i < std::min(begin + kRowsAtOnce, places.size()); ++i) {
            const std::size_t place = places[i];
            const double* const leaf_value = leaf_values.data() + std::size_t{leaf_value_rows[i]} * n_columns_;
            double* const sum = sums_.data() + place * n_columns_;
            for (std::uint32_t column = 0; column < n_columns_; ++column) sum[column] += leaf_value[column];
            const double row_weight = rows.targets.weight[place];
            if (counts_[place]++ == 0) weight += row_weight;
            const double now = loss_of(place, sum, counts_[place]);
            loss += row_weight * (now - loss_[place]);
            loss_[place] = now;
        }
        total_loss_ += loss;
        total_weight_ += weight;
    }
}

void OutOfBag::add(const ForestRows& rows, std::span<const RowIndex> places,
                   std::span<const std::uint32_t> leaf_value_rows, std::span<const double> leaf_values) {
    const criterion::Targets& targets = rows.targets;
    if (targets.are_classes() && targets.n_outputs == 1 && n_columns_ == 2)  // the same as below, in fewer steps
        add_all(rows, places, leaf_value_rows, leaf_values, [&](std::size_t place, const double* sum, std::uint32_t) {
            return static_cast<double>((sum[1] > sum[0]) != (targets.value[place] == 1.0));
        });
    else
        add_all(rows, places, leaf_value_rows, leaf_values,
                [&](std::size_t place, const double* sum, std::uint32_t n) { return loss_of(rows, place, sum, n); });
    errors_.push_back(total_weight_ > 0.0 ? std::max(0.0, total_loss_) / total_weight_
                                          : std::numeric_limits<double>::quiet_NaN());
}

void OutOfBag::resume(const ForestRows& rows, std::span<const double> sums, std::span<const std::uint32_t> counts,
                      std::span<const double> errors, std::span<const double> totals) {
    require(totals.empty() || totals.size() == 2, "Out-of-bag totals are a loss and a weight.");
    require(errors_.empty(), "Out-of-bag sums are resumed before the first tree.");
    require(sums.size() == rows.n_table_rows * n_columns_ && counts.size() == rows.n_table_rows,
            "Out-of-bag sums are resumed for other rows.");
    for (std::size_t place = 0; place < rows.n_places(); ++place) {
        const std::size_t row = rows.order[place];
        counts_[place] = counts[row];
        if (counts[row] == 0) continue;
        std::copy_n(sums.begin() + static_cast<std::ptrdiff_t>(row * n_columns_), n_columns_,
                    sums_.begin() + static_cast<std::ptrdiff_t>(place * n_columns_));
        loss_[place] = loss_of(rows, place, sums_.data() + place * n_columns_, counts_[place]);
        total_loss_ += rows.targets.weight[place] * loss_[place];
        total_weight_ += rows.targets.weight[place];
    }
    if (!totals.empty()) {
        total_loss_ = totals[0];
        total_weight_ = totals[1];
    }
    errors_.assign(errors.begin(), errors.end());
}

void prune_by_cost(GrownTree& grown_tree, double alpha, std::uint32_t n_columns) {
    const std::size_t n = grown_tree.nodes.size();
    std::vector<double> worth(n, 0.0);  // of the branch, beyond the price of its leaves
    std::vector<std::uint8_t> kept(n, 0);
    for (std::size_t node = n; node-- > 0;) {
        const PackedNode& split = grown_tree.nodes[node];
        if (split.is_leaf()) continue;
        worth[node] = grown_tree.gain[node] - alpha + worth[split.left] + worth[split.left + 1];
        kept[node] = worth[node] > 0.0;
        worth[node] = std::max(0.0, worth[node]);
    }
    remove_splits(grown_tree, kept, n_columns);
}

void prune_by_rows(GrownTree& grown_tree, const ForestRows& rows, std::span<const double> factor,
                   std::span<const RowIndex> places, std::span<const NodeIndex> leaves) {
    // The squared error of prediction a for rows with targets y, up to a constant: weight * a^2 - 2 a * sum of y.
    const std::uint32_t n_columns = rows.n_columns();
    const std::size_t n = grown_tree.nodes.size();
    std::vector<double> weight(n, 0.0);
    std::vector<double> sum(n * n_columns, 0.0);
    for (std::size_t i = 0; i < places.size(); ++i) {
        const double row_weight = rows.targets.weight[places[i]] * (factor.empty() ? 1.0 : factor[places[i]]);
        weight[leaves[i]] += row_weight;
        double* const own = sum.data() + std::size_t{leaves[i]} * n_columns;
        for_target(rows, places[i], [&](std::size_t column, double amount) { own[column] += row_weight * amount; });
    }
    std::vector<double> error(n, 0.0);
    std::vector<std::uint8_t> kept(n, 0);
    for (std::size_t node = n; node-- > 0;) {
        const PackedNode& split = grown_tree.nodes[node];
        double* const own = sum.data() + node * n_columns;
        if (!split.is_leaf()) {
            const double* const left = sum.data() + std::size_t{split.left} * n_columns;
            weight[node] = weight[split.left] + weight[split.left + 1];
            for (std::uint32_t column = 0; column < n_columns; ++column)
                own[column] = left[column] + left[n_columns + column];
        }
        double as_leaf = 0.0;
        for (std::uint32_t column = 0; column < n_columns; ++column) {
            const double value = grown_tree.value[node * n_columns + column];
            as_leaf += weight[node] * value * value - 2.0 * value * own[column];
        }
        error[node] = as_leaf;
        if (split.is_leaf()) continue;
        const double as_branch = error[split.left] + error[split.left + 1];
        kept[node] = as_branch < as_leaf;
        if (kept[node]) error[node] = as_branch;
    }
    remove_splits(grown_tree, kept, n_columns);
}

void add_importances(const GrownTree& grown_tree, std::span<double> importances) {
    for (std::size_t node = 0; node < grown_tree.nodes.size(); ++node) {
        const PackedNode& packed = grown_tree.nodes[node];
        importances[packed.feature()] += grown_tree.gain[node] * static_cast<double>(!packed.is_leaf());  // no branch
    }
}

void add_out_of_bag_importances(const GrownTree& grown_tree, const ForestRows& rows, std::span<const RowIndex> places,
                                std::span<const NodeIndex> leaves, std::span<double> importances) {
    if (places.empty()) return;
    const std::uint32_t n_columns = rows.n_columns();
    const std::size_t n = grown_tree.nodes.size();
    std::vector<double> sum(n * n_columns, 0.0);
    double total = 0.0;
    for (std::size_t i = 0; i < places.size(); ++i) {
        const double weight = rows.targets.weight[places[i]];
        total += weight;
        double* const own = sum.data() + std::size_t{leaves[i]} * n_columns;
        for_target(rows, places[i], [&](std::size_t column, double amount) { own[column] += weight * amount; });
    }
    for (std::size_t node = n; node-- > 0;) {
        const PackedNode& split = grown_tree.nodes[node];
        if (split.is_leaf()) continue;
        const double* const left = sum.data() + std::size_t{split.left} * n_columns;
        const double* const right = left + n_columns;
        const double* const value = grown_tree.value.data() + node * n_columns;
        const double* const left_value = grown_tree.value.data() + std::size_t{split.left} * n_columns;
        const double* const right_value = left_value + n_columns;
        double explained = 0.0;
        for (std::uint32_t column = 0; column < n_columns; ++column) {
            sum[node * n_columns + column] = left[column] + right[column];
            explained += (left_value[column] - value[column]) * left[column] +
                         (right_value[column] - value[column]) * right[column];
        }
        importances[split.feature()] += explained / total;
    }
}

}  // namespace coterie
