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

namespace coterie {
namespace {

std::uint64_t bits_of(double value) { return std::bit_cast<std::uint64_t>(value); }

std::uint32_t signs_last(std::uint32_t difference) { return difference << 1 ^ (0 - (difference >> 31)); }
std::uint32_t signs_first(std::uint32_t value) { return value >> 1 ^ (0 - (value & 1)); }

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

/// The distinct thresholds of each feature that is asked for.
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
    std::map<std::int32_t, std::uint32_t> place;
    for (const auto& [feature, own] : cuts) place.try_emplace(feature, static_cast<std::uint32_t>(place.size()));
    for (NodeIndex node = 0; node < tree.n_nodes(); ++node) {
        streams.is_split.push_back(!tree.is_leaf(node));
        if (tree.is_leaf(node)) continue;
        if (!depth_first) streams.pair.push_back((tree.left[node] - 1) / 2);
        const std::vector<std::uint64_t>& own = cuts.at(tree.feature[node]);
        const auto cut = std::ranges::lower_bound(own, bits_of(tree.threshold[node])) - own.begin();
        streams.feature.push_back(place.at(tree.feature[node]));
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
        streams.rows_more.push_back(signs_last(tree.n_rows[node] - (tree.n_rows[left] + tree.n_rows[left + 1])));
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

[[noreturn]] void refuse(std::size_t node, const char* why) {
    throw InvalidInput("Node " + std::to_string(node) + " " + why);
}

/// Takes a stream from the front, tree after tree.
template <class T>
class Reader {
public:
    Reader(std::span<const T> all, const char* name) : left_(all), name_(name) {}

    std::span<const T> take(std::size_t n) {
        require(n <= left_.size(), std::string("There are too few entries in ") + name_ + ".");
        const auto taken = left_.first(n);
        left_ = left_.subspan(n);
        return taken;
    }
    std::vector<T> take_own(std::size_t n) {
        const auto taken = take(n);
        return {taken.begin(), taken.end()};
    }
    void expect_end() const { require(left_.empty(), std::string("There are too many entries in ") + name_ + "."); }

private:
    std::span<const T> left_;
    const char* name_;
};

/// Makes the trees of streams, one after the other.
class TreeReader {
public:
    TreeReader(const StreamViews& streams, std::size_t n_features) : s_(streams), n_features_(n_features) {
        const std::size_t n = s_.n_nodes.size();
        for (const std::size_t own : {s_.n_outputs.size(), s_.unit.size(), s_.l2.size(), s_.gain_scale.size()})
            require(own == n, "The numbers of trees differ in length.");
        for (const auto& counts : {s_.n_impurity, s_.n_level_bits, s_.n_first_term, s_.n_terms})
            require(counts.empty() || counts.size() == n, "The numbers of what few trees have differ in length.");
        require(s_.features.size() == s_.n_cuts.size(), "There must be a number of cuts for each feature.");
        std::size_t next = 0;
        for (const std::uint32_t own : s_.n_cuts) {
            first_cut_.push_back(next);
            next += own;
        }
        require(next == s_.cuts.size(), "The cuts are not those of the features.");
    }

    std::shared_ptr<const Tree> next(std::size_t index) {
        auto tree = std::make_shared<Tree>();
        tree->n_outputs = s_.n_outputs[index];
        require(tree->n_outputs > 0, "A tree needs at least one output.");
        const std::size_t n = s_.n_nodes[index];
        const std::size_t n_splits = read_kinds(n);
        require(n_splits < n && 2 * n_splits + 1 == n, "A tree of this many splits has another number of nodes.");
        read_splits(*tree, n);
        read_numbers(*tree, {.unit = s_.unit[index], .l2 = s_.l2[index], .gain_scale = s_.gain_scale[index]});
        read_extras(*tree, index);
        validate(*tree, n_features_);
        return tree;
    }

    /// Goes past a tree that another reader makes, and checks.
    void pass(std::size_t index) {
        const std::size_t n = s_.n_nodes[index];
        const std::size_t k = s_.n_outputs[index];
        const std::size_t n_splits = n / 2;
        const std::size_t n_first = count(s_.n_first_term, index);
        const std::size_t n_bases = n_first > 0 ? n_first - 1 : 0;
        const std::size_t n_terms = count(s_.n_terms, index);
        is_split_.take(n);
        if (!s_.pair.empty()) pair_.take(n_splits);
        feature_.take(n_splits);
        cut_.take(n_splits);
        levels_.take(n_splits);
        missing_left_.take(n_splits);
        rows_more_.take(n_splits);
        cover_more_.take(n_splits);
        value_more_.take(n_splits * k);
        gain_more_.take(n_splits);
        leaf_rows_.take(n - n_splits);
        leaf_cover_.take(n - n_splits);
        leaf_value_.take((n - n_splits) * k);
        impurity_.take(count(s_.n_impurity, index));
        level_bits_.take(count(s_.n_level_bits, index));
        first_term_.take(n_first);
        for (auto* each : {&base_, &low_, &high_}) each->take(n_bases);
        term_feature_.take(n_terms);
        for (auto* each : {&slope_, &centre_, &least_, &most_}) each->take(n_terms);
    }

    void expect_end() const {
        is_split_.expect_end();
        pair_.expect_end();
        feature_.expect_end();
        cut_.expect_end();
        levels_.expect_end();
        missing_left_.expect_end();
        rows_more_.expect_end();
        cover_more_.expect_end();
        value_more_.expect_end();
        gain_more_.expect_end();
        leaf_rows_.expect_end();
        leaf_cover_.expect_end();
        leaf_value_.expect_end();
        impurity_.expect_end();
        level_bits_.expect_end();
        first_term_.expect_end();
        base_.expect_end();
        low_.expect_end();
        high_.expect_end();
        term_feature_.expect_end();
        slope_.expect_end();
        centre_.expect_end();
        least_.expect_end();
        most_.expect_end();
    }

private:
    static std::size_t count(std::span<const std::uint32_t> counts, std::size_t index) {
        return counts.empty() ? 0 : counts[index];
    }

    /// Finds out which nodes are splits and which are leaves, and how many are splits.
    std::size_t read_kinds(std::size_t n) {
        is_split_now_ = is_split_.take(n);
        splits_.resize(n);
        leaves_.resize(n);
        std::size_t n_splits = 0;
        for (std::size_t node = 0; node < n; ++node) {  // half of the nodes are splits: a branch would be a guess
            const bool is_split = is_split_now_[node] != 0;
            splits_[n_splits] = static_cast<NodeIndex>(node);
            leaves_[node - n_splits] = static_cast<NodeIndex>(node);
            n_splits += is_split;
        }
        splits_.resize(n_splits);
        leaves_.resize(n - n_splits);
        return n_splits;
    }

    void read_children(Tree& tree, std::size_t n) {
        tree.left.assign(n, 0);
        if (s_.pair.empty()) {
            const bool whole = for_depth_first(
                n, [&](std::size_t node) { return is_split_now_[node] != 0; },
                [&](NodeIndex node, NodeIndex left) {
                    tree.left[node] = left;
                    return true;
                });
            require(whole, "The splits of a tree are not in the order of their children.");
            return;
        }
        const auto pair = pair_.take(splits_.size());
        for (std::size_t i = 0; i < splits_.size(); ++i) {
            const std::size_t left = 2 * std::size_t{pair[i]} + 1;
            if (left <= splits_[i] || left + 1 >= n) refuse(splits_[i], "has children outside the tree.");
            tree.left[splits_[i]] = static_cast<NodeIndex>(left);
        }
    }

    void read_splits(Tree& tree, std::size_t n) {
        read_children(tree, n);
        tree.feature.assign(n, kLeaf);
        tree.threshold.assign(n, 0.0);
        tree.levels.assign(n, -1);
        tree.missing_left.assign(n, 0);
        const auto feature = feature_.take(splits_.size());
        const auto cut = cut_.take(splits_.size());
        const auto levels = levels_.take(splits_.size());
        const auto missing_left = missing_left_.take(splits_.size());
        for (std::size_t i = 0; i < splits_.size(); ++i) {
            const NodeIndex node = splits_[i];
            if (feature[i] >= s_.features.size() || s_.features[feature[i]] >= n_features_)
                refuse(node, "asks for a feature that does not exist.");
            if (cut[i] >= s_.n_cuts[feature[i]]) refuse(node, "compares with a cut that does not exist.");
            if (missing_left[i] > 1) refuse(node, "sends missing values nowhere.");
            tree.feature[node] = static_cast<std::int32_t>(s_.features[feature[i]]);
            tree.threshold[node] = s_.cuts[first_cut_[feature[i]] + cut[i]];
            tree.levels[node] = levels[i];
            tree.missing_left[node] = missing_left[i];
        }
    }

    void read_numbers(Tree& tree, const TreeRule& rule) {
        const std::size_t n = tree.n_nodes();
        const std::size_t k = tree.n_outputs;
        const auto value_more = value_more_.take(splits_.size() * k);  // first of all: room is only for what is there
        const auto leaf_value = leaf_value_.take(leaves_.size() * k);
        tree.value.resize(n * k);
        tree.gain.assign(n, 0.0);
        tree.cover.resize(n);
        tree.n_rows.resize(n);
        whole_.resize(rule.unit > 0.0 ? n : 0);
        read_leaf_numbers(tree, rule, leaf_value);
        read_split_numbers(tree, rule, value_more);
    }

    void read_leaf_numbers(Tree& tree, const TreeRule& rule, std::span<const double> value) {
        const std::size_t k = tree.n_outputs;
        const auto rows = leaf_rows_.take(leaves_.size());
        const auto cover = leaf_cover_.take(leaves_.size());
        for (std::size_t i = 0; i < leaves_.size(); ++i) {
            const std::size_t node = leaves_[i];
            tree.n_rows[node] = rows[i];
            if (!whole_.empty()) whole_[node] = cover[i];
            tree.cover[node] =
                whole_.empty() ? std::bit_cast<double>(cover[i]) : static_cast<double>(cover[i]) * rule.unit;
            for (std::size_t j = 0; j < k; ++j) tree.value[node * k + j] = value[i * k + j];
        }
    }

    // From the last split to the first, since children come after their parent.
    void read_split_numbers(Tree& tree, const TreeRule& rule, std::span<const std::uint64_t> value_more) {
        const std::size_t k = tree.n_outputs;
        const auto rows_more = rows_more_.take(splits_.size());
        const auto cover_more = cover_more_.take(splits_.size());
        const auto gain_more = gain_more_.take(splits_.size());
        for (std::size_t split = splits_.size(); split-- > 0;) {
            const std::size_t node = splits_[split];
            const std::size_t left = tree.left[node];
            double* const value = tree.value.data() + node * k;
            const Sides cover{tree.cover[left], tree.cover[left + 1]};
            double expected = number_or_zero(cover.left + cover.right);
            if (!whole_.empty()) {
                whole_[node] = whole_[left] + whole_[left + 1];
                expected = static_cast<double>(whole_[node]) * rule.unit;
            }
            tree.n_rows[node] = tree.n_rows[left] + tree.n_rows[left + 1] + signs_first(rows_more[split]);
            tree.cover[node] = double_after(expected, cover_more[split]);
            const double whole_cover = tree.cover[node];
            for (std::size_t i = 0; i < k; ++i) {
                const Sides sides{tree.value[left * k + i], tree.value[(left + 1) * k + i]};
                value[i] = double_after(expected_value(sides, cover, whole_cover, rule.l2), value_more[split * k + i]);
            }
            const Sides first{tree.value[left * k], tree.value[(left + 1) * k]};
            tree.gain[node] = double_after(expected_gain(first, cover, value[0], whole_cover, rule), gain_more[split]);
        }
    }

    void read_extras(Tree& tree, std::size_t index) {
        const std::size_t n_first = count(s_.n_first_term, index);
        const std::size_t n_terms = count(s_.n_terms, index);
        const std::size_t n_bases = n_first > 0 ? n_first - 1 : 0;
        tree.impurity = impurity_.take_own(count(s_.n_impurity, index));
        tree.level_bits = level_bits_.take_own(count(s_.n_level_bits, index));
        tree.linear = {.first_term = first_term_.take_own(n_first),
                       .base = base_.take_own(n_bases),
                       .low = low_.take_own(n_bases),
                       .high = high_.take_own(n_bases),
                       .feature = term_feature_.take_own(n_terms),
                       .slope = slope_.take_own(n_terms),
                       .centre = centre_.take_own(n_terms),
                       .least = least_.take_own(n_terms),
                       .most = most_.take_own(n_terms)};
    }

    const StreamViews& s_;
    std::size_t n_features_;
    std::vector<std::size_t> first_cut_;
    // of the tree that is being read
    std::span<const std::uint8_t> is_split_now_;
    std::vector<NodeIndex> splits_;
    std::vector<NodeIndex> leaves_;
    std::vector<std::uint64_t> whole_;  // covers in units

    Reader<std::uint8_t> is_split_{s_.is_split, "is_split"};
    Reader<std::uint32_t> pair_{s_.pair, "pair"};
    Reader<std::uint32_t> feature_{s_.feature, "feature"};
    Reader<std::uint32_t> cut_{s_.cut, "cut"};
    Reader<std::int32_t> levels_{s_.levels, "levels"};
    Reader<std::uint8_t> missing_left_{s_.missing_left, "missing_left"};
    Reader<std::uint32_t> rows_more_{s_.rows_more, "rows_more"};
    Reader<std::uint64_t> cover_more_{s_.cover_more, "cover_more"};
    Reader<std::uint64_t> value_more_{s_.value_more, "value_more"};
    Reader<std::uint64_t> gain_more_{s_.gain_more, "gain_more"};
    Reader<std::uint32_t> leaf_rows_{s_.leaf_rows, "leaf_rows"};
    Reader<std::uint64_t> leaf_cover_{s_.leaf_cover, "leaf_cover"};
    Reader<double> leaf_value_{s_.leaf_value, "leaf_value"};
    Reader<double> impurity_{s_.impurity, "impurity"};
    Reader<std::uint64_t> level_bits_{s_.level_bits, "level_bits"};
    Reader<std::uint32_t> first_term_{s_.first_term, "first_term"};
    Reader<double> base_{s_.base, "base"};
    Reader<double> low_{s_.low, "low"};
    Reader<double> high_{s_.high, "high"};
    Reader<std::int32_t> term_feature_{s_.term_feature, "term_feature"};
    Reader<double> slope_{s_.slope, "slope"};
    Reader<double> centre_{s_.centre, "centre"};
    Reader<double> least_{s_.least, "least"};
    Reader<double> most_{s_.most, "most"};
};

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
