#include "coterie/split/best_split.hpp"

#include "coterie/split/constrained.hpp"
#include "coterie/split/nominal.hpp"

namespace coterie {
namespace {

bool holds(const LevelSet& set, int bin) { return set[static_cast<std::size_t>(bin) / 64] >> (bin % 64) & 1; }
void insert(LevelSet& set, int bin) { set[static_cast<std::size_t>(bin) / 64] |= std::uint64_t{1} << (bin % 64); }

Cell sum_of(const LevelSet& set, const Cell* cells, int n_bins) {
    Cell sum = 0;
    for (int bin = 0; bin < n_bins; ++bin)
        if (holds(set, bin)) sum += cells[bin];
    return sum;
}

}  // namespace

double gain_of_node(const SplitTask& task) {
    const Sums total = task.sums(task.total);
    const double weight = static_cast<double>(total.hessian) + static_cast<double>(task.l2);
    if (!(weight > 0)) return 0;
    const auto gradient = static_cast<double>(total.gradient);
    const auto l1 = static_cast<double>(task.l1);
    return gain_of_value(gradient, weight, task.bounds.clip(-shrunk(gradient, l1) / weight), l1);
}

Candidate best_candidate(const FeatureBins& bins, const Cell* cells, const SplitTask& task, int direction,
                         const RowCounts& rows, float beat) {
    const bool limited = task.limited(direction);
    if (bins.nominal) {
        Candidate best = best_levels(cells, bins.n_bins, task, rows);
        if (best.gain >= 0 && limited) {
            // Bounds do not change the order of the levels; the chosen set is scored by its clipped values.
            const Cell left = sum_of(left_bins_of(best, cells, bins.n_bins, task), cells, bins.n_bins);
            best.gain = gain_within(left, task, static_cast<double>(task.l2) + static_cast<double>(task.level_l2), 0);
        }
        if (best.gain >= 0) best.gain -= task.level_cost * static_cast<float>(best.n_levels - 1);
        if (best.gain < 0) best.gain = -1.0f;
        return best;
    }
    if (limited || !rows.counts.empty()) return best_threshold_within(cells, bins.n_bins, task, direction, rows);
    const ScanResult found = kernels().split.scan(cells, bins.n_bins, task.scan(0, beat));
    if (found.gain <= beat) return {};
    Candidate best;
    best.gain = found.gain;
    best.last = found.last;
    best.missing_left = found.missing_left;
    return best;
}

Split spell_out(const Candidate& candidate, FeatureIndex feature, const FeatureBins& bins, const Cell* cells,
                const SplitTask& task, const Units& units, std::span<const std::uint32_t> counts) {
    const auto lacks = [&](int bin) {
        return counts.empty() ? cells[bin] == 0 : counts[static_cast<std::size_t>(bin)] == 0;
    };
    Split split{.feature = feature,
                .gain = 0,
                .last = candidate.last,
                .missing_left = candidate.missing_left,
                .nominal = candidate.nominal,
                .left_bins = {},
                .left_total = 0};
    if (candidate.gain < 0) return split;
    if (candidate.nominal) {
        split.left_bins = left_bins_of(candidate, cells, bins.n_bins, task);
        split.left_total = sum_of(split.left_bins, cells, bins.n_bins);
        split.missing_left = holds(split.left_bins, 0);
    } else {
        for (int bin = candidate.missing_left ? 0 : 1; bin <= candidate.last; ++bin) split.left_total += cells[bin];
    }
    // What the node has not seen follows the heavier child.
    const bool left_is_heavier = task.sums(split.left_total).hessian > task.sums(task.total - split.left_total).hessian;
    if (lacks(0)) split.missing_left = left_is_heavier;
    if (candidate.nominal && left_is_heavier)
        for (int bin = 0; bin < bins.n_bins; ++bin)
            if (lacks(bin)) insert(split.left_bins, bin);
    if (candidate.nominal && split.missing_left) insert(split.left_bins, 0);
    // The parent is scored by the plain l2: what level_l2 costs must be earned by a nominal split.
    const double parent = gain_of_node(task);
    split.gain = units.gain(static_cast<double>(candidate.gain) - parent);
    return split;
}

BinRule rule_of(const Split& split, std::span<Bin, kMaxBins> table) {
    if (!split.nominal) return {.last = split.last, .shift = split.missing_left ? Bin{0} : Bin{1}, .table = nullptr};
    for (int bin = 0; bin < kMaxBins; ++bin) table[static_cast<std::size_t>(bin)] = holds(split.left_bins, bin);
    return {.last = 0, .shift = 0, .table = table.data()};
}

}  // namespace coterie
