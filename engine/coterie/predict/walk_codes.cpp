#include "coterie/predict/walk_codes.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "coterie/base/error.hpp"
#include "coterie/base/parallel.hpp"

namespace coterie {
namespace {

constexpr std::size_t kBlock = 4096;         // rows whose codes stay in a cache while they walk all trees
constexpr std::size_t kSmallBlock = 512;     // if there are few, so that threads share them
constexpr std::size_t kStripe = 1 << 16;     // rows between two questions whether to stop
constexpr std::size_t kLargeTree = 1 << 13;  // nodes of trees that do not stay in a cache
constexpr std::size_t kBundle = 16;          // rows that are not parted any further before they walk
constexpr std::size_t kLanes = 16;           // walks that hide each other's latency
constexpr std::size_t kFewRows = 8;          // up to which the lanes are trees, not rows

/// Rows on their way down a tree, or trees on the way of a row.
struct Lanes {
    std::array<const PackedNode*, kLanes> nodes;
    std::array<const std::uint16_t*, kLanes> codes;
    std::array<const std::uint16_t*, kLanes> ranks;
    std::array<std::uint32_t, kLanes> at{};
};

// From where they are. Lanes that have arrived stay. No branch depends on the data. One tree: the nodes of lane 0 are
// those of all.
template <bool kOneTree, bool kNominal>
void walk_lanes(const PackedForest& forest, Lanes& lanes) {
    std::array<std::uint32_t, kLanes> at = lanes.at;
    const PackedNode* const nodes = lanes.nodes[0];
    for (std::uint32_t flags = 0; flags == 0;) {
        for (int i = 0; i < (kNominal ? 2 : 4); ++i) {
            flags = PackedNode::kLeafFlag;
            for (std::size_t k = 0; k < kLanes; ++k) {
                const PackedNode& node = (kOneTree ? nodes : lanes.nodes[k])[at[k]];
                const std::uint32_t what = node.what;
                const FeatureIndex feature = what & PackedNode::kFeature;
                std::uint32_t code = lanes.codes[k][feature];
                if constexpr (kNominal) {
                    const bool nominal = what & PackedNode::kNominal;
                    const std::uint32_t rank = lanes.ranks[k][nominal ? forest.first_rank[feature] + code : 0];
                    code = nominal ? rank : code;
                }
                const std::uint32_t next = node.left + !node.goes_left(code);
                const std::uint32_t stays = ~((what >> 31) - 1);  // all bits at a leaf, none elsewhere
                at[k] = (at[k] & stays) | (next & ~stays);
                flags &= what;
            }
        }
    }
    lanes.at = at;
}

template <bool kOneTree>
void walk_lanes(const PackedForest& forest, bool nominal, Lanes& lanes) {
    if (nominal)
        walk_lanes<kOneTree, true>(forest, lanes);
    else
        walk_lanes<kOneTree, false>(forest, lanes);
}

/// Rows in the order of their ways through the upper part of a large tree: those that come to the same place walk on
/// side by side, where the tree is in the nearest cache.
class Bundles {
public:
    void part(const PackedForest& forest, const PackedTree& tree, const std::uint16_t* codes, std::size_t row_stride,
              std::size_t n) {
        rows_.resize(n);
        twin_.resize(n);
        node_.resize(n);
        for (std::size_t i = 0; i < n; ++i) rows_[i] = static_cast<std::uint32_t>(i);
        open_.assign(1, {0, 0, static_cast<std::uint32_t>(n)});
        while (!open_.empty()) {
            const Open bundle = open_.back();
            open_.pop_back();
            const PackedNode node = tree.nodes[bundle.node];
            if (node.is_leaf() || bundle.end - bundle.begin <= kBundle) {
                std::fill(node_.begin() + bundle.begin, node_.begin() + bundle.end, bundle.node);
                continue;
            }
            const std::uint16_t* const column = codes + node.feature();
            const std::uint16_t* const ranks =
                node.is_nominal() ? tree.ranks.data() + forest.first_rank[node.feature()] : nullptr;
            std::uint32_t* left = rows_.data() + bundle.begin;
            std::uint32_t* right = twin_.data();
            for (std::uint32_t i = bundle.begin; i < bundle.end; ++i) {
                const std::uint32_t row = rows_[i];
                const std::uint16_t code = column[row * row_stride];
                const bool goes_left = node.goes_left(ranks == nullptr ? code : ranks[code]);
                *left = row;
                *right = row;
                left += goes_left;
                right += !goes_left;
            }
            const auto middle = static_cast<std::uint32_t>(left - rows_.data());
            std::copy(twin_.data(), right, left);
            if (middle < bundle.end) open_.push_back({node.left + 1, middle, bundle.end});
            if (bundle.begin < middle) open_.push_back({node.left, bundle.begin, middle});
        }
    }

