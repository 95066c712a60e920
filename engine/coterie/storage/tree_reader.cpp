#include "coterie/storage/tree_reader.hpp"

#include <bit>

#include "coterie/storage/depth_first.hpp"
#include "coterie/storage/zigzag.hpp"

namespace coterie {
namespace {

[[noreturn]] void refuse(std::size_t node, const char* why) {
    throw InvalidInput("Node " + std::to_string(node) + " " + why);
}

}  // namespace

TreeReader::TreeReader(const StreamViews& streams, std::size_t n_features) : s_(streams), n_features_(n_features) {
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

std::shared_ptr<const Tree> TreeReader::next(std::size_t index) {
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

void TreeReader::pass(std::size_t index) {
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

void TreeReader::expect_end() const {
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

std::size_t TreeReader::read_kinds(std::size_t n) {
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

void TreeReader::read_children(Tree& tree, std::size_t n) {
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

void TreeReader::read_splits(Tree& tree, std::size_t n) {
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
            refuse(node, "splits on a feature that does not exist.");
        if (cut[i] >= s_.n_cuts[feature[i]]) refuse(node, "compares with a cut that does not exist.");
        if (missing_left[i] > 1) refuse(node, "sends missing values nowhere.");
        tree.feature[node] = static_cast<std::int32_t>(s_.features[feature[i]]);
        tree.threshold[node] = s_.cuts[first_cut_[feature[i]] + cut[i]];
        tree.levels[node] = levels[i];
        tree.missing_left[node] = missing_left[i];
    }
}

void TreeReader::read_numbers(Tree& tree, const TreeRule& rule) {
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

void TreeReader::read_leaf_numbers(Tree& tree, const TreeRule& rule, std::span<const double> value) {
    const std::size_t k = tree.n_outputs;
    const auto rows = leaf_rows_.take(leaves_.size());
    const auto cover = leaf_cover_.take(leaves_.size());
    for (std::size_t i = 0; i < leaves_.size(); ++i) {
        const std::size_t node = leaves_[i];
        tree.n_rows[node] = rows[i];
        if (!whole_.empty()) whole_[node] = cover[i];
        tree.cover[node] = whole_.empty() ? std::bit_cast<double>(cover[i]) : static_cast<double>(cover[i]) * rule.unit;
        for (std::size_t j = 0; j < k; ++j) tree.value[node * k + j] = value[i * k + j];
    }
}

// From the last split to the first, since children come after their parent.
void TreeReader::read_split_numbers(Tree& tree, const TreeRule& rule, std::span<const std::uint64_t> value_more) {
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
        tree.n_rows[node] = tree.n_rows[left] + tree.n_rows[left + 1] + unzigzag(rows_more[split]);
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

void TreeReader::read_extras(Tree& tree, std::size_t index) {
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

}  // namespace coterie
