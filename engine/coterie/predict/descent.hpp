// predict/descent.hpp: rows of codes on their way down the trees of a packed forest.
//
// Words
//   lane    one of sixteen walks that hide each other's latency: rows in one tree, or one row in several trees
//   part    a subtree of which all nodes, laid out anew in eight bytes each, have room in the second cache
//   top     the nodes above the parts of a large tree
// Steps, if the rows are many for the nodes of a tree
//   1. All rows walk the top, and are sorted by the part that they come to.
//   2. Each part is laid out, and its rows walk it. A lane that arrives takes the next row.
// Few rows walk the nodes as they are packed: laying them out would take longer.
//
// Laying out reads the packed nodes one after the other, as memory likes it. Where a forest does not stay in any cache,
// it is quicker from one row for 192 nodes on, and else from one for 12 or 24 (decision 19).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "coterie/base/buffer.hpp"
#include "coterie/tree/laid_nodes.hpp"

namespace coterie {

inline constexpr std::size_t kLanes = 16;

struct Lanes {
    std::array<const PackedNode*, kLanes> nodes;
    std::array<const std::uint16_t*, kLanes> codes;
    std::array<const std::uint16_t*, kLanes> ranks;
    std::array<std::uint32_t, kLanes> at{};
};

/// Each lane to its leaf, from where it is; a tree and a row for each. `nominal`: the forest has nominal features.
void walk_lanes(const PackedForest& forest, bool nominal, Lanes& lanes);

/// Where a node finds what it compares: a column of the codes, and what is less there than in the feature's own.
struct ComparedColumn {
    std::uint16_t column = 0;
    std::uint16_t less = 0;
};

/// The codes of n rows, row after row: a column for each feature, then others for nodes that are laid out. Where
/// missing values go right, a feature that has some is one less, and they are the highest. A nominal feature has two
/// columns: its ranks in a tree, and the same less one.
class CodedRows {
public:
    /// Takes codes feature after feature.
    void assign(const PackedForest& forest, const std::uint16_t* columns, std::size_t n);
    /// As a tree ranks them, for its laid out nodes. Cheaper than to look at every node for what kind it is.
    void rank_levels(const PackedTree& tree);

    std::size_t size() const { return n_; }
    CodesByRow codes() const { return {codes_.data(), stride_}; }
    const std::uint16_t* row(std::size_t index) const { return codes().row(index); }
    /// Two for each feature: where missing goes left, and where it goes right.
    const ComparedColumn* compared() const { return compared_.data(); }
    bool plain() const { return compared_.size() == 2 * stride_; }  // these are all the columns of the features
    bool have_room() const { return stride_ <= 65'535; }            // two bytes suffice for a column

private:
    struct Ranked {
        std::uint16_t feature;
        std::uint16_t column;
        std::uint32_t first_rank;
    };

    Buffer<std::uint16_t> codes_;
    std::size_t n_ = 0;
    std::size_t stride_ = 0;
    std::vector<ComparedColumn> compared_;
    std::vector<Ranked> ranked_;
};

/// What a walk writes for a row: the node of its leaf, or the row of the leaf value, read while the leaf is in cache.
enum class Reached : std::uint8_t { leaf, leaf_value };

/// Up to how many nodes per row it is quicker to lay them out, in a forest of so many.
std::size_t nodes_per_row(std::size_t n_nodes);

struct WalkOptions {
    Reached reached;
    std::size_t nodes_per_row;
};

/// All rows down one tree after the other. Holds the scratch of one thread.
class Descent {
public:
    /// The leaf of each row, or its leaf value.
    void walk(const PackedForest& forest, const PackedTree& tree, CodedRows& rows, std::uint32_t* leaves,
              const WalkOptions& options);

private:
    struct Task {
        const PackedForest& forest;
        const PackedTree& tree;
        const CodedRows& rows;
        std::uint32_t* leaves;
        const WalkOptions& options;
        bool nominal;

        void arrive(std::uint32_t row, NodeIndex leaf) const {
            leaves[row] = options.reached == Reached::leaf ? leaf : tree.nodes[leaf].left;
        }
        bool should_lay_out(std::size_t n_rows, std::size_t n_nodes) const;
        bool keeps_leaf_values() const;  // in the leaves that are laid out
    };
    /// Below the root of a part are the nodes [begin, end): those of a subtree lie together as trees are grown.
    struct Part {
        NodeIndex root;
        NodeIndex begin;
        NodeIndex end;

        std::size_t n_nodes() const { return end - begin + 1u; }
    };
    using Rows = std::span<const std::uint32_t>;

    void plan_parts(const Task& task);
    void sort_rows(const Task& task);
    template <bool kPlain>
    bool lay_out(const Task& task, const Part& part);
    void walk_part(const Task& task, const Part& part, Rows rows);
    void walk_laid_part(const Task& task, const Part& part, Rows rows);

    std::vector<Part> parts_;
    std::vector<Part> open_;              // one for each node of the top
    std::vector<LaidNode> top_;           // its leaves are the parts
    std::vector<std::uint32_t> part_at_;  // of each node of the top
    std::vector<std::uint32_t> part_of_;  // of each row
    std::vector<std::uint32_t> first_;    // row of each part, in `order_`
    std::vector<std::uint32_t> order_;    // rows, part after part
    Buffer<LaidNode> nodes_;              // of a part
    std::vector<std::uint32_t> ends_;     // of the rows of a part, among its nodes
};

}  // namespace coterie
