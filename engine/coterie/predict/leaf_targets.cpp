#include "coterie/predict/leaf_targets.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <utility>

#include "coterie/base/error.hpp"
#include "coterie/base/parallel.hpp"

namespace coterie {
namespace {

constexpr std::uint64_t kWhole = std::uint64_t{1} << 31;
constexpr std::size_t kMaxTrees = std::size_t{1} << 31;  // so that sums of shares fit 64 bits
constexpr double kMaxCount = 65'535;
constexpr double kStripeCost = 1 << 24;  // targets looked at between two checks for a request to stop
constexpr double kCostPerThread = 50'000;
constexpr std::size_t kSortedPart = 16;  // fewer than this part of the distinct targets are sorted, more are summed

void check_targets(std::span<const double> y, std::span<const double> weight) {
    require(!y.empty() && y.size() < (std::size_t{1} << 31),
            "The targets of " + std::to_string(y.size()) + " rows were given; expected 1 to 2^31 - 1.");
    require(std::ranges::all_of(y, [](double target) { return std::isfinite(target); }), "A target is not finite.");
    require(weight.empty() || weight.size() == y.size(),
            "There are " + std::to_string(weight.size()) + " weights for " + std::to_string(y.size()) + " targets.");
    require(std::ranges::all_of(weight, [](double w) { return w >= 0 && std::isfinite(w); }),
            "A weight is negative or not finite.");
    require(std::isfinite(kMaxCount * std::accumulate(weight.begin(), weight.end(), 0.0)),
            "The weights add up to more than a float can hold.");
}

// Weights become shares that add up to kWhole: each sum of the first ones is rounded down.
void set_shares(std::span<const double> weight, std::span<std::uint32_t> share) {
    const double total = std::accumulate(weight.begin(), weight.end(), 0.0);
    double sum = 0;
    std::uint64_t before = 0;
    for (std::size_t i = 0; i < weight.size(); ++i) {
        sum += weight[i];
        const auto until = static_cast<std::uint64_t>(sum / total * static_cast<double>(kWhole));
        share[i] = static_cast<std::uint32_t>(until - before);
        before = until;
    }
}

double mean_leaf_size_of(const TreeTargets& tree) {
    double squares = 0;
    for (std::size_t leaf = 0; leaf < tree.n_leaves(); ++leaf) {
        const auto size = static_cast<double>(tree.first[leaf + 1] - tree.first[leaf]);
        squares += size * size;
    }
    return squares / std::max(1.0, static_cast<double>(tree.rank.size()));
}

bool is_sound(const TreeTargets& tree, std::size_t leaf, std::size_t n_values) {
    const std::size_t begin = tree.first[leaf], end = tree.first[leaf + 1];
    if (begin == end) return true;
    const auto rank = std::span(tree.rank).subspan(begin, end - begin);
    const auto share = std::span(tree.share).subspan(begin, end - begin);
    return std::ranges::is_sorted(rank) && rank.back() < n_values &&
           std::accumulate(share.begin(), share.end(), std::uint64_t{0}) == kWhole;
}

void check_tree(const TreeTargets& tree, std::size_t n_values) {
    require(!tree.first.empty() && tree.first.front() == 0 && std::ranges::is_sorted(tree.first) &&
                tree.first.back() == tree.rank.size() && tree.rank.size() == tree.share.size(),
            "The arrays of a tree's leaves do not fit together.");
    for (std::size_t leaf = 0; leaf < tree.n_leaves(); ++leaf)
        if (!is_sound(tree, leaf, n_values))
            throw InvalidInput("The targets of leaf " + std::to_string(leaf) +
                               " are not in order, or their shares do not add up to one.");
}

// Levels in ascending order, as one walk over the targets reaches them.
std::vector<std::size_t> ascending_levels(std::span<const double> levels) {
    for (const double level : levels)
        require(level >= 0 && level <= 1,
                "The level " + std::to_string(level) + " of a quantile is not a number from 0 to 1.");
    std::vector<std::size_t> order(levels.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t k) { return levels[k]; });
    return order;
}

// One less per tree than the level needs; one unit at least, so that the level 0 is the least target with a weight.
std::uint64_t units_to_reach(double level, std::uint64_t n_used) {
    const std::uint64_t all = n_used * kWhole;
    const double needed = std::ceil(level * static_cast<double>(all));
    const std::uint64_t units = needed < static_cast<double>(all) ? static_cast<std::uint64_t>(needed) : all;
    return units > n_used ? units - n_used : 1;
}

struct Held {
    std::uint32_t rank;
    std::uint64_t share;
};

// Finds quantiles of one row after the other, in memory of its own.
class RowQuantiles {
public:
    RowQuantiles(const std::vector<TreeTargets>& trees, std::span<const double> values, const QuantileQuery& query,
                 std::span<const std::size_t> order)
        : trees_(trees), values_(values), query_(query), order_(order) {}

