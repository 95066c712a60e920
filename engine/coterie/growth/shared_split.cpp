// growth/shared_split.cpp: one split for all leaves of a level, by the sum of what it gains in each.
//
// A leaf where a child would be too light gains nothing, and does not stop the others. Levels of a nominal feature are
// sorted once for all leaves, by their sums over all of them, which are the sums of the whole tree.
#include <algorithm>
#include <limits>

#include "coterie/base/parallel.hpp"
#include "coterie/growth/split_search.hpp"
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
        return kernels().add_gains(cells, n_bins, scan, parent, missing_left, gains);
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

// The first of the best; a sum of zero is none.
Candidate best_of(const GainSums& sums, const FeatureBins& bins, float level_cost) {
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

struct SplitSearch::Level {
    std::span<const LeafCells> leaves;
    std::vector<SplitTask> tasks;
    std::vector<float> parents;  // what each leaf gains by itself
    const Cell* all;
    Contest contest;  // its task is about all rows
};

Split SplitSearch::find_shared(std::span<const LeafCells> leaves, const OpenLeaf& first, const LeafCells& all,
                               Desk& desk, int n_threads) const {
    Level level{.leaves = leaves, .tasks = {}, .parents = {}, .all = all.cells, .contest = contest_of(first)};
    for (const LeafCells& leaf : leaves) {
        level.tasks.push_back(task_of(*leaf.leaf));
        level.parents.push_back(static_cast<float>(gain_of_node(level.tasks.back())));
    }
    level.contest.task = task_of(*all.leaf);
    level.contest.parent = 0;
    level.contest.noise *= static_cast<float>(leaves.size());
    desk.candidates.assign(matrix_.n_features(), {});
    const bool small = layout_.n_cells() * leaves.size() < kCellsPerThread;
    parallel_for(matrix_.lanes().size(), small ? 1 : n_threads,
                 [&](std::size_t lane) { sum_lane(static_cast<std::uint32_t>(lane), level, desk.candidates); });
    std::vector<std::uint8_t> counted(matrix_.n_features(), facts_.counted || facts_.flat_hessian);
    LaneCells room;
    for (;;) {
        const auto best = std::ranges::max_element(desk.candidates, {}, &Candidate::rank);
        if (best->gain < 0) return {};
        const auto feature = static_cast<FeatureIndex>(best - desk.candidates.begin());
        Split split = spell_out(*best, feature, matrix_.feature(feature), feature_cells(all.cells, feature, room),
                                level.contest.task, facts_.units);
        split.gain = facts_.units.gain(static_cast<double>(best->gain));
        if (counted[feature] || keeps_enough_rows(split, level, desk, n_threads)) return split;
        *best = count_feature(feature, level);
        counted[feature] = 1;
    }
}

// The features of a lane together: a fused lane is taken apart once for each leaf.
void SplitSearch::sum_lane(std::uint32_t lane_index, const Level& level, std::span<Candidate> candidates) const {
    const Lane& lane = matrix_.lanes()[lane_index];
    const Contest& contest = level.contest;
    std::vector<GainSums> sums(lane.features.size());
    LaneCells room;
    const auto add = [&](const Cell* cells, auto&& each) {
        const Cell* const lane_cells = cells + layout_.lane_offset(lane_index);
        if (lane.fused()) split_lane(matrix_, lane, lane_cells, room);
        for (std::size_t place = 0; place < lane.features.size(); ++place) {
            const FeatureIndex feature = lane.features[place];
            if (contest.allowed.empty() || contest.allowed[feature])
                each(feature, lane.fused() ? room.of(place) : lane_cells, sums[place]);
        }
    };
    add(level.all, [&](FeatureIndex feature, const Cell* own, GainSums& to) { start_sums(feature, own, level, to); });
    for (std::size_t k = 0; k < level.leaves.size(); ++k)
        add(level.leaves[k].cells,
            [&](FeatureIndex feature, const Cell* own, GainSums& to) { add_leaf(feature, own, k, level, {}, to); });
    add(level.all, [&](FeatureIndex feature, const Cell*, GainSums& to) {
        candidates[feature] = best_of(to, matrix_.feature(feature), contest.task.level_cost);
        rank(candidates[feature], contest, contest.noise == 0 ? 0.0f : noise_of(contest, feature));
    });
}

// The sums of one feature with rows counted in every leaf, because the cells do not tell how many there are.
Candidate SplitSearch::count_feature(FeatureIndex feature, const Level& level) const {
    GainSums sums;
    LaneCells room;
    start_sums(feature, feature_cells(level.all, feature, room), level, sums);
    for (std::size_t k = 0; k < level.leaves.size(); ++k) {
        const LeafCells& leaf = level.leaves[k];
        const std::vector<std::uint32_t> counts = partition_.count_bins(leaf.leaf->rows, feature);
        add_leaf(feature, feature_cells(leaf.cells, feature, room), k, level,
                 {.counts = counts, .least = options_.min_samples_leaf}, sums);
    }
    Candidate best = best_of(sums, matrix_.feature(feature), level.contest.task.level_cost);
    rank(best, level.contest, level.contest.noise == 0 ? 0.0f : noise_of(level.contest, feature));
    return best;
}

void SplitSearch::start_sums(FeatureIndex feature, const Cell* all, const Level& level, GainSums& sums) const {
    const FeatureBins& bins = matrix_.feature(feature);
    sums.has_missing = all[0] != 0;
    if (bins.nominal) sums.n_levels = order_of_levels(all, bins.n_bins, level.contest.task, sums.order);
}

void SplitSearch::add_leaf(FeatureIndex feature, const Cell* own, std::size_t k, const Level& level,
                           const RowCounts& rows, GainSums& sums) const {
    const FeatureBins& bins = matrix_.feature(feature);
    if (bins.nominal) return add_levels(own, level.tasks[k], level.parents[k], rows, sums);
    const int direction = options_.monotone.empty() ? 0 : options_.monotone[feature];
    for (const bool missing_left : {false, true})
        if (!missing_left || sums.has_missing)
            add_thresholds(own, bins.n_bins, level.tasks[k], level.parents[k], direction, rows, missing_left,
                           sums.gains.data() + (missing_left ? kRoom : 0));
}

// No leaf would add a gain to the sum that it may not add because a child has too few rows.
bool SplitSearch::keeps_enough_rows(const Split& split, const Level& level, Desk& desk, int n_threads) const {
    for (const LeafCells& leaf : level.leaves) {
        const Cell left = own_part(split, leaf).left_total;
        const Cell right = leaf.leaf->total - left;
        if (surely_enough_rows(left) && surely_enough_rows(right)) continue;
        const SplitTask task = task_of(*leaf.leaf);
        const double lighter = std::min(facts_.hessian(left), facts_.hessian(right));
        if (lighter < static_cast<double>(task.min_hessian)) continue;
        const std::size_t n_left = partition_.count_left(leaf.leaf->rows, split.feature,
                                                         rule_of(split, desk.rule_table), desk.marks, n_threads);
        if (std::min(n_left, leaf.leaf->rows.n - n_left) < options_.min_samples_leaf) return false;
    }
    return true;
}

Split SplitSearch::own_part(const Split& shared, const LeafCells& leaf) const {
    Split split = shared;
    split.left_total = 0;
    split.gain = 0;
    std::array<Bin, kMaxBins> table;
    const BinRule rule = rule_of(shared, table);
    LaneCells room;
    const Cell* const own = feature_cells(leaf.cells, shared.feature, room);
    for (int bin = 0; bin < matrix_.feature(shared.feature).n_bins; ++bin)
        if (passes(rule, static_cast<Bin>(bin))) split.left_total += own[bin];
    const SplitTask task = task_of(*leaf.leaf);
    const auto parent = static_cast<float>(gain_of_node(task));
    const int direction = options_.monotone.empty() ? 0 : options_.monotone[shared.feature];
    const double l2 = static_cast<double>(task.l2) + (shared.nominal ? static_cast<double>(task.level_l2) : 0.0);
    split.gain = facts_.units.gain(static_cast<double>(gain_above(parent, split.left_total, task, l2, direction)));
    return split;
}

}  // namespace coterie
