#include "coterie/predict/walk_codes.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "coterie/base/error.hpp"
#include "coterie/base/parallel.hpp"
#include "coterie/predict/descent.hpp"
#include "coterie/predict/threshold_grid.hpp"

namespace coterie {
namespace {

constexpr std::size_t kBlock = 4096;        // rows whose codes stay in a cache while they walk all trees
constexpr std::size_t kSmallBlock = 512;    // if there are few, so that threads share them
constexpr std::size_t kLargeTree = 8192;    // nodes of trees that do not all stay in a cache
constexpr std::size_t kLargeBlock = 65536;  // of rows in large trees: how often these are read from memory counts more
constexpr std::size_t kBlockBytes = std::size_t{8} << 20;  // of the codes of a large block
constexpr std::size_t kStripe = 1 << 17;                   // rows between two checks for a request to stop
constexpr std::size_t kFewRows = 8;                        // up to which the lanes are trees, not rows
constexpr std::size_t kTogether = 4;                       // trees whose leaves are looked at in one pass over the rows

void code_levels(const double* values, std::size_t n, std::int32_t n_levels, std::uint16_t* out) {
    for (std::size_t i = 0; i < n; ++i)
        out[i] = values[i] >= 0 && values[i] < n_levels ? static_cast<std::uint16_t>(values[i] + 1) : 0;
}

// One grid for each feature of a group, for all threads; none for nominal features.
std::vector<std::optional<ThresholdGrid>> make_grids(const PackedForest& forest, const TreeGroup& group,
                                                     std::size_t n_values, int n_threads) {
    std::vector<std::optional<ThresholdGrid>> grids(forest.n_features);
    parallel_for(grids.size(), n_threads, [&](std::size_t feature) {
        if (forest.n_levels[feature] == 0) grids[feature].emplace(group.thresholds[feature].view(), n_values);
    });
    return grids;
}

// Binary searches in step, so that they hide each other's latency: those of the features of one row. NaN is missing.
void code_row(const PackedForest& forest, const TreeGroup& group, const double* row, std::uint16_t* out) {
    constexpr std::size_t kSearches = 16;
    const std::size_t d = forest.n_features;
    for (std::size_t first = 0; first < d; first += kSearches) {
        const std::size_t n_now = std::min(kSearches, d - first);
        std::array<const double*, kSearches> from;
        std::array<const double*, kSearches> all;
        std::array<std::size_t, kSearches> left;
        std::array<double, kSearches> value;
        std::size_t most = 0;
        for (std::size_t k = 0; k < kSearches; ++k) {
            const std::size_t feature = first + std::min(k, n_now - 1);
            all[k] = from[k] = group.thresholds[feature].data();
            left[k] = group.thresholds[feature].size();
            value[k] = row[feature];
            most = std::max(most, left[k]);
        }
        for (; most > 1; most -= most / 2)
            for (std::size_t k = 0; k < kSearches; ++k) {
                const std::size_t half = left[k] / 2;
                const double* const middle = from[k] + half;
                from[k] = half > 0 && middle[-1] < value[k] ? middle : from[k];
                left[k] -= half;
            }
        for (std::size_t k = 0; k < n_now; ++k) {
            const std::size_t feature = first + k;
            if (forest.n_levels[feature] > 0) {
                code_levels(&row[feature], 1, forest.n_levels[feature], out + feature);
                continue;
            }
            const std::size_t below =
                static_cast<std::size_t>(from[k] - all[k]) + (left[k] == 1 && *from[k] < value[k]);
            out[feature] = std::isnan(value[k]) ? 0 : static_cast<std::uint16_t>(below + 1);
        }
    }
}

void check_table(const PackedForest& forest, const TableView& table) {
    require(table.columns.size() == forest.n_features, "The table has " + std::to_string(table.columns.size()) +
                                                           " columns; the forest was grown on " +
                                                           std::to_string(forest.n_features) + ".");
}

std::size_t n_nodes_of(const PackedForest& forest) {
    std::size_t n_nodes = 0;
    for (const TreeGroup& group : forest.groups)
        for (const auto& tree : group.trees) n_nodes += tree->nodes.size();
    return n_nodes;
}

// Blocks of large trees are as many as threads, or a multiple of that, and of one size.
std::size_t block_rows(const PackedForest& forest, std::size_t n_nodes, std::size_t n_rows, std::size_t n_threads) {
    const std::size_t share = (n_rows + n_threads - 1) / n_threads;
    if (n_nodes < kLargeTree * forest.n_trees()) return share < kBlock ? kSmallBlock : kBlock;
    const std::size_t fit = kBlockBytes / (sizeof(std::uint16_t) * std::max<std::size_t>(1, forest.n_features));
    const std::size_t most = std::clamp(fit, kBlock, kLargeBlock);
    const std::size_t n_each = (share + most - 1) / most;
    return std::max(kLanes, (share + n_each - 1) / n_each);
}

/// Up to kTogether trees, and the leaves of the same n rows in each: those of one tree after those of another.
struct Walked {
    std::size_t number;  // of the first tree
    std::span<const std::shared_ptr<const PackedTree>> trees;
    std::size_t first;  // row
    std::size_t n;
    const std::uint32_t* leaves;

