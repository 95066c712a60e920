// forest/node_search.hpp: what every search for the split of a node begins with: the node, its features, its codes.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "coterie/forest/node_draws.hpp"
#include "coterie/forest/rows.hpp"

namespace coterie::sums {

inline constexpr std::size_t kTinyNode = 24;  // rows that are sorted by code
inline constexpr std::size_t kTogether = 8;   // features that share a pass over the rows of a large node
inline constexpr std::size_t kAhead = 16;     // records between a prefetch and its use
inline constexpr std::size_t kFewRows = 4;    // rows up to which random thresholds are tried one by one

struct Split {
    double score = criterion::kForbidden;
    FeatureIndex feature = 0;
    std::uint32_t code = 0;  // the last that goes left; the last cell, if coarse
    std::uint32_t next = 0;  // the first cell that goes right, if coarse
    bool coarse = false;
    bool missing_left = false;

    bool found() const { return score != criterion::kForbidden; }
};

/// The rows of a node, and where their codes are.
template <class Pay>
struct NodeView {
    std::span<const Record<Pay>> records;
    const Code* codes;
    std::size_t stride;
    bool ranked;    // levels of nominal features have become ranks
    double weight;  // of all records
};

/// Codes of a node's records in one feature, in their order, as the search met them: levels have become ranks.
struct SeenCodes {
    const Code* codes = nullptr;  // none were kept
    std::size_t stride = 1;

    Code operator[](std::size_t i) const { return codes[i * stride]; }
};

template <class Pay, bool kCountRows>
class NodeSearch {
public:
    using Node = NodeView<Pay>;

    NodeSearch(const ForestRows& rows, const ForestTreeOptions& options, const PackedForest& forest)
        : rows_(rows), options_(options.tree), forest_(forest), draws_(options.tree.max_features) {
        for (const RankedFeature& feature : rows.table.features) coarse_.push_back(Coarse::of(feature.n_codes));
        for (const std::int32_t n : rows.n_levels) has_levels_ = has_levels_ || n > 0;
    }

    /// Of the feature of the split that was found last.
    SeenCodes seen() const { return seen_; }

    void start_tree(const std::uint16_t* ranks, std::uint64_t seed) {
        ranks_ = ranks;
        draws_.start_tree(seed);
    }

    NodeDraws& draws() { return draws_; }

protected:
    void begin(const Node& node, double perfect) {
        node_ = &node;
        seen_ = {};
        draws_.start_node();
        varies_ = false;
        done_ = false;
        perfect_ = rows_.targets.are_classes() ? perfect : -criterion::kForbidden;
        extent_ = Pay::kWhole ? static_cast<std::size_t>(node.weight) : node.records.size();
    }

    /// Up to `together` features at once, until one that varies was tried and enough were, or nothing can be better.
    template <class Try>
    void draw_features(std::vector<FeatureIndex>& features, std::size_t together, Try&& try_features) {
        draws_.draw_features(features, together, varies_, [&](const FeatureIndex* first, std::size_t n) {
            try_features(first, n);
            return done_;
        });
    }

    std::size_t n_rows() const { return node_->records.size(); }

    const std::uint16_t* ranks_of(FeatureIndex feature) const {
        return node_->ranked || rows_.n_levels[feature] == 0 ? nullptr : ranks_ + forest_.first_rank[feature];
    }

    // Calls visit(i, code) for every record.
    template <class Visit>
    void for_codes(FeatureIndex feature, Visit visit) const {
        const Code* const column = node_->codes + feature;
        const std::size_t stride = node_->stride;
        const std::size_t n = n_rows();
        const Record<Pay>* const records = node_->records.data();
        if (const std::uint16_t* const ranks = ranks_of(feature); ranks != nullptr) {
            for (std::size_t i = 0; i < n; ++i) visit(i, std::uint32_t{ranks[column[records[i].row * stride]]});
        } else {
            for (std::size_t i = 0; i < n; ++i) visit(i, std::uint32_t{column[records[i].row * stride]});
        }
    }

    // Random thresholds are drawn for several features at once unless rows are few, counted or not ranked yet.
    bool takes_lanes() const {
        return Pay::kWhole && !kCountRows && extent_ > kFewRows && (node_->ranked || !has_levels_);
    }

    // Both sides keep the rows and the weight that the options ask for.
    bool is_lawful(double left_weight, std::size_t n_left) const {
        if constexpr (kCountRows) {
            if (n_left < options_.min_rows_leaf || n_rows() - n_left < options_.min_rows_leaf) return false;
            return left_weight >= options_.min_weight_leaf && node_->weight - left_weight >= options_.min_weight_leaf;
        }
        return true;
    }

    // Keys are code << 32 | record.
    void sort_keys(std::size_t n) {
        if (n > kTinyNode) return std::sort(keys_.begin(), keys_.begin() + static_cast<std::ptrdiff_t>(n));
        for (std::size_t i = 1; i < n; ++i) {
            const std::uint64_t key = keys_[i];
            std::size_t hole = i;
            for (; hole > 0 && keys_[hole - 1] > key; --hole) keys_[hole] = keys_[hole - 1];
            keys_[hole] = key;
        }
    }

    // All records in the order of their codes. Returns whether these differ.
    bool sort_codes(FeatureIndex feature) {
        const std::size_t n = n_rows();
        keys_.resize(n);
        for_codes(feature, [&](std::size_t i, std::uint32_t code) { keys_[i] = std::uint64_t{code} << 32 | i; });
        sort_keys(n);
        return keys_[0] >> 32 != keys_[n - 1] >> 32;
    }

    const ForestRows& rows_;
    const CriterionOptions& options_;
    const PackedForest& forest_;
    std::vector<Coarse> coarse_;
    bool has_levels_ = false;
    const std::uint16_t* ranks_ = nullptr;
    NodeDraws draws_;

    const Node* node_ = nullptr;
    SeenCodes seen_;
    // Rows with their copies: what the way of the search may depend on, so that a weight is so many equal rows.
    std::size_t extent_ = 0;
    bool varies_ = false;   // some feature that was tried does
    bool done_ = false;     // nothing can be better
    double perfect_ = 0.0;  // the score of a split that parts the classes
    std::vector<std::uint64_t> keys_;
};

}  // namespace coterie::sums
