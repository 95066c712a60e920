// forest/out_rows.hpp: rows out of the bag go the way of the others, and find their leaves while the tree grows.
//
// Above a few thousand rows they are parted at every split; a smaller subtree they walk when it is done.
#pragma once

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

#include "coterie/forest/rows.hpp"

namespace coterie::sums {

class OutRows {
public:
    OutRows(const ForestRows& rows, const PackedForest& forest) : rows_(rows), forest_(forest) {}

    void start_tree(const Bag& bag) {
        bag_ = &bag;
        order_.resize(bag.out.size());
        twin_.resize(bag.out.size());
        std::iota(order_.begin(), order_.end(), 0u);
    }

    /// Returns where the right side begins. `ranks` are those of a nominal feature, or null.
    std::size_t part(std::size_t begin, std::size_t end, const PackedNode& rule, const std::uint16_t* ranks) {
        constexpr std::size_t kAhead = 16;  // rows between a fetch and its use
        std::uint32_t* left = order_.data() + begin;
        std::uint32_t* right = twin_.data();
        const FeatureIndex feature = rule.feature();
        for (std::size_t i = begin; i < end; ++i) {
            const std::uint32_t index = order_[i];
            if (i + kAhead < end) __builtin_prefetch(rows_.table.row(bag_->out[order_[i + kAhead]]) + feature);
            const Code code = rows_.table.row(bag_->out[index])[feature];
            const bool goes_left = rule.goes_left(ranks == nullptr ? code : ranks[code]);
            *left = index;
            *right = index;
            left += goes_left;
            right += !goes_left;
        }
        std::copy(twin_.data(), right, left);
        return static_cast<std::size_t>(left - order_.data());
    }

    /// All end here.
    void settle(std::size_t begin, std::size_t end, NodeIndex leaf, Sapling& tree) const {
        for (std::size_t i = begin; i < end; ++i) tree.out_leaf[order_[i]] = leaf;
    }

    /// From a node whose subtree is complete.
    void walk(std::size_t begin, std::size_t end, NodeIndex from, Sapling& tree) const {
        constexpr std::size_t kLanes = 8;
        const PackedNode* const nodes = tree.nodes.data();
        for (std::size_t first = begin; first < end; first += kLanes) {
            const std::size_t n = std::min(kLanes, end - first);
            std::array<NodeIndex, kLanes> at;
            std::array<const Code*, kLanes> row;
            for (std::size_t k = 0; k < kLanes; ++k) {
                at[k] = from;
                row[k] = rows_.table.row(bag_->out[order_[first + std::min(k, n - 1)]]);
                __builtin_prefetch(row[k]);
            }
            for (bool moved = true; moved;) {
                moved = false;
                for (std::size_t k = 0; k < kLanes; ++k) {
                    const PackedNode& node = nodes[at[k]];
                    if (node.is_leaf()) continue;
                    moved = true;
                    const FeatureIndex feature = node.feature();
                    std::uint32_t code = row[k][feature];
                    if (node.is_nominal()) code = tree.ranks[forest_.first_rank[feature] + code];
                    at[k] = node.left + !node.goes_left(code);
                }
            }
            for (std::size_t k = 0; k < n; ++k) tree.out_leaf[order_[first + k]] = at[k];
        }
    }

private:
    const ForestRows& rows_;
    const PackedForest& forest_;
    const Bag* bag_ = nullptr;
    std::vector<std::uint32_t> order_;  // numbers of rows in Bag::out
    std::vector<std::uint32_t> twin_;
};

}  // namespace coterie::sums