    void find(std::size_t row, double* out) {
        find_leaves(row);
        if (leaves_.empty()) {
            std::fill_n(out, order_.size(), std::numeric_limits<double>::quiet_NaN());
        } else if (n_held_ < values_.size() / kSortedPart) {
            sort_targets();
            walk([&](std::size_t i) { return Held{static_cast<std::uint32_t>(sorted_[i] >> 32), sorted_[i] & kLow}; },
                 out);
        } else {
            sum_targets();
            walk([&](std::size_t i) { return Held{static_cast<std::uint32_t>(i), sums_[i]}; }, out);
        }
    }

private:
    static constexpr std::uint64_t kLow = 0xffff'ffff;

    struct Leaf {
        const TreeTargets* tree;
        std::size_t begin, end;
    };

    void find_leaves(std::size_t row) {
        leaves_.clear();
        n_held_ = 0;
        for (std::size_t t = 0; t < trees_.size(); ++t) {
            const std::size_t entry = row * trees_.size() + t;
            if (!query_.use.empty() && query_.use[entry] == 0) continue;
            const TreeTargets& tree = trees_[t];
            const NodeIndex leaf = query_.leaves[entry];
            if (leaf >= tree.n_leaves()) refuse(row, t, leaf);
            if (tree.first[leaf] == tree.first[leaf + 1]) continue;
            leaves_.push_back({.tree = &tree, .begin = tree.first[leaf], .end = tree.first[leaf + 1]});
            n_held_ += leaves_.back().end - leaves_.back().begin;
        }
    }

    [[noreturn]] void refuse(std::size_t row, std::size_t t, NodeIndex leaf) const {
        throw InvalidInput("Row " + std::to_string(row) + " was given leaf " + std::to_string(leaf) + " of tree " +
                           std::to_string(t) + "; training rows reach numbers below " +
                           std::to_string(trees_[t].n_leaves()) + ".");
    }

    void sort_targets() {
        sorted_.clear();
        for (const Leaf& leaf : leaves_)
            for (std::size_t i = leaf.begin; i < leaf.end; ++i)
                sorted_.push_back(std::uint64_t{leaf.tree->rank[i]} << 32 | leaf.tree->share[i]);
        std::ranges::sort(sorted_);
    }

    void sum_targets() {
        sums_.assign(values_.size(), 0);
        for (const Leaf& leaf : leaves_)
            for (std::size_t i = leaf.begin; i < leaf.end; ++i) sums_[leaf.tree->rank[i]] += leaf.tree->share[i];
    }

    // The shares add up to what the highest level can need, so the walk ends among them.
    template <class HeldAt>
    void walk(HeldAt held_at, double* out) const {
        std::uint64_t reached = 0;
        std::size_t next = 0;
        std::uint32_t rank = 0;
        for (const std::size_t k : order_) {
            const std::uint64_t units = units_to_reach(query_.levels[k], leaves_.size());
            while (reached < units) {
                const Held held = held_at(next++);
                rank = held.rank;
                reached += held.share;
            }
            out[k] = values_[rank];
        }
    }

    const std::vector<TreeTargets>& trees_;
    std::span<const double> values_;
    const QuantileQuery& query_;
    std::span<const std::size_t> order_;
    std::vector<Leaf> leaves_;  // those that the row reaches, if they hold anything
    std::size_t n_held_ = 0;
    std::vector<std::uint64_t> sorted_;  // rank in the upper half, share in the lower
    std::vector<std::uint64_t> sums_;    // by rank
};

}  // namespace

LeafTargets::LeafTargets(std::span<const double> y, std::span<const double> weight)
    : y_(y.begin(), y.end()), weight_(weight.begin(), weight.end()), ascending_(y.size()), rank_(y.size()) {
    check_targets(y, weight);
    std::iota(ascending_.begin(), ascending_.end(), RowIndex{0});
    std::ranges::stable_sort(ascending_, {}, [&](RowIndex row) { return y[row]; });
    for (const RowIndex row : ascending_) {
        if (values_.empty() || values_.back() != y[row]) values_.push_back(y[row]);
        rank_[row] = static_cast<std::uint32_t>(values_.size() - 1);
    }
}

