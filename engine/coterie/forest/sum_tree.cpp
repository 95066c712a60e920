#include "coterie/forest/sum_tree.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "coterie/forest/sum_grower.hpp"

namespace coterie {

bool sums_up(const criterion::Targets& targets, const CriterionOptions& options) {
    return targets.n_outputs == 1 && options.criterion != Criterion::absolute_error && options.max_leaves == 0 &&
           options.monotone.empty();
}

bool reads_columns(const criterion::Targets& targets, const CriterionOptions& options) {
    return targets.are_classes() && targets.n_classes[0] == 2 && options.random_splits;
}

// Sums of n_draws whole numbers below 2^bits are exact if they stay below 2^53.
WholeTargets whole_targets(const ForestRows& rows, Criterion criterion, std::size_t n_draws) {
    WholeTargets whole;
    whole.value = rows.targets.value;
    if (rows.targets.are_classes()) return whole;
    const auto [low, high] = std::ranges::minmax(rows.targets.value);
    const bool counts = criterion == Criterion::poisson;
    whole.centre = counts ? 0.0 : low / 2 + high / 2;
    const double reach = counts ? high : high / 2 - low / 2;
    const int bits = std::min(36, 52 - static_cast<int>(std::bit_width(n_draws)));
    whole.unit = reach > 0.0 ? reach / std::exp2(bits) : 1.0;
    for (double& value : whole.value) value = std::nearbyint((value - whole.centre) / whole.unit);
    return whole;
}

std::unique_ptr<SumTreeGrower> make_sum_tree_grower(const ForestRows& rows, const WholeTargets& targets,
                                                    const ForestTreeOptions& options, const PackedForest& forest,
                                                    bool whole_weights, const ForestColumns& columns) {
    const sums::Task task{rows, targets, options, forest, whole_weights, columns};
    if (!rows.targets.are_classes()) return sums::make_for_numbers(task);
    return rows.targets.n_classes[0] == 2 ? sums::make_for_two_classes(task) : sums::make_for_classes(task);
}

}  // namespace coterie