    std::size_t row(std::size_t place) const { return rows_[place]; }
    std::uint32_t node(std::size_t place) const { return node_[place]; }

private:
    struct Open {
        std::uint32_t node;
        std::uint32_t begin;
        std::uint32_t end;
    };

    std::vector<std::uint32_t> rows_;
    std::vector<std::uint32_t> twin_;
    std::vector<std::uint32_t> node_;  // where the row at each place has come to
    std::vector<Open> open_;
};

void code_levels(const double* values, std::size_t n, std::int32_t n_levels, std::uint16_t* out, std::size_t stride) {
    for (std::size_t i = 0; i < n; ++i)
        out[i * stride] = values[i] >= 0 && values[i] < n_levels ? static_cast<std::uint16_t>(values[i] + 1) : 0;
}

// Binary searches in step, so that they hide each other's latency; NaN is missing.
void code_values(const double* values, std::size_t n, std::span<const double> thresholds, std::uint16_t* out,
                 std::size_t stride) {
    constexpr std::size_t kSearches = 16;
    for (std::size_t first = 0; first < n; first += kSearches) {
        const std::size_t n_now = std::min(kSearches, n - first);
        std::array<double, kSearches> value;
        std::array<std::uint32_t, kSearches> below{};
        for (std::size_t k = 0; k < kSearches; ++k) value[k] = values[first + std::min(k, n_now - 1)];
        const double* const all = thresholds.data();
        std::size_t left = thresholds.size();
        for (; left > 1; left -= left / 2) {
            const auto half = static_cast<std::uint32_t>(left / 2);
            for (std::size_t k = 0; k < kSearches; ++k)
                below[k] += half & (all[below[k] + half - 1] < value[k] ? ~std::uint32_t{0} : 0u);
        }
        for (std::size_t k = 0; k < n_now; ++k) {
            const std::uint32_t last = left == 1 && all[below[k]] < value[k] ? 1 : 0;
            out[(first + k) * stride] = std::isnan(value[k]) ? 0 : static_cast<std::uint16_t>(below[k] + last + 1);
        }
    }
}

void check_table(const PackedForest& forest, const TableView& table) {
    require(table.columns.size() == forest.n_features, "The table has " + std::to_string(table.columns.size()) +
                                                           " columns; the forest was grown on " +
                                                           std::to_string(forest.n_features) + ".");
}

// A few rows: the lanes are trees. Calls visit(tree, leaves of the rows), trees in their order.
template <class Visit>
void walk_trees(const PackedForest& forest, const Grove& grove, const std::uint16_t* codes, std::size_t row_stride,
                std::size_t n, Visit visit) {
    const bool nominal = forest.n_ranks() > 0;
    std::array<std::array<std::uint32_t, kFewRows>, kLanes> leaves;
    for (std::size_t first = 0; first < grove.trees.size(); first += kLanes) {
        const std::size_t n_trees = std::min(kLanes, grove.trees.size() - first);
        for (std::size_t row = 0; row < n; ++row) {
            Lanes lanes;
            for (std::size_t k = 0; k < kLanes; ++k) {
                const PackedTree& tree = *grove.trees[first + std::min(k, n_trees - 1)];
                lanes.nodes[k] = tree.nodes.data();
                lanes.codes[k] = codes + row * row_stride;
                lanes.ranks[k] = tree.ranks.data();
            }
            walk_lanes<false>(forest, nominal, lanes);
            for (std::size_t k = 0; k < n_trees; ++k) leaves[k][row] = lanes.at[k];
        }
        for (std::size_t k = 0; k < n_trees; ++k) visit(*grove.trees[first + k], leaves[k].data());
    }
}

// Calls visit(tree number, tree, first row, n, leaves) for blocks of rows and the trees of a range, in their order.
template <class Visit>
void for_blocks(const PackedForest& forest, const TableView& table, int n_threads, StopRequest& stop, Visit visit,
                TreeRange trees = {}) {
    check_table(forest, table);
    require_sound(forest, trees);
    const std::size_t d = forest.n_features;
    const std::size_t block = table.n_rows < kBlock * static_cast<std::size_t>(n_threads) ? kSmallBlock : kBlock;
    for (std::size_t stripe = 0; stripe < table.n_rows; stripe += kStripe) {
        stop.check();
        const std::size_t n_stripe = std::min(kStripe, table.n_rows - stripe);
        parallel_ranges(n_stripe, block, n_threads, [&](std::size_t begin, std::size_t end) {
            std::vector<std::uint16_t> codes((end - begin) * d);
            std::vector<double> values(end - begin);
            std::vector<std::uint32_t> leaves(end - begin);
            const std::size_t first = stripe + begin;
            const std::size_t n = end - begin;
            std::size_t number = 0;
            for (const Grove& grove : forest.groves) {
                const std::size_t first_tree = number;
                number += grove.trees.size();
                if (number <= trees.begin || first_tree >= trees.end) continue;
                for (std::size_t feature = 0; feature < d; ++feature) {
                    table.columns[feature].read(first, n, values.data());
                    if (forest.n_levels[feature] > 0)
                        code_levels(values.data(), n, forest.n_levels[feature], codes.data() + feature, d);
                    else
                        code_values(values.data(), n, grove.thresholds[feature].view(), codes.data() + feature, d);
                }
                if (n <= kFewRows) {
                    std::size_t t = first_tree;
                    walk_trees(forest, grove, codes.data(), d, n, [&](const PackedTree& tree, const std::uint32_t* at) {
                        if (t >= trees.begin && t < trees.end) visit(t, tree, first, n, at);
                        ++t;
                    });
                    continue;
                }
                for (std::size_t t = std::max(first_tree, trees.begin); t < std::min(number, trees.end); ++t) {
                    const PackedTree& tree = *grove.trees[t - first_tree];
                    walk_rows(forest, tree, codes.data(), d, n, leaves.data());
                    visit(t, tree, first, n, leaves.data());
                }
            }
        });
    }
}

}  // namespace

void walk_rows(const PackedForest& forest, const PackedTree& tree, const std::uint16_t* codes, std::size_t row_stride,
               std::size_t n, std::uint32_t* leaves) {
    const bool nominal = forest.n_ranks() > 0;
    thread_local Bundles bundles;
    const bool parted = tree.nodes.size() >= kLargeTree && n >= kSmallBlock;
    if (parted) bundles.part(forest, tree, codes, row_stride, n);
    for (std::size_t first = 0; first < n; first += kLanes) {
        const std::size_t n_lanes = std::min(kLanes, n - first);
        Lanes lanes;
        lanes.nodes[0] = tree.nodes.data();
        lanes.ranks.fill(tree.ranks.data());
        for (std::size_t k = 0; k < kLanes; ++k) {
            const std::size_t place = first + std::min(k, n_lanes - 1);
            const std::size_t row = parted ? bundles.row(place) : place;
            lanes.codes[k] = codes + row * row_stride;
            if (parted) lanes.at[k] = bundles.node(place);
        }
        walk_lanes<true>(forest, nominal, lanes);
        for (std::size_t k = 0; k < n_lanes; ++k) leaves[parted ? bundles.row(first + k) : first + k] = lanes.at[k];
    }
}

void walk_forest(const PackedForest& forest, const TableView& table, TreeRange trees, int n_threads, StopRequest& stop,
                 const VisitLeaves& visit) {
    for_blocks(
        forest, table, n_threads, stop,
        [&](std::size_t number, const PackedTree&, std::size_t first, std::size_t n, const std::uint32_t* leaves) {
            visit(number, first, n, leaves);
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
            own.what = PackedNode::kLeafFlag;
            continue;
        }
        const auto feature = static_cast<std::uint32_t>(tree.feature[node]);
        const Array<double>& all = thresholds[feature];
        const auto place = std::lower_bound(all.begin(), all.end(), tree.threshold[node]) - all.begin();
        own.left = tree.left[node];
        own.what = feature | (tree.missing_left[node] ? 0 : PackedNode::kMissingRight);
        own.code = static_cast<std::uint16_t>(place + 1);
    }
    return {.nodes = std::move(nodes)};
}

// Adds groves for these trees: one, or as many as the number of codes makes necessary.
bool add_groves(PackedForest& forest, Trees trees) {
    constexpr std::size_t kMost = 65'534;  // thresholds whose codes have room in two bytes
    Grove grove;
    grove.thresholds.resize(forest.n_features);
    for (const auto& tree : trees)
        for (NodeIndex node = 0; node < tree->n_nodes(); ++node)
            if (!tree->is_leaf(node))
                grove.thresholds[static_cast<std::size_t>(tree->feature[node])].own().push_back(tree->threshold[node]);
    bool fits = true;
    for (auto& thresholds : grove.thresholds) {
        std::vector<double>& own = thresholds.own();
        std::ranges::sort(own);
        own.erase(std::unique(own.begin(), own.end()), own.end());
        fits = fits && own.size() <= kMost;
    }
    if (!fits) {
        const std::size_t half = trees.size() / 2;
        return half > 0 && add_groves(forest, trees.first(half)) && add_groves(forest, trees.subspan(half));
    }
    for (const auto& tree : trees) grove.trees.push_back(std::make_shared<PackedTree>(coded(*tree, grove.thresholds)));
    forest.groves.push_back(std::move(grove));
    return true;
}

}  // namespace

