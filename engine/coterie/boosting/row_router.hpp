// boosting/row_router.hpp: the leaf that each row of the matrix reaches, also rows that the tree did not see.
//
// In a tree of few leaves no row walks: every split is evaluated for 128 rows at once, from the deepest up, and each
// result picks one of the two codes below it (kernels: route, tree/route_plan.hpp). Larger trees are walked, several
// rows side by side.
#pragma once

#include <span>
#include <vector>

#include "coterie/base/buffer.hpp"
#include "coterie/binning/binned_matrix.hpp"
#include "coterie/split/best_split.hpp"
#include "coterie/tree/tree.hpp"

namespace coterie {

class RowRouter {
public:
    explicit RowRouter(const BinnedMatrix& matrix) : matrix_(matrix) {}

    void clear();

    /// Adds a split; nodes come in the order in which they were split.
    void add(NodeIndex node, const Split& split, NodeIndex left);

    /// Follows a tree of which only a part was kept; `new_index` is where the rows of each old node are.
    void keep(const Tree& kept, std::span<const NodeIndex> new_index);

    /// Numbers the leaves in the order of their nodes; call it once all splits are added.
    void finish(NodeIndex n_nodes);

    std::span<const NodeIndex> leaves() const { return leaves_; }

    /// The leaf, by its number, of each row in [begin, begin + codes.size()).
    void route(std::size_t begin, std::span<std::uint32_t> codes) const;

private:
    struct Stop {
        const Bin* column = nullptr;
        NodeIndex left = 0;     // of a leaf: the leaf itself, and every bin passes
        std::int32_t set = -1;  // of nominal splits: in sets_
        Bin last = 255;
        Bin shift = 0;
    };
    struct LevelTable {
        std::array<Bin, kMaxBins> goes_left;
        LevelBits set;
    };

    struct Splits;

    void route_by_network(std::size_t begin, std::span<std::uint32_t> codes) const;
    void route_by_walk(std::size_t begin, std::span<std::uint32_t> codes) const;

    const BinnedMatrix& matrix_;
    std::vector<Stop> stops_;           // by node
    std::vector<std::uint32_t> codes_;  // by node: the leaf's number
    std::vector<LevelTable> sets_;
    std::vector<NodeIndex> leaves_;
    std::vector<RouteStep> steps_;
};

/// The leaf of each row of the matrix, by its number.
class LeafOfRow {
public:
    void clear();

    /// Routes all rows of the matrix.
    void route(const RowRouter& router, std::size_t n_rows, int n_threads);

    std::size_t size() const { return n_rows_; }
    std::size_t n_leaves() const { return n_leaves_; }
    std::size_t operator[](std::size_t row) const { return narrow_.empty() ? wide_[row] : narrow_[row]; }

private:
    std::size_t n_rows_ = 0;
    std::size_t n_leaves_ = 0;
    Buffer<std::uint16_t> narrow_;  // if there are few enough leaves
    Buffer<std::uint32_t> wide_;
};

}  // namespace coterie
