// forest/recoding.hpp: from the codes that trees grew with to those of the thresholds that they compare with, and back.
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <vector>

#include "coterie/forest/rows.hpp"

namespace coterie {

using GrownTrees = std::span<const std::shared_ptr<PackedTree>>;

/// The codes of numbers if only those are kept that some of the trees compare with.
class Recoding {
public:
    Recoding(const ForestRows& rows, GrownTrees trees, int n_threads);

    void apply(PackedTree& tree) const;
    void apply(ForestRows& rows, int n_threads) const;
    /// Per feature; empty for nominal ones.
    std::vector<Array<double>> take_thresholds() &&;

private:
    /// Where the code of a split on a number is, or 0. Every other node is a leaf: nothing here branches on that.
    std::size_t index_of(const PackedNode& node) const {
        const bool compares = (node.condition & (PackedNode::kLeafFlag | PackedNode::kNominal)) == 0;
        return (first_[node.feature()] + node.code) & (0 - std::size_t{compares});
    }
    void keep_used(const ForestRows& rows, std::size_t feature, const std::atomic<std::uint8_t>* is_used);

    std::vector<std::vector<double>> thresholds_;  // per feature
    std::vector<std::size_t> first_;               // of each feature, in `code_`; 0 if it is nominal
    std::vector<std::uint16_t> code_;  // old code to new, one feature after the other; entry 0 belongs to no feature
};

/// The thresholds of all codes, if trees are to keep theirs; otherwise nothing. Where nodes are many, thresholds that
/// no split compares with take little memory beside them, and to find them all nodes would have to be read again.
std::vector<Array<double>> all_thresholds(const ForestRows& rows, GrownTrees trees, int n_threads);

/// The trees of a group with the codes of the rows, as they were grown. Throws InvalidInput if one compares with a
/// threshold that these rows do not have.
std::vector<std::shared_ptr<PackedTree>> with_codes_of(const ForestRows& rows, const TreeGroup& group);

}  // namespace coterie