std::optional<PackedForest> coded(const std::vector<std::shared_ptr<const Tree>>& trees, std::size_t n_features) {
    for (const auto& tree : trees)
        for (NodeIndex node = 0; node < tree->n_nodes(); ++node)
            if (!tree->is_leaf(node) && (tree->levels[node] >= 0 || std::isnan(tree->threshold[node]))) return {};
    PackedForest forest(std::vector<std::int32_t>(n_features, 0), 1);
    if (!add_groves(forest, trees)) return {};
    return forest;
}

void add_answers(const PackedForest& forest, const TableView& table, std::span<double> sums, int n_threads,
                 StopRequest stop) {
    const std::size_t k = forest.n_columns;
    require(sums.size() == table.n_rows * k, "The sums must have one number for each row and column.");
    for_blocks(forest, table, n_threads, stop,
               [&](std::size_t, const PackedTree& tree, std::size_t first, std::size_t n, const std::uint32_t* leaves) {
                   const PackedNode* const nodes = tree.nodes.data();
                   const double* const answers = tree.answers.data();
                   for (std::size_t i = 0; i < n; ++i) {
                       const double* const answer = answers + nodes[leaves[i]].left * k;
                       double* const sum = sums.data() + (first + i) * k;
                       for (std::size_t column = 0; column < k; ++column) sum[column] += answer[column];
                   }
               });
}

