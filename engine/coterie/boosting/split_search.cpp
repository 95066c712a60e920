#include "coterie/boosting/split_search.hpp"

#include <algorithm>
#include <atomic>
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

void raise(std::atomic<float>& best, float rank) {
    float known = best.load(std::memory_order_relaxed);
    while (known < rank && !best.compare_exchange_weak(known, rank, std::memory_order_relaxed)) {
    }
}

}  // namespace

SplitSearch::SplitSearch(const BinnedMatrix& matrix, const HistogramLayout& layout, const SplitRules& rules,
                         const RowPartition& partition)
    : matrix_(matrix), layout_(layout), options_(rules.options()), rules_(rules), partition_(partition) {
    for (std::uint32_t bundle = 0; bundle < matrix.bundles().size(); ++bundle) {
        const FeatureIndex feature = matrix.bundles()[bundle].features[0];
        const bool has_direction = feature < options_.monotone.size() && options_.monotone[feature] != 0;
        const bool plain = !matrix.bundles()[bundle].fused() && !matrix.feature(feature).nominal && !has_direction;
        plain_bundles_.push_back({.feature = feature,
                                  .n_bins = plain ? matrix.feature(feature).n_bins : 0,
                                  .offset = layout.bundle_offset(bundle)});
    }
}

void SplitSearch::find(std::span<const LeafCells> leaves, const CellWork& work, double least_gain, Scratch& scratch,
                       int n_threads) const {
    const std::size_t n_features = matrix_.n_features();
    scratch.candidates.assign(leaves.size() * n_features, Candidate{});
    const auto candidates_of = [&](std::size_t k) {
        return std::span(scratch.candidates).subspan(k * n_features, n_features);
    };
    std::array<Ranking, 2> rankings;
    for (std::size_t k = 0; k < leaves.size(); ++k) rankings[k] = rules_.ranking_of(*leaves[k].leaf, least_gain);
    // Ranks that threads have found so far. Only the best of all candidates is chosen, and which one that is does not
    // depend on what was known when a feature was scanned.
    std::array<std::atomic<float>, 2> best{rankings[0].least, rankings[1].least};
    const auto scan_tiles = [&](std::span<const Tile> tiles) {
        for (const Tile& tile : tiles) {
            if (work.subtracted != nullptr)
                kernels().split.subtract(leaves[0].cells + tile.offset, work.subtracted + tile.offset, tile.n_cells());
            for (std::size_t k = 0; k < leaves.size(); ++k) {
                float beat = best[k].load(std::memory_order_relaxed);
                scan_tile(tile, leaves[k].cells, rankings[k], beat, candidates_of(k));
                raise(best[k], beat);
            }
        }
    };
    const std::size_t n_chunks = work.chunks.empty() ? layout_.tiles().size() : work.chunks.size();
    const int n_searching = layout_.n_cells() > kCellsPerThread ? n_threads : 1;
    const auto work_on = [&](std::size_t chunk) {
        if (work.fill != nullptr) (*work.fill)(chunk);
        scan_tiles(layout_.tiles(work.chunks.empty() ? TileRange{chunk, chunk + 1} : work.chunks[chunk]));
    };
    // Each thread has panels of its own: the cells that a thread wrote for the parent are in its own cache, not in
    // another core's.
    parallel_for(n_chunks, n_searching, work_on, work.chunks.empty() ? Sharing::in_order : Sharing::work_stealing);
    for (std::size_t k = 0; k < leaves.size(); ++k) {
        OpenLeaf& leaf = *leaves[k].leaf;
        leaf.split = choose(leaves[k], rankings[k], candidates_of(k), scratch, n_threads);
        if (!(leaf.split.gain > 0)) continue;
        RoundingNoise noise = rules_.rounding_noise(leaf.split.feature);
        noise.add(leaf, leaf.split.left_total);
        if (!noise.exceeded()) leaf.split.gain = 0;
    }
}

