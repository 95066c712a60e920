// predict/walkers.hpp: trees as arrays of steps, for a few rows, for very large trees, and for forests of few trees.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "coterie/tree/forest.hpp"

namespace coterie {

class Walkers {
public:
    explicit Walkers(const std::vector<std::shared_ptr<const Tree>>& trees);

    /// Calls reach(tree, row, leaf) for every row and every tree of the range, for each row in the order of the trees.
    /// `rows` is row-major.
    template <class Reach>
    void walk(const double* rows, std::size_t n_rows, std::size_t width, TreeRange range, Reach reach) const {
        const std::size_t end = range.end_of(trees_.size());
        if (n_rows < kLanes) {
            for (std::size_t row = 0; row < n_rows; ++row)
                walk_trees(rows + row * width, row, {range.begin, end}, reach);
            return;
        }
        std::array<NodeIndex, kLanes> nodes;
        for (std::size_t t = range.begin; t < end; ++t) {
            std::size_t row = 0;
            if (trees_[t].is_plain)
                for (; row + kLanes <= n_rows; row += kLanes) {
                    walk_rows(trees_[t], rows + row * width, width, nodes);
                    for (std::size_t lane = 0; lane < kLanes; ++lane) reach(t, row + lane, nodes[lane]);
                }
            for (; row < n_rows; ++row) reach(t, row, walk_one(trees_[t], rows + row * width));
        }
    }

    std::size_t n_bytes() const { return steps_.capacity() * sizeof(Step) + trees_.capacity() * sizeof(WalkedTree); }

private:
    static constexpr std::size_t kLanes = 8;        // walks that hide each other's latency
    static constexpr std::uint32_t kMaxPlain = 64;  // depth of a tree that rows walk in step

    // A leaf points to itself, so that a lane may keep stepping.
    struct Step {
        double threshold;
        std::uint32_t feature;
        std::uint32_t left;   // counted from the first step of the tree
        std::int32_t levels;  // of a nominal split: which set, else -1
        std::uint8_t missing_left;
        std::uint8_t is_leaf;
    };
    struct WalkedTree {
        const Tree* tree;
        std::size_t first_step;
        std::uint32_t depth;
        bool is_plain;  // only numeric splits, and not too deep: no branch depends on the data
    };

    static bool passes(const Step& step, double value) {
        return (value <= step.threshold) | ((value != value) & (step.missing_left != 0));
    }

    NodeIndex walk_one(const WalkedTree& walked, const double* row) const {
        const Step* const steps = steps_.data() + walked.first_step;
        NodeIndex node = 0;
        while (!steps[node].is_leaf) {
            const Step& step = steps[node];
            const double value = row[step.feature];
            bool left = passes(step, value);
            if (step.levels >= 0)  // a code that is no level counts as missing
                left = value >= 0 && value < kMaxBins - 1
                           ? walked.tree->level_goes_left(step.levels, static_cast<std::uint32_t>(value))
                           : step.missing_left != 0;
            node = step.left + !left;
        }
        return node;
    }

    // One tree, several rows.
    void walk_rows(const WalkedTree& walked, const double* rows, std::size_t width,
                   std::array<NodeIndex, kLanes>& nodes) const {
        nodes.fill(0);
        const Step* const steps = steps_.data() + walked.first_step;
        for (std::uint32_t at_depth = 0; at_depth < walked.depth; ++at_depth)
            for (std::size_t lane = 0; lane < kLanes; ++lane) {
                const Step& step = steps[nodes[lane]];
                nodes[lane] = step.left + !passes(step, rows[lane * width + step.feature]);
            }
    }

    // One row, several trees.
    template <class Reach>
    void walk_trees(const double* row, std::size_t number, TreeRange range, Reach reach) const {
        std::size_t t = range.begin;
        for (; t + kLanes <= range.end; t += kLanes) {
            std::uint32_t depth = 0;
            bool plain = true;
            for (std::size_t lane = 0; lane < kLanes; ++lane) {
                depth = std::max(depth, trees_[t + lane].depth);
                plain = plain && trees_[t + lane].is_plain;
            }
            if (!plain) {
                for (std::size_t lane = 0; lane < kLanes; ++lane)
                    reach(t + lane, number, walk_one(trees_[t + lane], row));
                continue;
            }
            std::array<NodeIndex, kLanes> nodes{};
            std::array<const Step*, kLanes> steps;
            for (std::size_t lane = 0; lane < kLanes; ++lane) steps[lane] = steps_.data() + trees_[t + lane].first_step;
            for (std::uint32_t at_depth = 0; at_depth < depth; ++at_depth)
                for (std::size_t lane = 0; lane < kLanes; ++lane) {
                    const Step& step = steps[lane][nodes[lane]];
                    nodes[lane] = step.left + !passes(step, row[step.feature]);
                }
            for (std::size_t lane = 0; lane < kLanes; ++lane) reach(t + lane, number, nodes[lane]);
        }
        for (; t < range.end; ++t) reach(t, number, walk_one(trees_[t], row));
    }

    std::vector<Step> steps_;
    std::vector<WalkedTree> trees_;
};

}  // namespace coterie
