// tree/route_plan.hpp: the order in which kernels().routing.route evaluates the splits of a tree.
//
// What is below a split comes first, and of two sides that have splits the one with more leaves: then at most as many
// results wait for their other side as a number of leaves has bits.
#pragma once

#include <utility>
#include <vector>

#include "coterie/base/types.hpp"
#include "coterie/kernels/kernels.hpp"

namespace coterie {

/// `Splits` has is_leaf(node), left(node), code(leaf), and step(node), which is the rule of the split.
template <class Splits>
class RoutePlan {
public:
    RoutePlan(const Splits& splits, std::vector<RouteStep>& steps) : splits_(splits), steps_(steps) {}

    /// Adds the steps of what is below the node, children having higher numbers than their parents. Of a leaf there
    /// are none.
    void add(NodeIndex root, std::size_t n_nodes) {
        n_leaves_.assign(n_nodes, 1);
        for (auto node = static_cast<NodeIndex>(n_nodes); node-- > root;)
            if (!splits_.is_leaf(node))
                n_leaves_[node] = n_leaves_[splits_.left(node)] + n_leaves_[splits_.left(node) + 1];
        if (!splits_.is_leaf(root)) add_split(root);
    }

private:
    void add_split(NodeIndex node) {
        NodeIndex first = splits_.left(node);
        NodeIndex second = first + 1;
        const bool swapped = n_leaves_[second] > n_leaves_[first];
        if (swapped) std::swap(first, second);
        // Now only the second may be a leaf, unless both are.
        if (!splits_.is_leaf(first)) add_split(first);
        if (!splits_.is_leaf(second)) add_split(second);
        RouteStep step = splits_.step(node);
        if (splits_.is_leaf(first)) {
            step.way = RouteStep::Way::start;
            step.code = splits_.code(first);
            step.other = splits_.code(second);
            steps_.push_back(swapped ? step.inverted() : step);
        } else if (splits_.is_leaf(second)) {
            step.way = RouteStep::Way::attach;
            step.code = splits_.code(second);
            steps_.push_back(swapped ? step : step.inverted());
        } else {
            step.way = RouteStep::Way::join;
            steps_.push_back(swapped ? step.inverted() : step);
        }
    }

    const Splits& splits_;
    std::vector<RouteStep>& steps_;
    std::vector<std::uint32_t> n_leaves_;  // below each node
};

}  // namespace coterie
