// tree/packed_forest.hpp: the finished trees of a forest, twelve bytes a node.
//
// Words
//   threshold  a number that some split of the forest compares with; each feature keeps its own, ascending
//   code       of a value: 1 + the number of its feature's thresholds below it; of a level: 1 + its number;
//              0 if it is missing
//   rank       of a level in one tree, which orders the levels by the targets of its own rows; 0 is missing
//   group      trees that share thresholds: those of one fit. A warm start adds a group
//
// A row goes left where its code (its rank, if the split is nominal) is at most the node's.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "coterie/base/array.hpp"
#include "coterie/tree/forest.hpp"
#include "coterie/tree/tree.hpp"

namespace coterie {

struct PackedNode {
    std::uint32_t left = 0;       // the left child, the right one is next to it; at a leaf, the row of its leaf value
    std::uint32_t condition = 0;  // the feature, and three flags
    std::uint16_t code = 0;       // the last code that goes left
    std::uint16_t share = 0;      // of the training weight that goes left, in 65535ths

    static constexpr std::uint32_t kLeafFlag = 1u << 31;
    static constexpr std::uint32_t kMissingRight = 1u << 30;
    static constexpr std::uint32_t kNominal = 1u << 29;
    static constexpr std::uint32_t kFeature = kNominal - 1;

    /// The condition of a split.
    static constexpr std::uint32_t split_on(FeatureIndex feature, bool missing_left, bool nominal) {
        return feature | (missing_left ? 0 : kMissingRight) | (nominal ? kNominal : 0);
    }

    void set_share(double of_left) {
        share = static_cast<std::uint16_t>(65535.0 * std::clamp(of_left, 0.0, 1.0) + 0.5);
    }

    bool is_leaf() const { return condition & kLeafFlag; }
    bool is_nominal() const { return condition & kNominal; }
    bool missing_left() const { return !(condition & kMissingRight); }
    FeatureIndex feature() const { return condition & kFeature; }

    /// Missing is code 0; where it goes right, one less wraps it around to the highest code.
    bool goes_left(std::uint32_t its_code) const {
        const std::uint32_t shift = condition >> 30 & 1u;
        return static_cast<std::uint16_t>(its_code - shift) <= static_cast<std::uint16_t>(code - shift);
    }
    bool operator==(const PackedNode&) const = default;
};
static_assert(sizeof(PackedNode) == 12);

/// The leaf of one row; code_of(node) is its code, or its rank, in the feature that the node splits on.
template <class CodeOf>
NodeIndex leaf_of(std::span<const PackedNode> nodes, CodeOf code_of) {
    NodeIndex at = 0;
    while (!nodes[at].is_leaf()) at = nodes[at].left + !nodes[at].goes_left(code_of(nodes[at]));
    return at;
}

/// Whether something was found to be sound; whoever finds out first says so.
class SoundMark {
public:
    SoundMark(bool sound = true) : sound_(sound) {}
    SoundMark(const SoundMark& other) : sound_(other.is_set()) {}
    SoundMark& operator=(const SoundMark& other) {
        sound_.store(other.is_set(), std::memory_order_release);
        return *this;
    }
    bool is_set() const { return sound_.load(std::memory_order_acquire); }
    void set() const { sound_.store(true, std::memory_order_release); }

private:
    mutable std::atomic<bool> sound_;
};

struct PackedTree {
    Array<PackedNode> nodes;     // root at 0
    Array<double> leaf_values;   // n_columns for each distinct leaf value
    Array<std::uint16_t> ranks;  // of the levels of nominal features, one feature after the other
    double weight = 0.0;         // of the training rows
    std::uint32_t n_rows = 0;    // distinct training rows
    SoundMark sound = {};        // not set in trees from outside that nobody has looked at yet

    std::size_t bytes() const {
        return nodes.size() * sizeof(PackedNode) + leaf_values.size() * sizeof(double) +
               ranks.size() * sizeof(ranks[0]);
    }
};

struct TreeGroup {
    std::vector<Array<double>> thresholds;  // per feature; empty for nominal ones
    std::vector<std::shared_ptr<const PackedTree>> trees;
    SoundMark sound = {};  // of the thresholds
};

struct PackedForest {
    std::size_t n_features = 0;
    std::uint32_t n_columns = 1;            // of a leaf value: outputs, or the classes of every output
    std::vector<std::int32_t> n_levels;     // per feature, 0 if it is numeric
    std::vector<std::uint32_t> first_rank;  // per feature, where its levels are in the ranks of a tree
    std::vector<TreeGroup> groups;

    PackedForest() = default;
    PackedForest(std::vector<std::int32_t> levels, std::uint32_t columns);

    std::size_t n_trees() const;
    const PackedTree& tree(std::size_t index) const;
    const TreeGroup& group_of(std::size_t index) const;
    std::size_t bytes() const;
    std::size_t n_ranks() const;

    /// What a node compares, of a row with this code in its feature.
    std::uint16_t compared(const PackedTree& tree, const PackedNode& node, std::uint16_t code) const {
        return node.is_nominal() ? tree.ranks[first_rank[node.feature()] + code] : code;
    }
};

/// Throws InvalidInput unless every node, leaf value, threshold and rank of the forest can be followed.
void validate(const PackedForest& forest);

/// What is known of a forest without reading its nodes, thresholds and ranks: whether all arrays have the right
/// lengths.
void validate_lengths(const PackedForest& forest);

/// Validates those of the trees that nobody has validated yet. All that follows trees of a forest calls this first; it
/// costs nothing the second time.
void require_sound(const PackedForest& forest, TreeRange trees = {});

/// A tree with a value, a weight and a number of rows at every node; what was rounded in packing is close, not exact.
Tree unpack(const PackedForest& forest, std::size_t index);

}  // namespace coterie
