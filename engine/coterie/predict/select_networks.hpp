// predict/select_networks.hpp: trees without walks, for many rows.
//
// Words
//   network  every split of a tree is evaluated for 128 rows at once, from the deepest up, and each result picks one
//            of the two leaf codes below it (kernels: route). It costs the same whatever way the rows go
//   symmetric a tree with one split per depth, so the results of a row, as bits, are the code of its leaf
//   plane    a byte for each row of a block: where the value of a feature lies among the thresholds that the trees have
//            for it, or its level. A feature with more than 254 thresholds has several planes
//   strip    sixteen features in a row of which none has more than eight thresholds: their planes are made together
//            (kernels: map_strip)
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "coterie/base/buffer.hpp"
#include "coterie/base/column_view.hpp"
#include "coterie/binning/bin_mapper.hpp"
#include "coterie/kernels/kernels.hpp"
#include "coterie/tree/forest.hpp"

namespace coterie {

class SelectNetworks {
public:
    static constexpr std::size_t kBlockRows = 512;
    static constexpr std::size_t kMaxLeaves = 256;  // which a byte can tell apart

    /// Nothing if a tree has too many leaves.
    static std::optional<SelectNetworks> of(const std::vector<std::shared_ptr<const Tree>>& trees,
                                            std::size_t n_features);

    std::size_t n_trees() const { return is_symmetric_.size(); }
    std::size_t n_planes() const { return n_single_ + strips_.size() * kStripFeatures; }
    std::size_t n_bytes() const;

    /// The nodes of a tree's leaves, by code.
    std::span<const NodeIndex> leaves(std::size_t t) const {
        return {leaves_.data() + first_leaf_[t], leaves_.data() + first_leaf_[t + 1]};
    }

    /// Calls reach(tree, row, codes) for all trees of the range in order, and for kRouteRows rows of the block
    /// [begin, begin + n) at a time; `row` counts from begin. n is at most kBlockRows.
    template <class Reach>
    void route(const TableView& table, std::size_t begin, std::size_t n, TreeRange trees, Reach reach) const {
        thread_local Buffer<Bin> planes;
        fill_planes(planes, table, begin, n);
        std::array<std::uint8_t, kRouteRows> codes;
        for (std::size_t t = trees.begin; t < trees.end_of(n_trees()); ++t) {
            const RouteStep* const steps = steps_.data() + first_step_[t];
            const std::size_t n_steps = first_step_[t + 1] - first_step_[t];
            const auto route = is_symmetric_[t] ? kernels().routing.route_symmetric : kernels().routing.route;
            for (std::size_t row = 0; row < n; row += kRouteRows) {
                route(planes.data(), steps, n_steps, row, codes.data());
                reach(t, row, codes.data());
            }
        }
    }

private:
    class Planes;
    struct Splits;
    struct Strip {
        FeatureIndex first = 0;
        StripCuts<float> floats;
        StripCuts<double> doubles;
    };

    SelectNetworks() = default;
    RouteStep step_of(const Tree& tree, const Planes& planes, NodeIndex node);
    void add_tree(const Tree& tree, const Planes& planes);
    void map_strip(const Strip& strip, const TableView& table, std::size_t begin, std::size_t n, Bin* out) const;
    void map_strips(Bin* planes, const TableView& table, std::size_t begin, std::size_t n) const;
    void fill_planes(Buffer<Bin>& planes, const TableView& table, std::size_t begin, std::size_t n) const;

    std::size_t n_single_ = 0;            // planes before those of strips
    std::vector<FeatureIndex> features_;  // of each of these
    std::optional<BinMapper> mapper_;     // by plane
    std::vector<Strip> strips_;
    std::vector<RouteStep> steps_;
    std::vector<std::size_t> first_step_ = {0};  // of each tree, and one more
    std::vector<bool> is_symmetric_;
    std::vector<NodeIndex> leaves_;  // by code, tree after tree
    std::vector<std::size_t> first_leaf_ = {0};
    std::vector<std::unique_ptr<LevelBits>> sets_;
};

}  // namespace coterie
