#include "coterie/boosting/shared_split.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "coterie/base/parallel.hpp"
#include "coterie/split/constrained.hpp"
#include "coterie/split/nominal.hpp"

namespace coterie {
namespace {

constexpr std::size_t kCellsPerThread = 3'000;
constexpr std::size_t kRoom = kMaxBins + 8;

}  // namespace

// Gains summed over the leaves so far: of thresholds with missing rows right, then left, by bin; or of the first
// levels of the order, by their number.
struct GainSums {
    std::array<float, 2 * kRoom> gains{};
    std::array<Bin, kMaxBins> order{};
    std::size_t n_levels = 0;
    double contrast = -1;      // between the levels, in the histogram that gave the order
    std::uint16_t sorter = 0;  // which of the histograms that was
    bool has_missing = false;
};

namespace {

void add_levels(const Cell* cells, const SplitTask& task, float parent, const RowCounts& rows, GainSums& sums) {
    const double l2 = static_cast<double>(task.l2) + static_cast<double>(task.level_l2);
    const ScanTask scan = task.scan(task.level_l2);
    Cell left = 0;
    std::uint32_t n_left = 0;
    for (std::size_t i = 0; i + 1 < sums.n_levels; ++i) {
        left += cells[sums.order[i]];
        if (!rows.counts.empty()) {
            n_left += rows.counts[sums.order[i]];
            if (n_left < rows.least || task.n_rows - n_left < rows.least) continue;
        }
        if (task.limited(0)) {
            sums.gains[i + 1] += gain_above(parent, left, task, l2, 0);
        } else {
            const float gain = gain_of_split(left, scan);
            if (gain >= 0) sums.gains[i + 1] += gain - parent;
        }
    }
}

void add_thresholds(const Cell* cells, int n_bins, const SplitTask& task, float parent, int direction,
                    const RowCounts& rows, bool missing_left, float* gains) {
    const ScanTask scan = task.scan();
    if (!task.limited(direction) && rows.counts.empty())
        return kernels().split.add_gains(cells, n_bins, scan, parent, missing_left, gains);
    Cell left = missing_left ? cells[0] : 0;
    std::uint32_t n_left = missing_left && !rows.counts.empty() ? rows.counts[0] : 0;
    for (int bin = 1; bin < n_bins; ++bin) {
        left += cells[bin];
        if (!rows.counts.empty()) {
            n_left += rows.counts[static_cast<std::size_t>(bin)];
            if (n_left < rows.least || task.n_rows - n_left < rows.least) continue;
        }
        if (task.limited(direction)) {
            gains[bin] += gain_above(parent, left, task, static_cast<double>(task.l2), direction);
        } else {
            const float gain = gain_of_split(left, scan);
            if (gain >= 0) gains[bin] += gain - parent;
        }
    }
}

// What parting all levels from one another would gain, rare ones counting less.
double contrast_of(const Cell* cells, int n_bins, const SplitTask& task) {
    const Sums total = task.sums(task.total);
    const auto all = static_cast<double>(total.gradient);
    double sum = -all * all / std::max(1.0, static_cast<double>(total.hessian));
    for (int bin = 0; bin < n_bins; ++bin) {
        const Sums level = task.sums(cells[bin]);
        const auto gradient = static_cast<double>(level.gradient);
        const double hessian = static_cast<double>(level.hessian) + static_cast<double>(task.level_smoothing);
        sum += gradient * gradient / std::max(1.0, hessian);
    }
    return sum;
}

// The first of the best; a sum of zero is none.
Candidate best_sum(const GainSums& sums, const FeatureBins& bins, float level_cost) {
    Candidate best;
    best.gain = 0;
    if (bins.nominal) {
        best.nominal = true;
        best.n_levels = static_cast<std::uint16_t>(sums.n_levels);
        for (std::size_t n = 1; n < sums.n_levels; ++n)
            if (sums.gains[n] > best.gain) {
                best.gain = sums.gains[n];
                best.n_levels_left = static_cast<std::uint16_t>(n);
            }
        best.gain -= level_cost * static_cast<float>(best.n_levels - 1);
        best.sorter = sums.sorter;
    } else {
        for (const bool missing_left : {false, true}) {
            if (missing_left && !sums.has_missing) break;
            const float* const gains = sums.gains.data() + (missing_left ? kRoom : 0);
            for (int bin = 1; bin < bins.n_bins; ++bin)
                if (gains[bin] > best.gain) {
                    best.gain = gains[bin];
                    best.last = static_cast<Bin>(bin);
                    best.missing_left = missing_left;
                }
        }
    }
    return best.gain > 0 ? best : Candidate{};
}

}  // namespace

struct SharedSplitSearch::Task {
    const SharedLeaves& shared;
    std::vector<SplitTask> tasks;
    std::vector<float> parents;      // what each leaf gains by itself
    std::vector<SplitTask> sorters;  // of the histograms that sort levels
    Ranking ranking;
};

Split SharedSplitSearch::find(const SharedLeaves& shared, Scratch& scratch, int n_threads) const {
    Task task{.shared = shared, .tasks = {}, .parents = {}, .sorters = {}, .ranking = rules_.ranking_of(shared.first)};
    for (const LeafCells& leaf : shared.leaves) {
        task.tasks.push_back(rules_.task_of(*leaf.leaf));
        task.parents.push_back(static_cast<float>(gain_of_node(task.tasks.back())));
    }
    for (const LeafCells& sorter : shared.sorters) task.sorters.push_back(rules_.task_of(*sorter.leaf));
    task.ranking.parent = 0;
    task.ranking.noise *= static_cast<float>(shared.leaves.size());
    if (task.ranking.noise > 0) task.ranking.rounding = seeming_gain(task);
    scratch.candidates.assign(matrix_.n_features(), {});
    const bool small = layout_.n_cells() * shared.leaves.size() < kCellsPerThread;
    const bool resident = std::ranges::none_of(shared.leaves, [](const auto& leaf) { return leaf.cells == nullptr; });
    if (resident)
        sum_at_once(task, small ? 1 : n_threads, scratch.candidates);
    else
        sum_one_by_one(task, small ? 1 : n_threads, scratch.candidates);
    std::vector<std::uint8_t> counted(matrix_.n_features(), rules_.facts().counted || rules_.facts().flat_hessian);
    BundleCells bundle_scratch;
    for (;;) {
        const auto best = std::ranges::max_element(scratch.candidates, {}, &Candidate::rank);
        if (best->gain < 0) return {};
        const auto feature = static_cast<FeatureIndex>(best - scratch.candidates.begin());
        const Cell* const own = rules_.feature_cells(shared.sorters[best->sorter].cells, feature, bundle_scratch);
        Split split =
            spell_out(*best, feature, matrix_.feature(feature), own, task.sorters[best->sorter], rules_.facts().units);
        split.gain = rules_.facts().units.gain(static_cast<double>(best->gain));
        if (counted[feature] || keeps_enough_rows(split, task, scratch, n_threads))
            return exceeds_rounding(split, shared) ? split : Split{};
        *best = count_feature(feature, task);
        counted[feature] = 1;
    }
}

double SharedSplitSearch::seeming_gain(const Task& task) const {
    std::vector<const OpenLeaf*> leaves;
    for (const LeafCells& leaf : task.shared.leaves) leaves.push_back(leaf.leaf);
    return rules_.seeming_gain(leaves, std::accumulate(task.parents.begin(), task.parents.end(), 0.0));
}

bool SharedSplitSearch::exceeds_rounding(const Split& split, const SharedLeaves& shared) const {
    RoundingNoise noise = rules_.rounding_noise(split.feature);
    for (const LeafCells& leaf : shared.leaves) noise.add(*leaf.leaf, left_total(split, leaf));
    return noise.exceeded();
}

// Calls `each` with the cells and the sums of each allowed feature of a bundle: a fused bundle is taken apart once.
template <class Each>
void SharedSplitSearch::for_features(std::uint32_t bundle_index, const Cell* cells, const Task& task,
                                     std::span<GainSums> sums, Each each) const {
    const FeatureBundle& bundle = matrix_.bundles()[bundle_index];
    const Cell* const bundle_cells = cells + layout_.bundle_offset(bundle_index);
    BundleCells bundle_scratch;
    if (bundle.fused()) split_bundle(matrix_, bundle, bundle_cells, bundle_scratch);
    for (std::size_t i = 0; i < bundle.features.size(); ++i) {
        const FeatureIndex feature = bundle.features[i];
        if (task.ranking.allowed.empty() || task.ranking.allowed[feature])
            each(feature, bundle.fused() ? bundle_scratch.of(i) : bundle_cells, sums[i]);
    }
}

void SharedSplitSearch::start_bundle(std::uint32_t bundle, const Task& task, std::span<GainSums> sums) const {
    for (std::size_t k = 0; k < task.sorters.size(); ++k)
        for_features(
            bundle, task.shared.sorters[k].cells, task, sums,
            [&](FeatureIndex feature, const Cell* own, GainSums& to) { start_sums(feature, own, k, task, to); });
}

void SharedSplitSearch::add_bundle(std::uint32_t bundle, const Cell* cells, std::size_t k, const Task& task,
                                   std::span<GainSums> sums) const {
    for_features(bundle, cells, task, sums,
                 [&](FeatureIndex feature, const Cell* own, GainSums& to) { add_leaf(feature, own, k, task, {}, to); });
}

void SharedSplitSearch::choose_of_bundle(std::uint32_t bundle, const Task& task, std::span<const GainSums> sums,
                                         std::span<Candidate> candidates) const {
    const std::vector<FeatureIndex>& features = matrix_.bundles()[bundle].features;
    for (std::size_t i = 0; i < features.size(); ++i)
        if (task.ranking.allowed.empty() || task.ranking.allowed[features[i]])
            candidates[features[i]] = best_of(sums[i], features[i], task);
}

// Bundle by bundle, if all leaves have their cells.
void SharedSplitSearch::sum_at_once(const Task& task, int n_threads, std::span<Candidate> candidates) const {
    parallel_for(matrix_.bundles().size(), n_threads, [&](std::size_t i) {
        const auto bundle = static_cast<std::uint32_t>(i);
        std::vector<GainSums> sums(matrix_.bundles()[bundle].features.size());
        start_bundle(bundle, task, sums);
        for (std::size_t k = 0; k < task.tasks.size(); ++k)
            add_bundle(bundle, task.shared.leaves[k].cells, k, task, sums);
        choose_of_bundle(bundle, task, sums, candidates);
    });
}

// Leaf by leaf, if some have to be built first. Gains are added in the same order.
void SharedSplitSearch::sum_one_by_one(const Task& task, int n_threads, std::span<Candidate> candidates) const {
    std::vector<std::vector<GainSums>> sums;
    for (const FeatureBundle& bundle : matrix_.bundles()) sums.emplace_back(bundle.features.size());
    const auto for_bundles = [&](auto&& body) {
        parallel_for(sums.size(), n_threads, [&](std::size_t bundle) { body(static_cast<std::uint32_t>(bundle)); });
    };
    for_bundles([&](std::uint32_t bundle) { start_bundle(bundle, task, sums[bundle]); });
    for (std::size_t k = 0; k < task.tasks.size(); ++k) {
        const Cell* const own = task.shared.leaves[k].cells;
        const Cell* const cells = own != nullptr ? own : task.shared.build(k);
        for_bundles([&](std::uint32_t bundle) { add_bundle(bundle, cells, k, task, sums[bundle]); });
    }
    for_bundles([&](std::uint32_t bundle) { choose_of_bundle(bundle, task, sums[bundle], candidates); });
}

// From the rows, if the leaf has no cells.
const Cell* SharedSplitSearch::feature_cells(const LeafCells& leaf, FeatureIndex feature,
                                             BundleCells& bundle_scratch) const {
    if (leaf.cells != nullptr) return rules_.feature_cells(leaf.cells, feature, bundle_scratch);
    partition_.sum_bins(leaf.leaf->rows, feature, rules_.facts().counted,
                        std::span(bundle_scratch.cells).first(kMaxBins));
    return bundle_scratch.cells.data();
}

// The sums of one feature with rows counted in every leaf, because the cells do not tell how many there are.
Candidate SharedSplitSearch::count_feature(FeatureIndex feature, const Task& task) const {
    GainSums sums;
    BundleCells bundle_scratch;
    for (std::size_t k = 0; k < task.sorters.size(); ++k)
        start_sums(feature, rules_.feature_cells(task.shared.sorters[k].cells, feature, bundle_scratch), k, task, sums);
    for (std::size_t k = 0; k < task.tasks.size(); ++k) {
        const LeafCells& leaf = task.shared.leaves[k];
        const std::vector<std::uint32_t> counts = partition_.count_bins(leaf.leaf->rows, feature);
        add_leaf(feature, feature_cells(leaf, feature, bundle_scratch), k, task,
                 {.counts = counts, .least = rules_.options().min_samples_leaf}, sums);
    }
    return best_of(sums, feature, task);
}

Candidate SharedSplitSearch::best_of(const GainSums& sums, FeatureIndex feature, const Task& task) const {
    const float level_cost = static_cast<float>(task.shared.level_costs[sums.sorter]);
    Candidate best = best_sum(sums, matrix_.feature(feature), level_cost);
    rules_.rank(best, task.ranking, task.ranking.noise == 0 ? 0.0f : rules_.noise_of(task.ranking, feature));
    return best;
}

// Looks at one of the histograms that may sort the levels.
void SharedSplitSearch::start_sums(FeatureIndex feature, const Cell* own, std::size_t k, const Task& task,
                                   GainSums& sums) const {
    const FeatureBins& bins = matrix_.feature(feature);
    sums.has_missing |= own[0] != 0;
    if (!bins.nominal) return;
    const double contrast = task.sorters.size() == 1 ? 0 : contrast_of(own, bins.n_bins, task.sorters[k]);
    if (k > 0 && !(contrast > sums.contrast)) return;
    sums.contrast = contrast;
    sums.sorter = static_cast<std::uint16_t>(k);
    sums.n_levels = order_of_levels(own, bins.n_bins, task.sorters[k], sums.order);
}

void SharedSplitSearch::add_leaf(FeatureIndex feature, const Cell* own, std::size_t k, const Task& task,
                                 const RowCounts& rows, GainSums& sums) const {
    const FeatureBins& bins = matrix_.feature(feature);
    if (bins.nominal) return add_levels(own, task.tasks[k], task.parents[k], rows, sums);
    const int direction = rules_.direction_of(feature);
    for (const bool missing_left : {false, true})
        if (!missing_left || sums.has_missing)
            add_thresholds(own, bins.n_bins, task.tasks[k], task.parents[k], direction, rows, missing_left,
                           sums.gains.data() + (missing_left ? kRoom : 0));
}

// No leaf would add a gain to the sum that it may not add because a child has too few rows.
bool SharedSplitSearch::keeps_enough_rows(const Split& split, const Task& task, Scratch& scratch, int n_threads) const {
    for (const LeafCells& leaf : task.shared.leaves) {
        const Cell left = left_total(split, leaf);
        const Cell right = leaf.leaf->total - left;
        if (rules_.surely_enough_rows(left) && rules_.surely_enough_rows(right)) continue;
        const SplitTask own_task = rules_.task_of(*leaf.leaf);
        const double lighter = std::min(rules_.facts().hessian(left), rules_.facts().hessian(right));
        if (lighter < static_cast<double>(own_task.min_hessian)) continue;
        const std::size_t n_left = partition_.count_left(leaf.leaf->rows, split.feature,
                                                         rule_of(split, scratch.rule_table), scratch.marks, n_threads);
        if (std::min(n_left, leaf.leaf->n_rows - n_left) < rules_.options().min_samples_leaf) return false;
    }
    return true;
}

Cell SharedSplitSearch::left_total(const Split& shared, const LeafCells& leaf) const {
    std::array<Bin, kMaxBins> table;
    const BinRule rule = rule_of(shared, table);
    BundleCells bundle_scratch;
    const Cell* const own = feature_cells(leaf, shared.feature, bundle_scratch);
    Cell total = 0;
    for (int bin = 0; bin < matrix_.feature(shared.feature).n_bins; ++bin)
        if (passes(rule, static_cast<Bin>(bin))) total += own[bin];
    return total;
}

double SharedSplitSearch::gain_of(const Split& shared, const OpenLeaf& leaf, Cell left_total) const {
    const SplitTask task = rules_.task_of(leaf);
    const auto parent = static_cast<float>(gain_of_node(task));
    const double l2 = static_cast<double>(task.l2) + (shared.nominal ? static_cast<double>(task.level_l2) : 0.0);
    const float gain = gain_above(parent, left_total, task, l2, rules_.direction_of(shared.feature));
    return rules_.facts().units.gain(static_cast<double>(gain));
}

}  // namespace coterie
