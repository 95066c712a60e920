#include "coterie/forest/permutation.hpp"

#include <algorithm>
#include <numeric>

#include "coterie/base/error.hpp"
#include "coterie/base/parallel.hpp"
#include "coterie/base/random.hpp"

namespace coterie {
namespace {

// One tree, and the codes of the rows it did not see.
class TreeOnItsRows {
public:
    TreeOnItsRows(const ForestMemory& memory, const PackedForest& forest, const PackedTree& tree,
                  std::vector<RowIndex> places)
        : rows_(memory.rows), forest_(forest), tree_(tree), places_(std::move(places)), d_(rows_.n_features()) {
        codes_.resize(places_.size() * d_);
        for (std::size_t i = 0; i < places_.size(); ++i)
            for (std::size_t feature = 0; feature < d_; ++feature)
                codes_[i * d_ + feature] = rows_.code(places_[i], feature);
        is_used_.assign(d_, 0);
        for (const PackedNode& node : tree.nodes)
            if (!node.is_leaf()) is_used_[node.feature()] = 1;
        passed_.resize(places_.size());
        base_.resize(places_.size());
        for (std::size_t i = 0; i < places_.size(); ++i) {
            base_[i] = loss_at(i, walk(i, d_, 0, &passed_[i]));
            weight_ += rows_.targets.weight[places_[i]];
        }
    }

    bool splits_on(std::size_t feature) const { return is_used_[feature]; }

    // The mean increase of the loss when the rows swap their codes of a feature.
    double increase(std::size_t feature, std::uint64_t seed, std::vector<std::uint32_t>& order) const {
        const std::size_t n = places_.size();
        if (n < 2) return 0.0;
        order.resize(n);
        std::iota(order.begin(), order.end(), 0u);
        for (std::size_t i = n - 1; i > 0; --i)
            std::swap(order[i], order[random_below(seed, Purpose::feature_draw, i, static_cast<std::uint32_t>(i + 1))]);
        const std::uint64_t bit = std::uint64_t{1} << (feature % 64);
        double more = 0.0;
        for (std::size_t i = 0; i < n; ++i) {
            if (!(passed_[i] & bit)) continue;
            const std::uint16_t code = codes_[order[i] * d_ + feature];
            if (code == codes_[i * d_ + feature]) continue;
            more += rows_.targets.weight[places_[i]] * (loss_at(i, walk(i, feature, code, nullptr)) - base_[i]);
        }
        return more / weight_;
    }

private:
    NodeIndex walk(std::size_t i, std::size_t changed, std::uint16_t new_code, std::uint64_t* passed) const {
        const std::uint16_t* const row = codes_.data() + i * d_;
        std::uint64_t seen = 0;
        const NodeIndex leaf = leaf_of(tree_.nodes.view(), [&](const PackedNode& node) {
            const FeatureIndex feature = node.feature();
            seen |= std::uint64_t{1} << (feature % 64);
            return forest_.compared(tree_, node, feature == changed ? new_code : row[feature]);
        });
        if (passed != nullptr) *passed = seen;
        return leaf;
    }

    double loss_at(std::size_t i, NodeIndex leaf) const {
        return loss_of(rows_, places_[i],
                       tree_.leaf_values.data() + std::size_t{tree_.nodes[leaf].left} * forest_.n_columns);
    }

    const ForestRows& rows_;
    const PackedForest& forest_;
    const PackedTree& tree_;
    std::vector<RowIndex> places_;
    std::size_t d_;
    std::vector<std::uint16_t> codes_;
    std::vector<std::uint8_t> is_used_;
    std::vector<std::uint64_t> passed_;  // features on a row's way, by number modulo 64
    std::vector<double> base_;
    double weight_ = 0.0;
};

}  // namespace

std::vector<double> permutation_increases(const ForestMemory& memory, const PackedForest& forest,
                                          std::size_t first_tree, std::size_t n_trees, std::size_t n_repeats,
                                          std::uint64_t seed, int n_threads, StopRequest stop) {
    const ForestRows& rows = memory.rows;
    require(forest.n_levels == rows.n_levels, "The forest and its rows differ in their features.");
    const std::size_t d = rows.n_features();
    std::vector<double> increases(n_trees * d, 0.0);
    require_sound(forest, {first_tree, first_tree + n_trees});
    const auto at_once = static_cast<std::size_t>(std::max(1, n_threads));
    for (std::size_t first = 0; first < n_trees; first += at_once) {
        stop.check();
        parallel_for(std::min(at_once, n_trees - first), n_threads, [&](std::size_t i) {
            const std::size_t number = first + i;
            std::vector<std::uint16_t> counts(rows.n_places());
            memory.bags->draw(memory.first_tree + number, counts);
            std::vector<RowIndex> places;
            for (std::size_t place = 0; place < counts.size(); ++place)
                if (counts[place] == 0) places.push_back(static_cast<RowIndex>(place));
            const TreeOnItsRows tree(memory, forest, forest.tree(first_tree + number), std::move(places));
            std::vector<std::uint32_t> order;
            for (std::size_t feature = 0; feature < d; ++feature) {
                if (!tree.splits_on(feature)) continue;
                double sum = 0.0;
                for (std::size_t repeat = 0; repeat < n_repeats; ++repeat)
                    sum += tree.increase(feature, mix(mix(seed + number) + feature * n_repeats + repeat), order);
                increases[number * d + feature] = sum / static_cast<double>(n_repeats);
            }
        });
    }
    return increases;
}

std::vector<std::uint32_t> leaves_of_rows(const ForestMemory& memory, const PackedForest& forest, std::size_t index,
                                          int n_threads) {
    const ForestRows& rows = memory.rows;
    require(forest.n_levels == rows.n_levels, "The forest and its rows differ in their features.");
    require_sound(forest, {index, index + 1});
    const PackedTree& tree = forest.tree(index);
    std::vector<std::uint32_t> leaves(rows.n_places());
    parallel_ranges(rows.n_places(), 16'384, n_threads, [&](std::size_t begin, std::size_t end) {
        for (std::size_t place = begin; place < end; ++place)
            leaves[place] = leaf_of(tree.nodes.view(), [&](const PackedNode& node) {
                return forest.compared(tree, node, rows.code(place, node.feature()));
            });
    });
    return leaves;
}

}  // namespace coterie
