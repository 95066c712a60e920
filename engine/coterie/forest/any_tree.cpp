#include "coterie/forest/any_tree.hpp"

#include <algorithm>
#include <numeric>

#include "coterie/exact/criterion_split.hpp"

namespace coterie {
namespace {

/// The columns of one tree: those of nominal features hold ranks, and so have an order.
struct TreeColumns {
    CodeColumns columns;
    std::vector<std::vector<Code>> ranked;
    std::vector<RankedFeature> features;

    TreeColumns(const ForestRows& rows, const PackedForest& forest, const std::vector<std::uint16_t>& ranks)
        : columns(CodeColumns::of(rows.table)) {
        const std::size_t n_nominal =
            static_cast<std::size_t>(std::ranges::count_if(rows.n_levels, [](std::int32_t n) { return n > 0; }));
        ranked.reserve(n_nominal);
        features.reserve(n_nominal);
        for (std::size_t feature = 0; feature < rows.n_features(); ++feature) {
            if (rows.n_levels[feature] == 0) continue;
            const std::uint16_t* const rank = ranks.data() + forest.first_rank[feature];
            const std::span<const Code> codes = columns.codes[feature];
            std::vector<Code>& own = ranked.emplace_back(codes.size());
            std::ranges::transform(codes, own.begin(), [&](Code code) { return rank[code]; });
            RankedFeature& meaning = features.emplace_back();
            meaning.n_codes = rows.table.features[feature].n_codes;
            meaning.lowest_value.resize(meaning.n_codes);
            std::iota(meaning.lowest_value.begin(), meaning.lowest_value.end(), 0.0);
            columns.codes[feature] = own;
            columns.features[feature] = &meaning;
        }
    }
};

// The last code whose values are at most the threshold.
std::uint16_t code_below(const RankedFeature& feature, double threshold) {
    const auto begin = feature.lowest_value.begin() + 1;
    const auto above = std::upper_bound(begin, feature.lowest_value.end(), threshold);
    return static_cast<std::uint16_t>(above - feature.lowest_value.begin() - 1);
}

GrownTree grown_tree_of(const Tree& tree, const CodeColumns& columns, const ForestRows& rows) {
    GrownTree grown_tree;
    grown_tree.value = tree.value;
    grown_tree.weight = tree.cover;
    grown_tree.gain = tree.gain;
    for (NodeIndex node = 0; node < tree.n_nodes(); ++node) {
        PackedNode& packed = grown_tree.nodes.emplace_back();
        if (tree.is_leaf(node)) {
            packed.condition = PackedNode::kLeafFlag;
            continue;
        }
        const auto feature = static_cast<FeatureIndex>(tree.feature[node]);
        packed.left = tree.left[node];
        packed.condition = PackedNode::split_on(feature, tree.missing_left[node], rows.n_levels[feature] > 0);
        packed.code = code_below(*columns.features[feature], tree.threshold[node]);
    }
    return grown_tree;
}

}  // namespace

GrownTree grow_any_tree(const ForestRows& rows, const Bag& bag, const ForestTreeOptions& options,
                        const PackedForest& forest, std::span<const double> shift, std::vector<std::uint16_t> ranks,
                        Cancellation& cancellation) {
    const TreeColumns columns(rows, forest, ranks);
    criterion::Targets targets = rows.targets;
    for (std::size_t i = 0; i < bag.in.size(); ++i) targets.weight[bag.in[i]] = bag.weight[i];
    CriterionOptions tree_options = options.tree;
    tree_options.seed = bag.seed;
    tree_options.n_threads = 1;
    tree_options.interaction_sets = options.interaction_sets;
    if (options.features_per_tree > 0) {
        const ForestTreeOptions no_sets{.features_per_tree = options.features_per_tree};
        AllowedFeatures drawn(no_sets, rows.n_features());
        drawn.start_tree(bag.seed);
        tree_options.features = drawn.features(drawn.root());
    }
    criterion::Training training{.table = columns.columns,
                                 .targets = targets,
                                 .options = tree_options,
                                 .shift = {shift.begin(), shift.end()},
                                 .total_weight = 0.0,
                                 .rows = bag.in,
                                 .twin = {}};
    cancellation.check();
    const Tree tree = cancellation.run([&](StopRequest& stop) { return criterion::grow_rows(training, stop); });
    GrownTree grown_tree = grown_tree_of(tree, columns.columns, rows);
    grown_tree.ranks = std::move(ranks);
    grown_tree.out_leaf.reserve(bag.out.size());
    for (const RowIndex place : bag.out)
        grown_tree.out_leaf.push_back(leaf_of(
            grown_tree.nodes, [&](const PackedNode& node) { return columns.columns.codes[node.feature()][place]; }));
    return grown_tree;
}

}  // namespace coterie