void find_leaves(const PackedForest& forest, const TableView& table, std::span<std::uint32_t> out, int n_threads,
                 StopRequest stop) {
    const std::size_t n_trees = forest.n_trees();
    require(out.size() == table.n_rows * n_trees, "There must be room for one leaf for each row and tree.");
    for_blocks(
        forest, table, n_threads, stop,
        [&](std::size_t number, const PackedTree&, std::size_t first, std::size_t n, const std::uint32_t* leaves) {
            for (std::size_t i = 0; i < n; ++i) out[(first + i) * n_trees + number] = leaves[i];
        });
}

void list_answers(const PackedForest& forest, const TableView& table, std::span<double> answers, int n_threads,
                  StopRequest stop) {
    const std::size_t n_trees = forest.n_trees();
    const std::size_t k = forest.n_columns;
    require(answers.size() == table.n_rows * n_trees * k, "There must be room for every answer of every tree.");
    for_blocks(
        forest, table, n_threads, stop,
        [&](std::size_t number, const PackedTree& tree, std::size_t first, std::size_t n, const std::uint32_t* leaves) {
            const PackedNode* const nodes = tree.nodes.data();
            for (std::size_t i = 0; i < n; ++i)
                std::copy_n(tree.answers.data() + nodes[leaves[i]].left * k, k,
                            answers.data() + ((first + i) * n_trees + number) * k);
        });
}

}  // namespace coterie
