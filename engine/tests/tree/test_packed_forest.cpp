// A packed forest is checked before anything may follow it, and unpacks to trees that predict the same.
#include "coterie/tree/packed_forest.hpp"

#include "check.hpp"
#include "coterie/base/error.hpp"

namespace coterie::tests {
namespace {

constexpr std::uint32_t kRight = PackedNode::kMissingRight;
constexpr std::uint32_t kLeafNode = PackedNode::kLeafFlag;

/// A forest of one tree over a number x0 and a nominal x1 of four levels, with two columns of leaf_values.
///   x0 <= 1.5 (missing left, three quarters of the weight)
///     x1 of rank <= 2, that is level 3 or 1 (missing right, half of the weight)
///       leaf (1, 10)
///       leaf (2, 20)
///     leaf (1, 10)
struct ByHand {
    std::vector<Array<double>> thresholds{{-3.0, 1.5}, {}};
    PackedTree tree{.nodes = {{.left = 1, .condition = 0, .code = 2, .share = 49'151},
                              {.left = 3, .condition = 1 | PackedNode::kNominal | kRight, .code = 2, .share = 32'768},
                              {.left = 0, .condition = kLeafNode},
                              {.left = 0, .condition = kLeafNode},
                              {.left = 1, .condition = kLeafNode}},
                    .leaf_values = {1, 10, 2, 20},
                    .ranks = {0, 3, 2, 4, 1},
                    .weight = 16.0,
                    .n_rows = 12};
    std::vector<std::int32_t> n_levels{0, 4};

    PackedForest forest() const {
        PackedForest made(n_levels, 2);
        made.groups.push_back({.thresholds = thresholds, .trees = {std::make_shared<PackedTree>(tree)}});
        return made;
    }
};

void check_refused(void (*damage)(ByHand&), std::string_view phrase, Location where = Location::current()) {
    ByHand parts;
    damage(parts);
    check_throws<InvalidInput>([&] { validate(parts.forest()); }, phrase, where);
}

const Test sound("a sound forest is accepted, and knows its size", [] {
    const PackedForest forest = ByHand().forest();
    validate(forest);
    validate(PackedForest({0}, 1));
    check_equal(forest.n_trees(), 1u);
    check_equal(forest.n_ranks(), 5u);
    check_equal(forest.first_rank, std::vector<std::uint32_t>{0, 0});
    check_equal(forest.bytes(), 5 * 12 + 4 * 8 + 5 * 2 + 2 * 8u);
    check_throws<InvalidInput>([&] { forest.tree(1); }, "no tree of this number");
    check_throws<InvalidInput>([&] { forest.group_of(1); }, "no tree of this number");
});

const Test leaves("leaves that split on a feature, and nodes with two parents or none, are refused", [] {
    check_refused([](ByHand& parts) { parts.tree.nodes.own()[2].condition |= 1; },
                  "is a leaf that splits on a feature");
    check_refused([](ByHand& parts) { parts.tree.nodes.own()[3].condition |= PackedNode::kNominal; },
                  "is a leaf that splits on a feature");
    check_refused([](ByHand& parts) { parts.tree.nodes.own()[1].left = 2; }, "shares a child");
    check_refused([](ByHand& parts) { parts.tree.nodes.own().push_back({.left = 0, .condition = kLeafNode}); },
                  "has no parent");
});

const Test children("children that come before their parent, or after the last node, are refused", [] {
    check_refused([](ByHand& parts) { parts.tree.nodes.own()[1].left = 1; },
                  "Node 1 of tree 0 has children that do not come after it");
    check_refused([](ByHand& parts) { parts.tree.nodes.own()[1].left = 0; }, "do not come after");
    check_refused([](ByHand& parts) { parts.tree.nodes.own()[0].left = 4; }, "Node 0 of tree 0 has children");
    check_refused([](ByHand& parts) { parts.tree.nodes.own()[0].left = 0xffffffffu; }, "do not come after");
    check_refused([](ByHand& parts) { parts.tree.nodes.own().clear(); }, "at least one node");
});

const Test leaf_values("a leaf without its value, and part of a leaf value, are refused", [] {
    check_refused([](ByHand& parts) { parts.tree.nodes.own()[4].left = 2; },
                  "Node 4 of tree 0 names a leaf value that the tree does not have");
    check_refused([](ByHand& parts) { parts.tree.nodes.own()[3].left = 0xffffffffu; },
                  "Node 3 of tree 0 names a leaf value");
    check_refused([](ByHand& parts) { parts.tree.leaf_values.own().pop_back(); }, "part of a leaf value");
});

const Test features("a split on a feature that is not there, or is of the other kind, is refused", [] {
    check_refused([](ByHand& parts) { parts.tree.nodes.own()[0].condition = 2; },
                  "splits on a feature that does not exist");
    check_refused([](ByHand& parts) { parts.tree.nodes.own()[0].condition = 1; }, "mistakes the kind");
    check_refused([](ByHand& parts) { parts.tree.nodes.own()[1].condition = PackedNode::kNominal; },
                  "mistakes the kind");
});

const Test codes("a code beyond the thresholds or the levels is refused", [] {
    check_refused([](ByHand& parts) { parts.tree.nodes.own()[0].code = 3; }, "Node 0 of tree 0 compares with a code");
    check_refused([](ByHand& parts) { parts.tree.nodes.own()[0].code = 0; }, "compares with a code");
    check_refused([](ByHand& parts) { parts.tree.nodes.own()[1].code = 5; }, "Node 1 of tree 0 compares with a code");
});

const Test thresholds("thresholds must ascend, and belong to numbers", [] {
    const double nan = std::nan("");
    check_refused([](ByHand& parts) { parts.thresholds[0] = {1.5, 1.5}; }, "do not ascend");
    check_refused([](ByHand& parts) { parts.thresholds[0] = {2.5, 1.5}; }, "do not ascend");
    check_refused([](ByHand& parts) { parts.thresholds[0].own()[1] = std::nan(""); }, "do not ascend");
    check_refused([](ByHand& parts) { parts.thresholds[0].own()[0] = std::nan(""); }, "do not ascend");
    check_refused([](ByHand& parts) { parts.thresholds[1] = {0.5}; }, "A nominal feature has thresholds");
    check_refused([](ByHand& parts) { parts.thresholds.pop_back(); }, "thresholds of every feature");
    check_refused(
        [](ByHand& parts) {
            for (int i = 0; i < 65'535; ++i) parts.thresholds[0].own().push_back(2.0 + i);
        },
        "too many thresholds");
    ByHand alone{.thresholds = {{nan}, {}}};
    alone.tree.nodes.own()[0].code = 1;
    check_throws<InvalidInput>([&] { validate(alone.forest()); }, "do not ascend");
});

const Test ranks("every level must have a rank, and their number must be possible", [] {
    check_refused([](ByHand& parts) { parts.tree.ranks.own().pop_back(); }, "must rank every level");
    check_refused([](ByHand& parts) { parts.tree.ranks.own().push_back(1); }, "must rank every level");
    check_refused([](ByHand& parts) { parts.n_levels[1] = -1; }, "impossible number of levels");
    check_refused([](ByHand& parts) { parts.n_levels[1] = 65'535; }, "impossible number of levels");
    PackedForest forest = ByHand().forest();
    forest.first_rank.pop_back();
    check_throws<InvalidInput>([&] { validate(forest); }, "of each feature");
    forest = ByHand().forest();
    forest.n_columns = 0;
    check_throws<InvalidInput>([&] { validate(forest); }, "at least one column");
});

const Test sides("missing goes where the node says; everything else goes by its code", [] {
    for (const std::uint32_t flag : {0u, kRight})
        for (std::uint16_t code = 1; code <= 5; ++code) {
            const PackedNode node{.left = 1, .condition = flag, .code = code};
            check_equal(node.goes_left(0), flag == 0);
            for (std::uint32_t its = 1; its <= 6; ++its) check_equal(node.goes_left(its), its <= code);
        }
});

const Test unpacked("an unpacked tree has the thresholds, sets, values and weights of the packed one", [] {
    const Tree tree = unpack(ByHand().forest(), 0);
    check_equal(tree.n_outputs, 2u);
    check_equal(tree.feature, std::vector<std::int32_t>{0, 1, kLeaf, kLeaf, kLeaf});
    check_equal(tree.threshold[0], 1.5);
    check_equal(tree.missing_left[0], 1);
    check_equal(tree.missing_left[1], 0);
    check_equal(tree.levels, std::vector<std::int32_t>{-1, 0, -1, -1, -1});
    for (const std::uint32_t level : {1u, 3u}) check(tree.level_goes_left(0, level), "ranks 1 and 2 go left");
    for (const std::uint32_t level : {0u, 2u}) check(!tree.level_goes_left(0, level), "ranks 3 and 4 go right");
    check_equal(tree.left[0], 1u);
    check_equal(tree.left[1], 3u);
    const std::vector<double> value(tree.value.begin() + 4, tree.value.end());
    check_equal(value, std::vector<double>{1, 10, 1, 10, 2, 20});
    check_near(tree.value[2], 1.5, 1e-4);  // of node 1: the mean of its leaves
    check_near(tree.value[1], 0.75 * 15 + 0.25 * 10, 1e-2);
    check_equal(tree.cover[0], 16.0);
    check_near(tree.cover[1], 12.0, 1e-3);
    check_near(tree.cover[4], 6.0, 1e-3);
    check_equal(tree.n_rows, std::vector<std::uint32_t>{12, 9, 3, 5, 4});
    validate(tree, 2);
});

}  // namespace
}  // namespace coterie::tests
