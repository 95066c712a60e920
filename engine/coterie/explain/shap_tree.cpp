#include "coterie/explain/shap_tree.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <span>

namespace coterie {
namespace {

constexpr std::size_t kTableNumbers = 60'000;  // of a tree whose tables are made: they should stay in a cache

/// Points and weights of Gauss and Legendre on [0, 1], by Newton's method on the polynomial.
template <std::size_t kPoints>
struct Quadrature {
    std::array<double, kPoints> at;
    std::array<double, kPoints> weight;

    Quadrature() {
        constexpr double n = static_cast<double>(kPoints);
        for (std::size_t i = 0; i < kPoints; ++i) {
            double x = std::cos(std::numbers::pi * (static_cast<double>(i) + 0.75) / (n + 0.5));
            double slope = 1.0;
            for (int step = 0; step < 100; ++step) {
                double now = 1.0;
                double last = 0.0;
                for (std::size_t k = 0; k < kPoints; ++k) {
                    const double order = static_cast<double>(k);
                    const double next = ((2.0 * order + 1.0) * x * now - order * last) / (order + 1.0);
                    last = now;
                    now = next;
                }
                slope = n * (x * now - last) / (x * x - 1.0);
                const double move = now / slope;
                x -= move;
                if (std::fabs(move) < 1e-16) break;
            }
            at[i] = (1.0 - x) / 2.0;
            weight[i] = 1.0 / ((1.0 - x * x) * slope * slope);
        }
    }
};

template <std::size_t kPoints>
ShapPoints points_of() {
    static const Quadrature<kPoints> quadrature;
    return {kPoints, quadrature.at.data(), quadrature.weight.data()};
}

// n points are exact for 2 n features on a path, and 32 are as good as exact for more.
ShapPoints points_for(std::size_t n_features) {
    return n_features <= 8    ? points_of<4>()
           : n_features <= 16 ? points_of<8>()
           : n_features <= 32 ? points_of<16>()
                              : points_of<32>();
}

}  // namespace

PreparedTree::PreparedTree(std::shared_ptr<const Tree> tree, std::size_t first_output, bool for_pairs)
    : tree_(std::move(tree)), first_output_(first_output) {
    const Tree& own = *tree_;
    value_.assign(own.value.size(), 0.0);
    for (NodeIndex node = 0; node < own.n_nodes(); ++node)
        if (own.is_leaf(node)) std::ranges::copy(own.values_of(node), value_.begin() + node * own.n_outputs);
    find_shares();
    if (for_pairs) find_paths();
    if (2 * 3 * own.n_nodes() * points_.n > kTableNumbers) return;
    ratio_.resize(3 * own.n_nodes() * points_.n);
    factor_.resize(ratio_.size());
    kernels().shap.tables(view(), ratio_.data(), factor_.data());
}

void PreparedTree::find_shares() {
    const Tree& own = *tree_;
    const std::size_t n = own.n_nodes();
    parent_.assign(n, 0);
    feature_.assign(n, 0);
    share_.assign(n, 1.0);
    share_before_.assign(n, 1.0);
    for (NodeIndex node = 0; node < n; ++node)
        if (!own.is_leaf(node)) features_.push_back(static_cast<FeatureIndex>(own.feature[node]));
    std::ranges::sort(features_);
    features_.erase(std::unique(features_.begin(), features_.end()), features_.end());

    std::vector<std::uint32_t> n_on_path(n, 0);
    std::vector<double> mass(n, 1.0);
    std::uint32_t most = 0;
    expected_.assign(own.n_outputs, 0.0);
    for (NodeIndex node = 0; node < n; ++node) {
        if (own.is_leaf(node)) {
            for (std::size_t k = 0; k < own.n_outputs; ++k) expected_[k] += mass[node] * own.values_of(node)[k];
            continue;
        }
        const auto found = std::ranges::lower_bound(features_, static_cast<FeatureIndex>(own.feature[node]));
        const auto feature = static_cast<std::uint32_t>(found - features_.begin());
        std::uint32_t before = node;
        while (before != 0 && feature_[before] != feature) before = parent_[before];
        splits_.push_back({.threshold = own.threshold[node],
                           .node = node,
                           .feature = static_cast<std::uint32_t>(own.feature[node]),
                           .left = own.left[node],
                           .before = before,
                           .missing_left = own.missing_left[node] != 0,
                           .by_levels = own.levels[node] >= 0});
        const double left = own.cover[own.left[node]];
        const double both = left + own.cover[own.left[node] + 1];
        for (const NodeIndex child : {own.left[node], own.left[node] + 1}) {
            // Without rows, either way is as good.
            const double part = both > 0.0 ? own.cover[child] / both : 0.5;
            parent_[child] = node;
            feature_[child] = feature;
            share_before_[child] = before == 0 ? 1.0 : share_[before];
            share_[child] = share_before_[child] * part;
            mass[child] = mass[node] * part;
            n_on_path[child] = n_on_path[node] + (before == 0);
            most = std::max(most, n_on_path[child]);
        }
    }
    points_ = points_for(most);
}

void PreparedTree::find_paths() {
    const Tree& own = *tree_;
    first_of_path_.push_back(0);
    std::vector<std::uint8_t> seen(features_.size(), 0);
    for (NodeIndex node = 0; node < own.n_nodes(); ++node) {
        if (!own.is_leaf(node)) continue;
        leaf_.push_back(node);
        for (std::uint32_t at = node; at != 0; at = parent_[at])
            if (!seen[feature_[at]]) {
                seen[feature_[at]] = 1;
                path_.push_back(at);
            }
        for (std::size_t i = first_of_path_.back(); i < path_.size(); ++i) seen[feature_[path_[i]]] = 0;
        first_of_path_.push_back(path_.size());
    }
}

std::size_t PreparedTree::n_bytes() const {
    return (ratio_.size() + factor_.size() + 3 * share_.size() + value_.size()) * sizeof(double) +
           (2 * parent_.size() + path_.size()) * sizeof(std::uint32_t) + splits_.size() * sizeof(Split) +
           first_of_path_.size() * sizeof(std::size_t);
}

ShapTree PreparedTree::view() const {
    return {.n_nodes = parent_.size(),
            .n_outputs = tree_->n_outputs,
            .n_features = features_.size(),
            .points = points_,
            .parent = parent_.data(),
            .feature = feature_.data(),
            .share = share_.data(),
            .share_before = share_before_.data(),
            .value = value_.data(),
            .ratio = factor_.empty() ? nullptr : ratio_.data(),
            .factor = factor_.empty() ? nullptr : factor_.data(),
            .n_leaves = leaf_.size(),
            .leaf = leaf_.data(),
            .path = path_.data(),
            .first_of_path = first_of_path_.data()};
}

void PreparedTree::find_ways(const double* values, std::uint8_t* ways) const {
    ways[0] = 0;
    for (const Split& split : splits_) {
        const double value = values[split.feature];
        bool left = (value <= split.threshold) | ((value != value) & split.missing_left);
        if (split.by_levels) left = goes_left(*tree_, split.node, value);
        const bool failed = ways[split.before] != 0;
        ways[split.left] = static_cast<std::uint8_t>(2 * failed | (!failed & !left));
        ways[split.left + 1] = static_cast<std::uint8_t>(2 * failed | (!failed & left));
    }
}

}  // namespace coterie
