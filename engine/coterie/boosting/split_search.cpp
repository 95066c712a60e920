#include "coterie/boosting/split_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "coterie/base/parallel.hpp"
#include "coterie/base/random.hpp"

namespace coterie {
namespace {

constexpr std::size_t kCellsPerThread = 2'000;
constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Gains up to this one cannot rank above `beat`; a little less, so that rounding cannot lose one that does.
float gain_to_beat(float beat, float noise) {
    if (noise == 0 || beat == -kInfinity) return std::max(beat, -1.0f);
    return std::max(beat - noise - 1e-6f * (std::abs(beat) + std::abs(noise)), -1.0f);
}

}  // namespace

SplitSearch::SplitSearch(const BinnedMatrix& matrix, const HistogramLayout& layout, const GrowOptions& options,
                         RowPartition& partition)
    : matrix_(matrix), layout_(layout), options_(options), partition_(partition) {
    for (std::uint32_t lane = 0; lane < matrix.lanes().size(); ++lane) {
        const FeatureIndex feature = matrix.lanes()[lane].features[0];
        const bool has_direction = feature < options.monotone.size() && options.monotone[feature] != 0;
        const bool plain = !matrix.lanes()[lane].fused() && !matrix.feature(feature).nominal && !has_direction;
        plain_lanes_.push_back({.feature = feature,
                                .n_bins = plain ? matrix.feature(feature).n_bins : 0,
                                .offset = layout.lane_offset(lane)});
    }
}

bool SplitSearch::may_split(const OpenLeaf& leaf) const {
    return leaf.rows.n >= 2 * std::size_t{std::max(1u, options_.min_samples_leaf)} &&
           (options_.max_depth == 0 || leaf.depth < options_.max_depth) && facts_.hessian(leaf.total) > 0;
}

SplitTask SplitSearch::task_of(const OpenLeaf& leaf) const {
    const double per_hessian = 1.0 / facts_.units.hessian;
    // Where every row has the same rounded hessian, min_samples_leaf is a bound on the hessian as well.
    const bool counts = facts_.flat_hessian;
    const double least = std::max({1.0, std::ceil(options_.min_child_weight * per_hessian),
                                   counts ? static_cast<double>(options_.min_samples_leaf) : 1.0});
    const double to_rounded = facts_.units.hessian / facts_.units.gradient;
    return {.total = leaf.total,
            .n_rows = static_cast<std::uint32_t>(leaf.rows.n),
            .l1 = static_cast<float>(options_.l1 / facts_.units.gradient),
            .l2 = static_cast<float>(options_.l2 * per_hessian),
            .min_hessian = static_cast<float>(least),
            .level_l2 = static_cast<float>(options_.level_l2 * per_hessian),
            .level_smoothing = static_cast<float>(options_.level_smoothing * per_hessian),
            .level_cost = static_cast<float>(facts_.noise),
            .bounds = {.low = leaf.bounds.low * to_rounded, .high = leaf.bounds.high * to_rounded},
            .counted = facts_.counted,
            .min_rows = options_.min_samples_leaf};
}

// One flag per feature, or nothing if all are allowed.
std::vector<std::uint8_t> SplitSearch::allowed_features(const OpenLeaf& leaf) const {
    std::vector<std::uint8_t> allowed;
    const std::size_t n_features = matrix_.n_features();
    if (!options_.interaction_sets.empty()) {
        allowed.assign(n_features, 0);
        for (const std::uint32_t set : leaf.sets)
            for (const FeatureIndex feature : options_.interaction_sets[set]) allowed[feature] = 1;
    }
    // Each share is drawn from what the one before it left.
    keep_share(allowed, options_.max_features_per_tree, Purpose::tree_features, 0);
    keep_share(allowed, options_.max_features_per_level, Purpose::level_features, leaf.depth * n_features);
    keep_share(allowed, options_.max_features, Purpose::feature_draw, leaf.place * n_features);
    return allowed;
}

// Keeps the share of the allowed features whose draws are the lowest, at least one.
void SplitSearch::keep_share(std::vector<std::uint8_t>& allowed, double share, Purpose purpose,
                             std::uint64_t first_draw) const {
    if (share >= 1.0) return;
    const std::size_t n_features = matrix_.n_features();
    if (allowed.empty()) allowed.assign(n_features, 1);
    std::vector<std::pair<std::uint64_t, FeatureIndex>> drawn;
    for (FeatureIndex feature = 0; feature < n_features; ++feature)
        if (allowed[feature]) drawn.emplace_back(random_bits(facts_.seed, purpose, first_draw + feature), feature);
    const auto keep =
        std::max<std::size_t>(1, static_cast<std::size_t>(std::ceil(share * static_cast<double>(drawn.size()) - 1e-9)));
    std::sort(drawn.begin(), drawn.end());
    for (std::size_t i = keep; i < drawn.size(); ++i) allowed[drawn[i].second] = 0;
}

Contest SplitSearch::contest_of(const OpenLeaf& leaf, double least_gain) const {
    Contest contest{.task = task_of(leaf), .allowed = allowed_features(leaf)};
    contest.plain = contest.allowed.empty() && options_.split_noise == 0 && !contest.task.limited(0);
    contest.parent = gain_of_node(contest.task);
    // A little less, so that rounding cannot lose a split that gains more.
    if (contest.plain)
        contest.least = static_cast<float>((contest.parent + least_gain / facts_.units.gain(1.0)) * (1 - 1e-6));
    if (options_.split_noise == 0) return contest;
    contest.noise = static_cast<float>(options_.split_noise * facts_.noise);
    contest.first_draw = leaf.place * matrix_.n_features();
    return contest;
}

float SplitSearch::noise_of(const Contest& contest, FeatureIndex feature) const {
    return contest.noise * random_normal(facts_.seed, Purpose::split_noise, contest.first_draw + feature);
}

// With noise, a candidate that would not be made into a split must not win against one that would.
void SplitSearch::rank(Candidate& candidate, const Contest& contest, float noise) const {
    const bool splits = contest.noise == 0 ||
                        facts_.units.gain(static_cast<double>(candidate.gain) - contest.parent) > options_.min_gain;
    if (candidate.gain >= 0 && splits)
        candidate.rank = candidate.gain + noise;
    else
        candidate = {};
}

void SplitSearch::find(std::span<const LeafCells> leaves, const Cell* sibling, double least_gain, Desk& desk,
                       int n_threads, const ChunkTask* fill) const {
    const std::size_t n_features = matrix_.n_features();
    desk.candidates.assign(leaves.size() * n_features, Candidate{});
    const auto candidates_of = [&](std::size_t k) {
        return std::span(desk.candidates).subspan(k * n_features, n_features);
    };
    std::array<Contest, 2> contests;
    for (std::size_t k = 0; k < leaves.size(); ++k) contests[k] = contest_of(*leaves[k].leaf, least_gain);
    const std::span<const Tile> tiles = layout_.tiles();
    const int n_searching = layout_.n_cells() > kCellsPerThread ? n_threads : 1;
    std::array<float, 2> best_of_all{contests[0].least, contests[1].least};  // what one thread found in tiles before
    parallel_for(tiles.size(), n_searching, [&](std::size_t t) {
        const Tile& tile = tiles[t];
        if (fill != nullptr) (*fill)(t);
        if (sibling != nullptr)
            kernels().split.subtract(leaves[0].cells + tile.offset, sibling + tile.offset, tile.n_cells());
        for (std::size_t k = 0; k < leaves.size(); ++k) {
            float best_of_tile = contests[k].least;
            float& beat = n_searching == 1 ? best_of_all[k] : best_of_tile;
            scan_tile(tile, leaves[k].cells, contests[k], beat, candidates_of(k));
        }
    });
    for (std::size_t k = 0; k < leaves.size(); ++k)
        leaves[k].leaf->split = choose(leaves[k], contests[k], candidates_of(k), desk, n_threads);
}

// The best split of each feature of a tile. Where rows need not be counted later, only a candidate that ranks above
// `beat`, the best so far, is of interest; on a tie the lower feature wins, so equal ranks must be kept.
void SplitSearch::scan_tile(const Tile& tile, const Cell* cells, const Contest& contest, float& beat,
                            std::span<Candidate> candidates) const {
    ScanTask scan = contest.task.scan();
    for (std::uint32_t j = 0; j < tile.width; ++j) {
        const PlainLane& lane = plain_lanes_[tile.first_lane + j];
        if (!contest.plain || lane.n_bins == 0) {
            scan_lane(tile.first_lane + j, cells, contest, beat, candidates);
            continue;
        }
        scan.beat = beat;
        const ScanResult found = kernels().split.scan(cells + lane.offset, lane.n_bins, scan);
        if (found.gain <= beat) continue;
        Candidate& candidate = candidates[lane.feature];
        candidate.gain = candidate.rank = found.gain;
        candidate.last = found.last;
        candidate.missing_left = found.missing_left;
        if (facts_.counted) beat = std::nextafter(found.gain, -kInfinity);
    }
}

void SplitSearch::scan_lane(std::uint32_t lane_index, const Cell* cells, const Contest& contest, float& beat,
                            std::span<Candidate> candidates) const {
    const Lane& lane = matrix_.lanes()[lane_index];
    const Cell* const lane_cells = cells + layout_.lane_offset(lane_index);
    LaneCells room;
    if (lane.fused()) split_lane(matrix_, lane, lane_cells, room);
    for (std::size_t place = 0; place < lane.features.size(); ++place) {
        const FeatureIndex feature = lane.features[place];
        Candidate& candidate = candidates[feature];
        const FeatureBins& bins = matrix_.feature(feature);
        if (bins.n_bins < 2 || (!contest.allowed.empty() && !contest.allowed[feature])) continue;
        const int direction = options_.monotone.empty() ? 0 : options_.monotone[feature];
        const Cell* const own = lane.fused() ? room.of(place) : lane_cells;
        const float noise = contest.noise == 0 ? 0.0f : noise_of(contest, feature);
        candidate = best_candidate(bins, own, contest.task, direction, {}, gain_to_beat(beat, noise));
        rank(candidate, contest, noise);
        if (facts_.counted) beat = std::max(beat, std::nextafter(candidate.rank, -kInfinity));
    }
}

// The cells of one feature, in the histogram itself or summed up in `room`.
const Cell* SplitSearch::feature_cells(const Cell* cells, FeatureIndex feature, LaneCells& room) const {
    const std::uint32_t lane_index = layout_.lane_of(feature);
    const Lane& lane = matrix_.lanes()[lane_index];
    const Cell* const lane_cells = cells + layout_.lane_offset(lane_index);
    if (!lane.fused()) return lane_cells;
    split_lane(matrix_, lane, lane_cells, room);
    const auto place = std::find(lane.features.begin(), lane.features.end(), feature) - lane.features.begin();
    return room.of(static_cast<std::size_t>(place));
}

// The hessian proves that enough rows are in the child.
bool SplitSearch::surely_enough_rows(Cell child) const {
    return facts_.hessian(child) >
           static_cast<double>(facts_.units.hessian_max) * (static_cast<double>(options_.min_samples_leaf) - 1);
}

// The best candidate whose children keep min_samples_leaf rows. Rows are counted only when the hessian leaves
// a doubt, and then for the winning feature alone, so counting costs next to nothing on large nodes.
Split SplitSearch::choose(const LeafCells& leaf, const Contest& contest, std::span<Candidate> candidates, Desk& desk,
                          int n_threads) const {
    const SplitTask& task = contest.task;
    std::vector<std::vector<std::uint32_t>> counts(facts_.counted ? 0 : candidates.size());
    LaneCells room;
    for (;;) {
        std::size_t best = 0;
        for (std::size_t feature = 1; feature < candidates.size(); ++feature)
            if (candidates[feature].rank > candidates[best].rank) best = feature;
        const auto feature = static_cast<FeatureIndex>(best);
        const FeatureBins& bins = matrix_.feature(feature);
        const Cell* const own = feature_cells(leaf.cells, feature, room);
        const Split split = facts_.counted
                                ? spell_out(candidates[best], feature, bins, own, task, facts_.units)
                                : spell_out(candidates[best], feature, bins, own, task, facts_.units, counts[best]);
        if (candidates[best].gain < 0 || split.gain <= options_.min_gain || facts_.counted) return split;
        if (surely_enough_rows(split.left_total) && surely_enough_rows(leaf.leaf->total - split.left_total))
            return split;
        if (!counts[best].empty()) return split;
        const std::size_t n_left =
            partition_.count_left(leaf.leaf->rows, feature, rule_of(split, desk.rule_table), desk.marks, n_threads);
        if (n_left >= options_.min_samples_leaf && leaf.leaf->rows.n - n_left >= options_.min_samples_leaf)
            return split;
        counts[best] = partition_.count_bins(leaf.leaf->rows, feature);
        const int direction = options_.monotone.empty() ? 0 : options_.monotone[feature];
        candidates[best] =
            best_candidate(bins, own, task, direction, {.counts = counts[best], .least = options_.min_samples_leaf});
        rank(candidates[best], contest, contest.noise == 0 ? 0.0f : noise_of(contest, feature));
    }
}

}  // namespace coterie
