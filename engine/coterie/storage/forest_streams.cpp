#include "coterie/storage/forest_streams.hpp"

#include <algorithm>
#include <bit>
#include <exception>
#include <map>
#include <string>

#include "coterie/base/error.hpp"
#include "coterie/base/parallel.hpp"
#include "coterie/storage/depth_first.hpp"
#include "coterie/storage/expected_numbers.hpp"
#include "coterie/storage/tree_reader.hpp"
#include "coterie/storage/zigzag.hpp"

namespace coterie {
namespace {

std::uint64_t bits_of(double value) { return std::bit_cast<std::uint64_t>(value); }

bool has_plain_leaves(const Tree& tree) {
    for (NodeIndex node = 0; node < tree.n_nodes(); ++node) {
        if (tree.missing_left[node] > 1) return false;
        if (!tree.is_leaf(node)) continue;
        if (bits_of(tree.threshold[node]) != 0 || tree.levels[node] != -1 || tree.missing_left[node] != 0 ||
            tree.left[node] != 0 || bits_of(tree.gain[node]) != 0)
            return false;
    }
    return true;
}

bool is_depth_first(const Tree& tree) {
    const auto is_split = [&](std::size_t node) { return tree.feature[node] != kLeaf; };
    return for_depth_first(tree.n_nodes(), is_split,
                           [&](NodeIndex node, NodeIndex left) { return tree.left[node] == left; });
}

template <class T>
void append(std::vector<T>& all, const std::vector<T>& own) {
    all.insert(all.end(), own.begin(), own.end());
}

/// The distinct thresholds of each feature with splits.
using Cuts = std::map<std::int32_t, std::vector<std::uint64_t>>;

Cuts cuts_of(Trees trees) {
    Cuts cuts;
    for (const auto& tree : trees)
        for (NodeIndex node = 0; node < tree->n_nodes(); ++node)
            if (!tree->is_leaf(node)) cuts[tree->feature[node]].push_back(bits_of(tree->threshold[node]));
    for (auto& [feature, own] : cuts) {
        std::ranges::sort(own);
        own.erase(std::unique(own.begin(), own.end()), own.end());
    }
    return cuts;
}

void add_splits(ForestStreams& streams, const Tree& tree, const Cuts& cuts, bool depth_first) {
    std::map<std::int32_t, std::uint32_t> position;
    for (const auto& [feature, own] : cuts) position.try_emplace(feature, static_cast<std::uint32_t>(position.size()));
    for (NodeIndex node = 0; node < tree.n_nodes(); ++node) {
        streams.is_split.push_back(!tree.is_leaf(node));
        if (tree.is_leaf(node)) continue;
        if (!depth_first) streams.pair.push_back((tree.left[node] - 1) / 2);
        const std::vector<std::uint64_t>& own = cuts.at(tree.feature[node]);
        const auto cut = std::ranges::lower_bound(own, bits_of(tree.threshold[node])) - own.begin();
        streams.feature.push_back(position.at(tree.feature[node]));
        streams.cut.push_back(static_cast<std::uint32_t>(cut));
        streams.levels.push_back(tree.levels[node]);
        streams.missing_left.push_back(tree.missing_left[node]);
    }
}

void add_numbers(ForestStreams& streams, const Tree& tree) {
    const TreeRule rule = rule_of(tree);
    streams.unit.push_back(rule.unit);
    streams.l2.push_back(rule.l2);
    streams.gain_scale.push_back(rule.gain_scale);
    const std::size_t k = tree.n_outputs;
    const std::vector<std::uint64_t> whole =
        rule.unit > 0.0 ? covers_in_units(tree, rule.unit) : std::vector<std::uint64_t>();
    for (NodeIndex node = 0; node < tree.n_nodes(); ++node) {
        const double* const value = tree.value.data() + node * k;
        if (tree.is_leaf(node)) {
            streams.leaf_rows.push_back(tree.n_rows[node]);
            streams.leaf_cover.push_back(whole.empty() ? bits_of(tree.cover[node]) : whole[node]);
            streams.leaf_value.insert(streams.leaf_value.end(), value, value + k);
            continue;
        }
        const NodeIndex left = tree.left[node];
        const Sides cover{tree.cover[left], tree.cover[left + 1]};
        const double whole_cover = tree.cover[node];
        streams.rows_more.push_back(zigzag(tree.n_rows[node] - (tree.n_rows[left] + tree.n_rows[left + 1])));
        streams.cover_more.push_back(
            whole.empty() ? doubles_between(number_or_zero(cover.left + cover.right), whole_cover) : 0);
        for (std::size_t i = 0; i < k; ++i) {
            const Sides sides{tree.value[left * k + i], tree.value[(left + 1) * k + i]};
            streams.value_more.push_back(doubles_between(expected_value(sides, cover, whole_cover, rule.l2), value[i]));
        }
        const Sides first{tree.value[left * k], tree.value[(left + 1) * k]};
        streams.gain_more.push_back(
            doubles_between(expected_gain(first, cover, value[0], whole_cover, rule), tree.gain[node]));
    }
}

void add_extras(ForestStreams& streams, const Tree& tree) {
    const auto n = [](const auto& values) { return static_cast<std::uint32_t>(values.size()); };
    const LinearLeaves& linear = tree.linear;
    streams.n_impurity.push_back(n(tree.impurity));
    streams.n_level_bits.push_back(n(tree.level_bits));
    streams.n_first_term.push_back(n(linear.first_term));
    streams.n_terms.push_back(n(linear.feature));
    append(streams.impurity, tree.impurity);
    append(streams.level_bits, tree.level_bits);
    append(streams.first_term, linear.first_term);
    append(streams.base, linear.base);
    append(streams.low, linear.low);
    append(streams.high, linear.high);
    append(streams.term_feature, linear.feature);
    append(streams.slope, linear.slope);
    append(streams.centre, linear.centre);
    append(streams.least, linear.least);
    append(streams.most, linear.most);
}

}  // namespace

std::optional<ForestStreams> streams_of(Trees trees) {
    if (!std::ranges::all_of(trees, [](const auto& tree) { return has_plain_leaves(*tree); })) return {};
    const bool depth_first = std::ranges::all_of(trees, [](const auto& tree) { return is_depth_first(*tree); });
    const Cuts cuts = cuts_of(trees);
    ForestStreams streams;
    for (const auto& [feature, own] : cuts) {
        streams.features.push_back(static_cast<std::uint32_t>(feature));
        streams.n_cuts.push_back(static_cast<std::uint32_t>(own.size()));
        for (const std::uint64_t bits : own) streams.cuts.push_back(std::bit_cast<double>(bits));
    }
    for (const auto& tree : trees) {
        streams.n_nodes.push_back(static_cast<std::uint32_t>(tree->n_nodes()));
        streams.n_outputs.push_back(tree->n_outputs);
        add_splits(streams, *tree, cuts, depth_first);
        add_numbers(streams, *tree);
        add_extras(streams, *tree);
    }
    for (auto* counts : {&streams.n_impurity, &streams.n_level_bits, &streams.n_first_term, &streams.n_terms})
        if (std::ranges::all_of(*counts, [](std::uint32_t n) { return n == 0; })) counts->clear();
    return streams;
}

StreamViews views_of(const ForestStreams& streams) {
    StreamViews views;
    ForestStreams::for_each([](const char*, const auto& stream, auto& view) { view = stream; }, streams, views);
    return views;
}

std::vector<std::shared_ptr<const Tree>> trees_of(const StreamViews& streams, std::size_t n_features, int n_threads) {
    constexpr std::size_t kFewTrees = 32;
    const TreeReader first(streams, n_features);
    const std::size_t n = streams.n_nodes.size();
    std::vector<std::shared_ptr<const Tree>> trees(n);
    const std::size_t n_chunks = n < kFewTrees ? 1 : static_cast<std::size_t>(std::max(1, n_threads));
    std::vector<std::exception_ptr> errors(n_chunks);
    parallel_for(n_chunks, n_threads, [&](std::size_t chunk) {
        std::size_t index = 0;
        try {
            TreeReader reader = first;
            for (; index < n * chunk / n_chunks; ++index) reader.pass(index);
            for (; index < n * (chunk + 1) / n_chunks; ++index) trees[index] = reader.next(index);
            if (index == n) reader.expect_end();
        } catch (const InvalidInput& error) {
            const std::string where = index < n ? "Tree " + std::to_string(index) + ": " : "";
            errors[chunk] = std::make_exception_ptr(InvalidInput(where + error.what()));
        } catch (...) {
            errors[chunk] = std::current_exception();
        }
    });
    for (const std::exception_ptr& error : errors)
        if (error) std::rethrow_exception(error);  // that of the first trees, for any number of threads
    return trees;
}

}  // namespace coterie