    const std::uint32_t* leaves_of(std::size_t tree) const { return leaves + tree * n; }
};

// A few rows: the lanes are trees. Calls visit(tree, leaves of the rows), trees in their order.
template <class Visit>
void walk_trees(const PackedForest& forest, const TreeGroup& group, const std::uint16_t* codes, std::size_t row_stride,
                std::size_t n, Visit visit) {
    const bool nominal = forest.n_ranks() > 0;
    std::array<std::array<std::uint32_t, kFewRows>, kLanes> leaves;
    for (std::size_t first = 0; first < group.trees.size(); first += kLanes) {
        const std::size_t n_trees = std::min(kLanes, group.trees.size() - first);
        for (std::size_t row = 0; row < n; ++row) {
            Lanes lanes;
            for (std::size_t k = 0; k < kLanes; ++k) {
                const PackedTree& tree = *group.trees[first + std::min(k, n_trees - 1)];
                lanes.nodes[k] = tree.nodes.data();
                lanes.codes[k] = codes + row * row_stride;
                lanes.ranks[k] = tree.ranks.data();
            }
            walk_lanes(forest, nominal, lanes);
            for (std::size_t k = 0; k < n_trees; ++k) leaves[k][row] = lanes.at[k];
        }
        for (std::size_t k = 0; k < n_trees; ++k) visit(*group.trees[first + k], leaves[k].data());
    }
}

// Calls visit(walked) for blocks of rows and the trees of a range, in their order.
template <Reached kReached = Reached::leaf, class Visit>
void for_blocks(const PackedForest& forest, const TableView& table, int n_threads, StopRequest& stop, Visit visit,
                TreeRange trees = {}) {
    check_table(forest, table);
    require_sound(forest, trees);
    const std::size_t d = forest.n_features;
    const std::size_t n_nodes = table.n_rows > kFewRows ? n_nodes_of(forest) : 0;
    const WalkOptions options{kReached, nodes_per_row(n_nodes)};
    std::vector<std::vector<std::optional<ThresholdGrid>>> grids;  // of each group
    if (table.n_rows > kFewRows)
        for (const TreeGroup& group : forest.groups)
            grids.push_back(make_grids(forest, group, table.n_rows, n_threads));
    const std::size_t n_stripes = (table.n_rows + kStripe - 1) / kStripe;
    for (std::size_t stripe = 0; stripe < n_stripes; ++stripe) {
        stop.check();
        const std::size_t from = table.n_rows * stripe / n_stripes;
        const std::size_t n_stripe = table.n_rows * (stripe + 1) / n_stripes - from;
        const std::size_t block =
            block_rows(forest, n_nodes, n_stripe, static_cast<std::size_t>(std::max(1, n_threads)));
        parallel_ranges(n_stripe, block, n_threads, [&](std::size_t begin, std::size_t end) {
            const std::size_t first = from + begin;
            const std::size_t n = end - begin;
            const bool few = n <= kFewRows;
            thread_local Descent descent;
            Buffer<std::uint16_t> codes(n * d);
            CodedRows rows;
            std::vector<double> values(few ? n * d : n);
            Buffer<std::uint32_t> leaves(few ? 0 : kTogether * n);
            if (few)
                for (std::size_t feature = 0; feature < d; ++feature)
                    table.columns[feature].read(first, n, values.data() + feature, d);
            std::size_t number = 0;
            for (std::size_t g = 0; g < forest.groups.size(); ++g) {
                const TreeGroup& group = forest.groups[g];
                const std::size_t first_tree = number;
                number += group.trees.size();
                if (number <= trees.begin || first_tree >= trees.end) continue;
                if (few) {
                    for (std::size_t row = 0; row < n; ++row)
                        code_row(forest, group, values.data() + row * d, codes.data() + row * d);
                    std::size_t t = first_tree;
                    walk_trees(forest, group, codes.data(), d, n, [&](const PackedTree& tree, const std::uint32_t* at) {
                        if (t >= trees.begin && t < trees.end) {
                            std::array<std::uint32_t, kFewRows> reached;
                            for (std::size_t row = 0; row < n; ++row)
                                reached[row] = kReached == Reached::leaf ? at[row] : tree.nodes[at[row]].left;
                            visit({t, std::span(group.trees).subspan(t - first_tree, 1), first, n, reached.data()});
                        }
                        ++t;
                    });
                    continue;
                }
                for (std::size_t feature = 0; feature < d; ++feature) {
                    table.columns[feature].read(first, n, values.data());
                    std::uint16_t* const own = codes.data() + feature * n;
                    if (const auto& grid = grids[g][feature]; grid.has_value())
                        grid->code({values.data(), n}, own);
                    else
                        code_levels(values.data(), n, forest.n_levels[feature], own);
                }
                rows.assign(forest, codes.data(), n);
                const std::size_t end_tree = std::min(number, trees.end);
                for (std::size_t t = std::max(first_tree, trees.begin); t < end_tree; t += kTogether) {
                    const auto own = std::span(group.trees).subspan(t - first_tree, std::min(kTogether, end_tree - t));
                    for (std::size_t i = 0; i < own.size(); ++i)
                        descent.walk(forest, *own[i], rows, leaves.data() + i * n, options);
                    visit({t, own, first, n, leaves.data()});
                }
            }
        });
    }
}

}  // namespace

void walk_forest(const PackedForest& forest, const TableView& table, TreeRange trees, int n_threads, StopRequest& stop,
                 const VisitLeaves& visit) {
    for_blocks(
        forest, table, n_threads, stop,
        [&](const Walked& walked) {
            for (std::size_t tree = 0; tree < walked.trees.size(); ++tree)
                visit(walked.number + tree, walked.first, walked.n, walked.leaves_of(tree));
        },
        trees);
}

namespace {

using Trees = std::span<const std::shared_ptr<const Tree>>;

PackedTree coded(const Tree& tree, const std::vector<Array<double>>& thresholds) {
    std::vector<PackedNode> nodes;
    nodes.reserve(tree.n_nodes());
    for (NodeIndex node = 0; node < tree.n_nodes(); ++node) {
        PackedNode& own = nodes.emplace_back();
        if (tree.is_leaf(node)) {
            own.condition = PackedNode::kLeafFlag;
            continue;
        }
        const auto feature = static_cast<std::uint32_t>(tree.feature[node]);
        const Array<double>& all = thresholds[feature];
        const auto index = std::lower_bound(all.begin(), all.end(), tree.threshold[node]) - all.begin();
        own.left = tree.left[node];
        own.condition = feature | (tree.missing_left[node] ? 0 : PackedNode::kMissingRight);
        own.code = static_cast<std::uint16_t>(index + 1);
    }
    return {.nodes = std::move(nodes)};
}

// Adds groups for these trees: one, or as many as the number of codes makes necessary.
bool add_groups(PackedForest& forest, Trees trees) {
    constexpr std::size_t kMaxThresholds = 65'534;  // thresholds whose codes have room in two bytes
    TreeGroup group;
    group.thresholds.resize(forest.n_features);
    for (const auto& tree : trees)
        for (NodeIndex node = 0; node < tree->n_nodes(); ++node)
            if (!tree->is_leaf(node))
                group.thresholds[static_cast<std::size_t>(tree->feature[node])].own().push_back(tree->threshold[node]);
    bool fits = true;
    for (auto& thresholds : group.thresholds) {
        std::vector<double>& own = thresholds.own();
        std::ranges::sort(own);
        own.erase(std::unique(own.begin(), own.end()), own.end());
        fits = fits && own.size() <= kMaxThresholds;
    }
    if (!fits) {
        const std::size_t half = trees.size() / 2;
        return half > 0 && add_groups(forest, trees.first(half)) && add_groups(forest, trees.subspan(half));
    }
    for (const auto& tree : trees) group.trees.push_back(std::make_shared<PackedTree>(coded(*tree, group.thresholds)));
    forest.groups.push_back(std::move(group));
    return true;
}

}  // namespace

std::optional<PackedForest> coded(const std::vector<std::shared_ptr<const Tree>>& trees, std::size_t n_features) {
    for (const auto& tree : trees)
        for (NodeIndex node = 0; node < tree->n_nodes(); ++node)
            if (!tree->is_leaf(node) && (tree->levels[node] >= 0 || std::isnan(tree->threshold[node]))) return {};
    PackedForest forest(std::vector<std::int32_t>(n_features, 0), 1);
    if (!add_groups(forest, trees)) return {};
    return forest;
}

namespace {

// Two columns are one vector, and stay in a register while the trees add to them.
template <std::size_t kTrees>
void add_pairs(const Walked& walked, double* sums) {
    std::array<const double*, kTrees> leaf_values;
    std::array<const std::uint32_t*, kTrees> leaves;
    for (std::size_t tree = 0; tree < kTrees; ++tree) {
        leaf_values[tree] = walked.trees[tree]->leaf_values.data();
        leaves[tree] = walked.leaves_of(tree);
    }
    for (std::size_t i = 0; i < walked.n; ++i, sums += 2) {
        double first = sums[0];
        double second = sums[1];
        for (std::size_t tree = 0; tree < kTrees; ++tree) {
            const double* const own = leaf_values[tree] + 2 * std::size_t{leaves[tree][i]};
            first += own[0];
            second += own[1];
        }
        sums[0] = first;
        sums[1] = second;
    }
}

void add_leaf_values(const Walked& walked, std::size_t n_columns, double* sums) {
    if (n_columns == 2 && walked.trees.size() == kTogether) return add_pairs<kTogether>(walked, sums);
    for (std::size_t tree = 0; tree < walked.trees.size(); ++tree) {
        const double* const leaf_values = walked.trees[tree]->leaf_values.data();
        const std::uint32_t* const leaves = walked.leaves_of(tree);
        double* sum = sums;
        for (std::size_t i = 0; i < walked.n; ++i, sum += n_columns) {
            const double* const own = leaf_values + leaves[i] * n_columns;
            for (std::size_t column = 0; column < n_columns; ++column) sum[column] += own[column];
        }
    }
}

}  // namespace

void add_predictions(const PackedForest& forest, const TableView& table, std::span<double> sums, int n_threads,
                     StopRequest stop) {
    const std::size_t k = forest.n_columns;
    require(sums.size() == table.n_rows * k, "The sums must have one number for each row and column.");
    for_blocks<Reached::leaf_value>(forest, table, n_threads, stop, [&](const Walked& walked) {
        add_leaf_values(walked, k, sums.data() + walked.first * k);
    });
}

void find_leaves(const PackedForest& forest, const TableView& table, std::span<std::uint32_t> out, int n_threads,
                 StopRequest stop) {
    const std::size_t n_trees = forest.n_trees();
    require(out.size() == table.n_rows * n_trees, "There must be room for one leaf for each row and tree.");
    for_blocks(forest, table, n_threads, stop, [&](const Walked& walked) {
        for (std::size_t tree = 0; tree < walked.trees.size(); ++tree)
            for (std::size_t i = 0; i < walked.n; ++i)
                out[(walked.first + i) * n_trees + walked.number + tree] = walked.leaves_of(tree)[i];
    });
}

void list_predictions(const PackedForest& forest, const TableView& table, std::span<double> leaf_values, int n_threads,
                      StopRequest stop) {
    const std::size_t n_trees = forest.n_trees();
    const std::size_t k = forest.n_columns;
    require(leaf_values.size() == table.n_rows * n_trees * k, "There must be room for every prediction of every tree.");
    for_blocks<Reached::leaf_value>(forest, table, n_threads, stop, [&](const Walked& walked) {
        for (std::size_t tree = 0; tree < walked.trees.size(); ++tree)
            for (std::size_t i = 0; i < walked.n; ++i)
                std::copy_n(walked.trees[tree]->leaf_values.data() + walked.leaves_of(tree)[i] * k, k,
                            leaf_values.data() + ((walked.first + i) * n_trees + walked.number + tree) * k);
    });
}

}  // namespace coterie