TreeTargets LeafTargets::by_leaf(std::span<const NodeIndex> leaves, std::span<const std::uint16_t> counts) const {
    const std::size_t n_leaves = std::size_t{*std::ranges::max_element(leaves)} + 1;
    require(n_leaves < 2 * y_.size() + 1, "A leaf has the number " + std::to_string(n_leaves - 1) + "; a tree of " +
                                              std::to_string(y_.size()) + " rows has fewer than " +
                                              std::to_string(2 * y_.size()) + " nodes.");
    const auto times = [&](RowIndex row) { return counts[row] * (weight_.empty() ? 1.0 : weight_[row]); };
    TreeTargets tree;
    tree.first.assign(n_leaves + 1, 0);
    for (RowIndex row = 0; row < y_.size(); ++row) tree.first[leaves[row] + 1] += times(row) > 0;
    std::inclusive_scan(tree.first.begin(), tree.first.end(), tree.first.begin());
    tree.rank.resize(tree.first.back());
    tree.share.resize(tree.first.back());
    std::vector<double> weight(tree.first.back());
    std::vector<std::uint32_t> next(tree.first.begin(), tree.first.end() - 1);
    for (const RowIndex row : ascending_) {
        if (!(times(row) > 0)) continue;
        const std::uint32_t at = next[leaves[row]]++;
        tree.rank[at] = rank_[row];
        weight[at] = times(row);
    }
    for (std::size_t leaf = 0; leaf < n_leaves; ++leaf) {
        const std::size_t begin = tree.first[leaf], size = tree.first[leaf + 1] - begin;
        set_shares(std::span(weight).subspan(begin, size), std::span(tree.share).subspan(begin, size));
    }
    tree.mean_leaf_size = mean_leaf_size_of(tree);
    return tree;
}

void LeafTargets::add(std::span<const NodeIndex> leaves, std::span<const std::uint16_t> counts, int n_threads,
                      StopRequest stop) {
    const std::size_t n_rows = y_.size();
    require(leaves.size() == counts.size() && leaves.size() % n_rows == 0,
            std::to_string(leaves.size()) + " leaves and " + std::to_string(counts.size()) +
                " counts were given; expected one of each for every tree and each of the " + std::to_string(n_rows) +
                " rows.");
    std::vector<TreeTargets> grown(leaves.size() / n_rows);
    require(trees_.size() + grown.size() < kMaxTrees, "There are more trees than can be counted.");
    // A few trees at a time, so that Ctrl-C is noticed on the calling thread.
    constexpr std::size_t kFew = 16;
    for (std::size_t few = 0; few < grown.size(); few += kFew) {
        stop.check();
        parallel_for(std::min(kFew, grown.size() - few), n_threads, [&](std::size_t i) {
            const std::size_t begin = (few + i) * n_rows;
            grown[few + i] = by_leaf(leaves.subspan(begin, n_rows), counts.subspan(begin, n_rows));
        });
    }
    trees_.insert(trees_.end(), std::make_move_iterator(grown.begin()), std::make_move_iterator(grown.end()));
}

void LeafTargets::add(TreeTargets tree) {
    check_tree(tree, values_.size());
    tree.mean_leaf_size = mean_leaf_size_of(tree);
    trees_.push_back(std::move(tree));
}

// How many targets a row looks at, about.
double LeafTargets::row_cost() const {
    auto held = static_cast<double>(trees_.size());
    for (const TreeTargets& tree : trees_) held += tree.mean_leaf_size;
    return 1 + held + std::min(static_cast<double>(values_.size()), kSortedPart * held);
}

void LeafTargets::quantiles(const QuantileQuery& query, std::span<double> out, int n_threads, StopRequest stop) const {
    require(!trees_.empty(), "There is no tree yet.");
    const std::size_t n_levels = query.levels.size();
    const std::size_t n_rows = query.leaves.size() / trees_.size();
    require(query.leaves.size() % trees_.size() == 0,
            std::to_string(query.leaves.size()) + " leaves were given; expected one for each row and each of the " +
                std::to_string(trees_.size()) + " trees.");
    require(query.use.empty() || query.use.size() == query.leaves.size(),
            "The trees to use and the leaves differ in number.");
    require(out.size() == n_rows * n_levels, "The array of quantiles does not fit the rows and levels.");
    const std::vector<std::size_t> order = ascending_levels(query.levels);
    const double cost = row_cost();
    const auto stripe = static_cast<std::size_t>(std::clamp(kStripeCost / cost, 16.0, 16'384.0));
    const bool small = cost * static_cast<double>(n_rows) < kCostPerThread;
    for (std::size_t first = 0; first < n_rows; first += stripe) {
        stop.check();
        parallel_ranges(std::min(stripe, n_rows - first), std::max<std::size_t>(1, stripe / 64), small ? 1 : n_threads,
                        [&](std::size_t begin, std::size_t end) {
                            RowQuantiles quantiles(trees_, values_, query, order);
                            for (std::size_t row = first + begin; row < first + end; ++row)
                                quantiles.find(row, out.data() + row * n_levels);
                        });
    }
}

}  // namespace coterie