// The best split of each feature of a tile. Where rows need not be counted later, only a candidate that ranks above
// `beat`, the best so far, is of interest; on a tie the lower feature wins, so equal ranks must be kept.
void SplitSearch::scan_tile(const Tile& tile, const Cell* cells, const Ranking& ranking, float& beat,
                            std::span<Candidate> candidates) const {
    ScanTask scan = ranking.task.scan();
    for (std::uint32_t j = 0; j < tile.width; ++j) {
        const PlainBundle& bundle = plain_bundles_[tile.first_bundle + j];
        if (!ranking.plain || bundle.n_bins == 0) {
            scan_bundle(tile.first_bundle + j, cells, ranking, beat, candidates);
            continue;
        }
        scan.beat = beat;
        const ScanResult found = kernels().split.scan(cells + bundle.offset, bundle.n_bins, scan);
        if (found.gain <= beat) continue;
        Candidate& candidate = candidates[bundle.feature];
        candidate.gain = candidate.rank = found.gain;
        candidate.last = found.last;
        candidate.missing_left = found.missing_left;
        if (rules_.facts().counted) beat = std::nextafter(found.gain, -kInfinity);
    }
}

void SplitSearch::scan_bundle(std::uint32_t bundle_index, const Cell* cells, const Ranking& ranking, float& beat,
                              std::span<Candidate> candidates) const {
    const FeatureBundle& bundle = matrix_.bundles()[bundle_index];
    const Cell* const bundle_cells = cells + layout_.bundle_offset(bundle_index);
    BundleCells bundle_scratch;
    if (bundle.fused()) split_bundle(matrix_, bundle, bundle_cells, bundle_scratch);
    for (std::size_t position = 0; position < bundle.features.size(); ++position) {
        const FeatureIndex feature = bundle.features[position];
        Candidate& candidate = candidates[feature];
        const FeatureBins& bins = matrix_.feature(feature);
        if (bins.n_bins < 2 || (!ranking.allowed.empty() && !ranking.allowed[feature])) continue;
        const int direction = rules_.direction_of(feature);
        const Cell* const own = bundle.fused() ? bundle_scratch.of(position) : bundle_cells;
        const float noise = ranking.noise == 0 ? 0.0f : rules_.noise_of(ranking, feature);
        candidate = best_candidate(bins, own, ranking.task, direction, {}, gain_to_beat(beat, noise));
        rules_.rank(candidate, ranking, noise);
        if (rules_.facts().counted) beat = std::max(beat, std::nextafter(candidate.rank, -kInfinity));
    }
}

// The best candidate whose children keep min_samples_leaf rows. Rows are counted only when the hessian leaves
// a doubt, and then for the winning feature alone, so counting costs next to nothing on large nodes.
Split SplitSearch::choose(const LeafCells& leaf, const Ranking& ranking, std::span<Candidate> candidates,
                          Scratch& scratch, int n_threads) const {
    const SplitTask& task = ranking.task;
    std::vector<std::vector<std::uint32_t>> counts(rules_.facts().counted ? 0 : candidates.size());
    BundleCells bundle_scratch;
    for (;;) {
        std::size_t best = 0;
        for (std::size_t feature = 1; feature < candidates.size(); ++feature)
            if (candidates[feature].rank > candidates[best].rank) best = feature;
        const auto feature = static_cast<FeatureIndex>(best);
        const FeatureBins& bins = matrix_.feature(feature);
        const Cell* const own = rules_.feature_cells(leaf.cells, feature, bundle_scratch);
        const Split split =
            rules_.facts().counted
                ? spell_out(candidates[best], feature, bins, own, task, rules_.facts().units)
                : spell_out(candidates[best], feature, bins, own, task, rules_.facts().units, counts[best]);
        if (candidates[best].gain < 0 || split.gain <= options_.min_gain || rules_.facts().counted) return split;
        if (rules_.surely_enough_rows(split.left_total) &&
            rules_.surely_enough_rows(leaf.leaf->total - split.left_total))
            return split;
        if (!counts[best].empty()) return split;
        const std::size_t n_left = partition_.count_left(leaf.leaf->rows, feature, rule_of(split, scratch.rule_table),
                                                         scratch.marks, n_threads);
        if (n_left >= options_.min_samples_leaf && leaf.leaf->n_rows - n_left >= options_.min_samples_leaf)
            return split;
        counts[best] = partition_.count_bins(leaf.leaf->rows, feature);
        const int direction = rules_.direction_of(feature);
        candidates[best] =
            best_candidate(bins, own, task, direction, {.counts = counts[best], .least = options_.min_samples_leaf});
        rules_.rank(candidates[best], ranking, ranking.noise == 0 ? 0.0f : rules_.noise_of(ranking, feature));
    }
}

}  // namespace coterie
