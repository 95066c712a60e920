// Trees become streams and the same trees again, to the last bit; streams that are no trees are refused.
#include "coterie/storage/forest_streams.hpp"

#include <bit>
#include <cmath>

#include "check.hpp"
#include "coterie/base/error.hpp"
#include "coterie/base/random.hpp"
#include "coterie/storage/expected_numbers.hpp"
#include "trees_by_hand.hpp"

namespace coterie::tests {
namespace {

using Owned = std::vector<std::shared_ptr<const Tree>>;

std::vector<std::uint64_t> bits_of(const std::vector<double>& values) {
    std::vector<std::uint64_t> bits;
    for (const double value : values) bits.push_back(std::bit_cast<std::uint64_t>(value));
    return bits;
}

void check_same(const Tree& received, const Tree& expected) {
    check_equal(received.n_outputs, expected.n_outputs);
    check_equal(received.feature, expected.feature);
    check_equal(bits_of(received.threshold), bits_of(expected.threshold));
    check_equal(received.levels, expected.levels);
    check_equal(received.missing_left, expected.missing_left);
    check_equal(received.left, expected.left);
    check_equal(bits_of(received.value), bits_of(expected.value));
    check_equal(bits_of(received.gain), bits_of(expected.gain));
    check_equal(bits_of(received.cover), bits_of(expected.cover));
    check_equal(received.n_rows, expected.n_rows);
    check_equal(bits_of(received.impurity), bits_of(expected.impurity));
    check_equal(received.level_bits, expected.level_bits);
    check(received.linear == expected.linear, "the lines are the same");
}

ForestStreams streams(const Owned& trees) {
    const auto made = streams_of(trees);
    check(made.has_value(), "the leaves are plain");
    return *made;
}

void check_again(const Owned& trees) {
    const Owned again = trees_of(views_of(streams(trees)), 5);
    check_equal(again.size(), trees.size());
    for (std::size_t i = 0; i < trees.size(); ++i) check_same(*again[i], *trees[i]);
}

double drawn(std::uint64_t seed, std::uint64_t i) {
    return static_cast<double>(random_bits(seed, Purpose::row_draw, i) >> 11) * 0x1.0p-53;
}

/// A tree as boosting grows it: sums of whole gradients and hessians, the best leaf first, values shrunk.
Tree boosted(std::uint64_t seed, std::size_t n_splits, double l2) {
    const double hessian_unit = 1.0 / static_cast<double>(static_cast<float>(37.3 + 10 * drawn(seed, 0)));
    const double gradient_unit = 1.0 / static_cast<double>(static_cast<float>(111.7 + 10 * drawn(seed, 1)));
    std::vector<std::int64_t> gradient = {-3000};
    std::vector<std::int64_t> hessian = {4'000'000};
    Tree tree = leaf_only(0);
    for (std::size_t i = 0; i < n_splits; ++i) {
        NodeIndex node = 0;
        while (!tree.is_leaf(node)) node = tree.left[node] + (drawn(seed, 1000 * i + node + 2) < 0.5);
        split(tree, node, static_cast<std::int32_t>(i % 3), std::floor(20 * drawn(seed, i + 7)), i % 2 == 0, 0, 0);
        const double share = 0.2 + 0.6 * drawn(seed, 17 * i + 9);
        const auto part = static_cast<std::int64_t>(share * static_cast<double>(hessian[node]));
        const auto lean = static_cast<std::int64_t>(900'000 * (drawn(seed, 31 * i + 3) - 0.5));
        hessian.insert(hessian.end(), {part, hessian[node] - part});
        gradient.insert(gradient.end(), {gradient[node] / 2 + lean, gradient[node] - gradient[node] / 2 - lean});
    }
    const auto score = [&](NodeIndex node) {
        const double g = static_cast<double>(gradient[node]) * gradient_unit;
        return g * g / (static_cast<double>(hessian[node]) * hessian_unit + l2);
    };
    for (NodeIndex node = 0; node < tree.n_nodes(); ++node) {
        tree.cover[node] = static_cast<double>(hessian[node]) * hessian_unit;
        tree.value[node] = 0.1 * (-static_cast<double>(gradient[node]) * gradient_unit / (tree.cover[node] + l2));
        tree.n_rows[node] = static_cast<std::uint32_t>(hessian[node]);
        if (!tree.is_leaf(node)) tree.gain[node] = score(tree.left[node]) + score(tree.left[node] + 1) - score(node);
    }
    return tree;
}

Owned owned(Tree tree) { return {std::make_shared<const Tree>(std::move(tree))}; }

const Test by_hand("trees of every kind come back as they were", [] {
    check_again({});
    check_again({std::make_shared<Tree>(leaf_only(3)), std::make_shared<Tree>(two_splits()),
                 std::make_shared<Tree>(two_splits_and_a_line()), std::make_shared<Tree>(one_set())});
});

const Test any_bits("numbers that nobody expects come back too", [] {
    Tree tree = two_splits();
    tree.value = {-0.0, NAN, 1e-320, INFINITY, -1e308};
    tree.cover = {0.0, -1.0, NAN, -INFINITY, 5e-324};
    tree.gain = {NAN, 0.0, -7.25, 0.0, 0.0};
    tree.n_rows = {0, 0xffffffffu, 7, 0x80000000u, 1};
    tree.impurity = {1, 2, 3, 4, -0.0};
    check_again(owned(tree));
});

const Test threads("any number of threads makes the same trees, and the same complaint", [] {
    Owned trees;
    for (std::uint64_t seed = 0; seed < 70; ++seed)
        trees.push_back(std::make_shared<const Tree>(boosted(seed, 1 + seed % 9, 1.0)));
    ForestStreams made = streams(trees);
    for (const int n_threads : {2, 3, 8}) {
        const Owned again = trees_of(views_of(made), 5, n_threads);
        for (std::size_t i = 0; i < trees.size(); ++i) check_same(*again[i], *trees[i]);
    }
    made.missing_left[40] = 2;
    made.missing_left.back() = 2;
    std::string message;
    for (const int n_threads : {1, 2, 8}) {
        try {
            trees_of(views_of(made), 5, n_threads);
            check(false, "it is refused");
        } catch (const InvalidInput& error) {
            check(message.empty() || message == error.what(), "the first tree is named");
            message = error.what();
        }
    }
});

const Test several("trees with several outputs come back as they were", [] {
    Tree tree = two_splits();
    tree.n_outputs = 3;
    tree.value.clear();
    for (int i = 0; i < 15; ++i) tree.value.push_back(drawn(5, static_cast<std::uint64_t>(i)));
    check_again(owned(tree));
});

const Test expected("what boosting grows is expected: covers are whole numbers, values and gains nearly right", [] {
    for (const double l2 : {0.0, 1.0, 0.37}) {
        const Tree tree = boosted(3, 100, l2);
        check_again(owned(tree));
        const ForestStreams made = streams(owned(tree));
        check(made.unit[0] > 0.0, "the unit of the covers is found");
        check_near(made.l2[0], l2, 1e-6);
        check_near(made.gain_scale[0], 100.0, 1e-4);
        for (const std::uint64_t more : made.cover_more) check_equal(more, 0u);
        for (const std::uint32_t more : made.rows_more) check_equal(more, 0u);
        std::size_t bits = 0;
        for (const std::uint64_t more : made.value_more) bits += static_cast<std::size_t>(std::bit_width(more));
        check(bits < 16 * 100, "values of splits take few bits");
    }
});

const Test order("depth-first numbers of children are not stored, others are", [] {
    check(streams(owned(two_splits())).pair.empty(), "x0, then its right side");
    Tree tree = leaf_only(0);
    split(tree, 0, 0, 1.5, true, 10, 25);
    split(tree, 2, 1, 0.5, false, 20, 30);
    split(tree, 1, 1, 0.5, false, 20, 30);
    check_equal(streams(owned(tree)).pair, std::vector<std::uint32_t>{0, 2, 1});
    check_again(owned(tree));
});

const Test odd_leaves("a leaf that holds what only splits need cannot be a stream", [] {
    for (const auto damage : {+[](Tree& tree) { tree.threshold[1] = 1.0; }, +[](Tree& tree) { tree.gain[1] = -0.0; },
                              +[](Tree& tree) { tree.left[1] = 3; }, +[](Tree& tree) { tree.missing_left[1] = 1; },
                              +[](Tree& tree) { tree.levels[1] = 0; }, +[](Tree& tree) { tree.missing_left[0] = 2; }}) {
        Tree tree = two_splits();
        damage(tree);
        check(!streams_of(owned(tree)).has_value(), "it is stored as it is");
    }
});

void check_refused(void (*damage)(ForestStreams&), std::string_view phrase, Location where = Location::current()) {
    ForestStreams made = streams({std::make_shared<Tree>(leaf_only(3)), std::make_shared<Tree>(boosted(1, 4, 0.0))});
    damage(made);
    check_throws<InvalidInput>([&] { trees_of(views_of(made), 3); }, phrase, where);
}

const Test damage("streams that are too short, too long or lead outside are refused, with the tree", [] {
    check_refused([](ForestStreams& made) { made.is_split[1] = 0; }, "Tree 1: A tree of this many splits");
    check_refused([](ForestStreams& made) { made.is_split[0] = 1; }, "Tree 0: ");
    check_refused([](ForestStreams& made) { made.n_nodes[1] += 2; }, "too few entries in is_split");
    check_refused([](ForestStreams& made) { made.n_nodes.push_back(1); }, "differ in length");
    check_refused([](ForestStreams& made) { made.n_outputs[1] = 0; }, "at least one output");
    check_refused([](ForestStreams& made) { made.n_outputs[1] = 0xffffffffu; }, "too few entries in value_more");
    check_refused([](ForestStreams& made) { made.feature[2] = 3; }, "a feature that does not exist");
    check_refused([](ForestStreams& made) { made.features[2] = 3; }, "a feature that does not exist");
    check_refused([](ForestStreams& made) { made.cut[0] = 100; }, "a cut that does not exist");
    check_refused([](ForestStreams& made) { made.n_cuts[0] += 1; }, "not those of the features");
    check_refused([](ForestStreams& made) { made.cuts[0] = NAN; }, "NaN");
    check_refused([](ForestStreams& made) { made.missing_left[1] = 2; }, "sends missing values nowhere");
    check_refused([](ForestStreams& made) { made.levels[1] = 0; }, "level set that does not exist");
    check_refused([](ForestStreams& made) { made.leaf_value.push_back(0); }, "too many entries in leaf_value");
    check_refused([](ForestStreams& made) { made.n_impurity = {3}; }, "what few trees have");
    check_refused([](ForestStreams& made) { made.n_impurity = {3, 3}; }, "too few entries in impurity");
    check_refused([](ForestStreams& made) { made.pair = {0, 0, 0, 0}; }, "Tree 1: ");
    check_refused([](ForestStreams& made) { made.pair = {0, 1, 2, 0x7fffffffu}; }, "children outside the tree");
});

const Test between("the number of doubles between two leads from one to the other", [] {
    const std::vector<double> values = {0.0, -0.0, 1.0, -1.0, 5e-324, -5e-324, INFINITY, -INFINITY, NAN, 1e300};
    for (const double from : values)
        for (const double to : values) {
            const double there = double_after(from, doubles_between(from, to));
            check_equal(std::bit_cast<std::uint64_t>(there), std::bit_cast<std::uint64_t>(to));
        }
    check_equal(doubles_between(1.0, std::nextafter(1.0, 2.0)), 2u);
    check_equal(doubles_between(1.0, std::nextafter(1.0, 0.0)), 1u);
    check_equal(doubles_between(0.0, -0.0), 1u);
});

}  // namespace
}  // namespace coterie::tests
