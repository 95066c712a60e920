#include "coterie/boosting/split_rules.hpp"

#include <algorithm>
#include <cmath>

namespace coterie {

bool SplitRules::splittable(const OpenLeaf& leaf) const {
    const std::size_t fewest =
        std::max(2 * std::size_t{std::max(1u, options_.min_samples_leaf)}, std::size_t{options_.min_samples_split});
    return leaf.n_rows >= fewest && (options_.max_depth == 0 || leaf.depth < options_.max_depth) &&
           facts_.hessian(leaf.total) > 0;
}

SplitTask SplitRules::task_of(const OpenLeaf& leaf) const {
    const double per_hessian = 1.0 / facts_.units.hessian;
    // Where every row has the same rounded hessian, min_samples_leaf is a bound on the hessian as well.
    const bool counts = facts_.flat_hessian;
    const double least = std::max({1.0, std::ceil(options_.min_child_weight * per_hessian),
                                   counts ? static_cast<double>(options_.min_samples_leaf) : 1.0});
    const double to_rounded = facts_.units.hessian / facts_.units.gradient;
    return {.total = leaf.total,
            .n_rows = static_cast<std::uint32_t>(leaf.n_rows),
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
std::vector<std::uint8_t> SplitRules::allowed_features(const OpenLeaf& leaf) const {
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
    keep_share(allowed, options_.max_features, Purpose::feature_draw, leaf.draw_key * n_features);
    return allowed;
}

// Keeps the share of the allowed features whose draws are the lowest, at least one.
void SplitRules::keep_share(std::vector<std::uint8_t>& allowed, double share, Purpose purpose,
                            std::uint64_t first_draw) const {
    if (share >= 1.0) return;
    const std::size_t n_features = matrix_.n_features();
    if (allowed.empty()) allowed.assign(n_features, 1);
    std::vector<std::pair<std::uint64_t, FeatureIndex>> drawn;
    drawn.reserve(n_features);
    for (FeatureIndex feature = 0; feature < n_features; ++feature)
        if (allowed[feature]) drawn.emplace_back(random_bits(facts_.seed, purpose, first_draw + feature), feature);
    const auto keep =
        std::max<std::size_t>(1, static_cast<std::size_t>(std::ceil(share * static_cast<double>(drawn.size()) - 1e-9)));
    if (keep < drawn.size())
        std::nth_element(drawn.begin(), drawn.begin() + static_cast<std::ptrdiff_t>(keep), drawn.end());
    for (std::size_t i = keep; i < drawn.size(); ++i) allowed[drawn[i].second] = 0;
}

Ranking SplitRules::ranking_of(const OpenLeaf& leaf, double least_gain) const {
    Ranking ranking{.task = task_of(leaf), .allowed = allowed_features(leaf)};
    ranking.plain = ranking.allowed.empty() && options_.split_noise == 0 && !ranking.task.limited(0);
    ranking.parent = gain_of_node(ranking.task);
    // A little less, so that rounding cannot lose a split that gains more.
    if (ranking.plain)
        ranking.least = static_cast<float>((ranking.parent + least_gain / facts_.units.gain(1.0)) * (1 - 1e-6));
    if (options_.split_noise == 0) return ranking;
    ranking.noise = static_cast<float>(options_.split_noise * facts_.noise);
    ranking.rounding = seeming_gain(std::array{&leaf}, ranking.parent);
    ranking.first_draw = leaf.draw_key * matrix_.n_features();
    return ranking;
}

float SplitRules::noise_of(const Ranking& ranking, FeatureIndex feature) const {
    return ranking.noise * random_normal(facts_.seed, Purpose::split_noise, ranking.first_draw + feature);
}

// With noise, a candidate that would not be made into a split must not win against one that would.
void SplitRules::rank(Candidate& candidate, const Ranking& ranking, float noise) const {
    const double gain = static_cast<double>(candidate.gain) - ranking.parent;
    const bool splits = ranking.noise == 0 || (gain > ranking.rounding && facts_.units.gain(gain) > options_.min_gain);
    if (candidate.gain >= 0 && splits)
        candidate.rank = candidate.gain + noise;
    else
        candidate = {};
}

const Cell* SplitRules::feature_cells(const Cell* cells, FeatureIndex feature, BundleCells& bundle_scratch) const {
    const std::uint32_t bundle_index = layout_.bundle_of(feature);
    const FeatureBundle& bundle = matrix_.bundles()[bundle_index];
    const Cell* const bundle_cells = cells + layout_.bundle_offset(bundle_index);
    if (!bundle.fused()) return bundle_cells;
    split_bundle(matrix_, bundle, bundle_cells, bundle_scratch);
    const auto position = std::find(bundle.features.begin(), bundle.features.end(), feature) - bundle.features.begin();
    return bundle_scratch.of(static_cast<std::size_t>(position));
}

RoundingNoise SplitRules::rounding_noise(FeatureIndex feature) const {
    const FeatureBins& bins = matrix_.feature(feature);
    return {facts_, n_candidates_, bins.nominal ? static_cast<double>(std::max(2, bins.n_bins) - 1) : 1.0};
}

bool SplitRules::surely_enough_rows(Cell child) const {
    return facts_.hessian(child) >
           static_cast<double>(facts_.units.hessian_max) * (static_cast<double>(options_.min_samples_leaf) - 1);
}

}  // namespace coterie
