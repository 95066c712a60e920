// A finished tree is checked before anything outside the engine may use it.
#include "check.hpp"
#include "coterie/base/error.hpp"
#include "coterie/tree/tree.hpp"
#include "trees_by_hand.hpp"

namespace coterie::tests {
namespace {

void check_refused(void (*damage)(Tree&), std::string_view phrase, Location where = Location::current()) {
    Tree tree = two_splits();
    damage(tree);
    check_throws<InvalidInput>([&] { validate(tree, 2); }, phrase, where);
}

const Test depth("the depth of a child is one more than its parent's", [] {
    check_equal(depths(two_splits()), std::vector<std::uint32_t>{0, 1, 1, 2, 2});
    check_equal(depths(leaf_only(3)), std::vector<std::uint32_t>{0});
});

const Test sound("sound trees are accepted", [] {
    validate(leaf_only(3), 0);
    validate(two_splits(), 2);
    validate(one_set(), 1);
});

const Test level_sets("a set of levels knows its members", [] {
    const Tree tree = one_set();
    for (const std::uint32_t level : {0u, 2u, 70u}) check(tree.level_goes_left(0, level), "members go left");
    for (const std::uint32_t level : {1u, 3u, 64u, 255u}) check(!tree.level_goes_left(0, level), "others go right");
});

const Test lines("a tree with a line is sound, and scaling it scales its values and their bounds", [] {
    const double endless = std::numeric_limits<double>::infinity();
    const Tree tree = two_splits_and_a_line();
    validate(tree, 2);
    for (const double times : {0.5, 0.0, -2.0}) {
        const Tree other = scaled(tree, times);
        validate(other, 2);
        check_equal(other.value[3], 20 * times);
        for (const double x : {-5.0, 0.25, 1.2, 1.5}) {
            const auto at_x = [&](FeatureIndex) { return x; };
            check_near(linear_prediction(other, 1, at_x), times * linear_prediction(tree, 1, at_x), 1e-12);
        }
    }
    check_equal(scaled(tree, 0).linear.high[0], endless);
});

void check_line_refused(void (*damage)(LinearLeaves&), std::string_view phrase, Location where = Location::current()) {
    Tree tree = two_splits_and_a_line();
    damage(tree.linear);
    check_throws<InvalidInput>([&] { validate(tree, 2); }, phrase, where);
}

const Test damaged_lines("every kind of damage to a line is refused with a sentence", [] {
    constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    check_line_refused([](LinearLeaves& linear) { linear.slope.clear(); }, "terms differ in length");
    check_line_refused([](LinearLeaves& linear) { linear.centre.push_back(0); }, "terms differ in length");
    check_line_refused([](LinearLeaves& linear) { linear.least.clear(); }, "terms differ in length");
    check_line_refused([](LinearLeaves& linear) { linear.most.clear(); }, "terms differ in length");
    check_line_refused([](LinearLeaves& linear) { linear.base.pop_back(); }, "linear leaves differ in length");
    check_line_refused([](LinearLeaves& linear) { linear.low.pop_back(); }, "linear leaves differ in length");
    check_line_refused([](LinearLeaves& linear) { linear.high.push_back(0); }, "linear leaves differ in length");
    check_line_refused([](LinearLeaves& linear) { linear.first_term.pop_back(); }, "linear leaves differ in length");
    check_line_refused([](LinearLeaves& linear) { linear.first_term.clear(); }, "linear leaves differ in length");
    check_line_refused([](LinearLeaves& linear) { linear.first_term[0] = 1; }, "follow one another");
    check_line_refused([](LinearLeaves& linear) { linear.first_term[5] = 2; }, "follow one another");
    check_line_refused([](LinearLeaves& linear) { linear.first_term[1] = 0xffffffffu; }, "follow one another");
    check_line_refused([](LinearLeaves& linear) { linear.first_term = {0, 1, 1, 1, 1, 1}; }, "is no leaf");
    check_line_refused([](LinearLeaves& linear) { linear.feature[0] = 2; }, "about feature 2, but there are 2");
    check_line_refused([](LinearLeaves& linear) { linear.feature[0] = -1; }, "about feature -1");
    check_line_refused([](LinearLeaves& linear) { linear.slope[0] = kNan; }, "finite");
    check_line_refused([](LinearLeaves& linear) { linear.base[1] = kInfinity; }, "finite");
    check_line_refused([](LinearLeaves& linear) { linear.centre[0] = -kInfinity; }, "finite");
    check_line_refused([](LinearLeaves& linear) { linear.least[0] = -kInfinity; }, "finite");
    check_line_refused([](LinearLeaves& linear) { linear.most[0] = kNan; }, "finite");
    check_line_refused([](LinearLeaves& linear) { linear.most[0] = -1; }, "range that is out of order");
    check_line_refused([](LinearLeaves& linear) { linear.low[1] = 11; }, "bounds that are out of order");
    check_line_refused([](LinearLeaves& linear) { linear.high[0] = kNan; }, "bounds that are out of order");
    Tree several = two_splits_and_a_line();
    several.n_outputs = 2;
    several.value.resize(10);
    check_throws<InvalidInput>([&] { validate(several, 2); }, "has one output");
});

const Test cycles("a tree that leads back to itself is refused", [] {
    // Children lie behind their parent, so a way back is always a child in front.
    check_refused([](Tree& tree) { tree.left[0] = 0; }, "children outside the tree");
    check_refused([](Tree& tree) { tree.feature[1] = 0, tree.left[1] = 1; }, "children outside the tree");
    check_refused([](Tree& tree) { tree.left[2] = 1; }, "children outside the tree");
    check_refused([](Tree& tree) { tree.left[0] = 0xffffffffu; }, "children outside the tree");
});

const Test lengths("every array must have one entry for each node", [] {
    check_refused([](Tree& tree) { tree.threshold.pop_back(); }, "differ in length");
    check_refused([](Tree& tree) { tree.levels.push_back(-1); }, "differ in length");
    check_refused([](Tree& tree) { tree.missing_left.clear(); }, "differ in length");
    check_refused([](Tree& tree) { tree.left.pop_back(); }, "differ in length");
    check_refused([](Tree& tree) { tree.gain.pop_back(); }, "differ in length");
    check_refused([](Tree& tree) { tree.cover.push_back(1); }, "differ in length");
    check_refused([](Tree& tree) { tree.n_rows.pop_back(); }, "differ in length");
    check_refused([](Tree& tree) { tree.n_outputs = 2; }, "differ in length");
});

const Test damaged("every kind of damage is refused with a sentence", [] {
    check_refused([](Tree& tree) { tree = Tree{}; }, "at least one node");
    check_refused([](Tree& tree) { tree.n_outputs = 0; }, "at least one output");
    check_refused([](Tree& tree) { tree.value.pop_back(); }, "differ in length");
    check_refused([](Tree& tree) { tree.impurity = {1.0}; }, "differ in length");
    check_refused([](Tree& tree) { tree.level_bits = {1, 2, 3}; }, "four words");
    check_refused([](Tree& tree) { tree.feature[0] = 2; }, "splits on feature 2, but there are 2 features");
    check_refused([](Tree& tree) { tree.feature[0] = -5; }, "splits on feature -5");
    check_refused([](Tree& tree) { tree.left[2] = 4; }, "children outside the tree");
    check_refused([](Tree& tree) { tree.left[2] = 0; }, "children outside the tree");
    check_refused([](Tree& tree) { tree.left[0] = 3; }, "shares a child");
    check_refused([](Tree& tree) { tree.levels[0] = 0; }, "level set that does not exist");
    check_refused([](Tree& tree) { tree.levels[0] = -2; }, "level set that does not exist");
    check_refused([](Tree& tree) { tree.threshold[0] = std::numeric_limits<double>::quiet_NaN(); },
                  "NaN as its threshold");
    check_refused([](Tree& tree) { tree.feature[2] = kLeaf; }, "has no parent");
});

}  // namespace
}  // namespace coterie::tests
