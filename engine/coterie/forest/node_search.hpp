// forest/node_search.hpp: what every search for the split of a node begins with: the node, its features, its codes.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "coterie/base/buffer.hpp"
#include "coterie/base/prefetch.hpp"
#include "coterie/forest/node_draws.hpp"
#include "coterie/forest/rows.hpp"

namespace coterie::sums {

inline constexpr std::size_t kTinyNode = 24;  // rows that are sorted by code
inline constexpr std::size_t kTogether = 8;   // features that share a pass over the rows of a large node
inline constexpr std::size_t kAhead = 16;     // records between a prefetch and its use
inline constexpr std::size_t kFewRows = 4;    // rows up to which random thresholds are tried one by one
static_assert(kTogether == 8);                // as for_cells counts

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
template <class Statistic>
struct NodeView {
    std::span<const Record<Statistic>> records;
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

/// Memory for the codes of the features that are tried, elsewhere than those of the best so far.
class SeenBuffers {
public:
    Code* room(std::size_t n_codes, const SeenCodes& best) {
        filled_ = best.codes != nullptr && kept_ == 0 ? 1 : 0;
        Buffer<Code>& own = buffers_[filled_];
        if (own.size() < n_codes) own.resize(n_codes);
        return own.data();
    }
    void keep() { kept_ = filled_; }

private:
    std::array<Buffer<Code>, 2> buffers_;
    std::size_t filled_ = 0;
    std::size_t kept_ = 0;
};

template <class Statistic, bool kCountRows>
class NodeSearch {
public:
    using Node = NodeView<Statistic>;

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
        best_ = {};
        seen_ = {};
        draws_.start_node();
        varies_ = false;
        done_ = false;
        perfect_ = rows_.targets.are_classes() ? perfect : -criterion::kForbidden;
        extent_ = Statistic::kWhole ? static_cast<std::size_t>(node.weight) : node.records.size();
    }

    /// Up to `together` features at once, until one that varies was tried and enough were, or nothing can be better.
    template <class Try>
    void draw_features(std::vector<FeatureIndex>& features, std::size_t together, Try&& try_features) {
        draws_.draw_features(features, together, varies_, [&](const FeatureIndex* first, std::size_t n) {
            try_features(first, n);
            return done_;
        });
    }

    void take(double score, FeatureIndex feature, std::uint32_t code, bool missing_left) {
        best_ = {.score = score, .feature = feature, .code = code, .missing_left = missing_left};
        done_ = score >= perfect_ || extent_ == 2;
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
        const Record<Statistic>* const records = node_->records.data();
        if (const std::uint16_t* const ranks = ranks_of(feature); ranks != nullptr) {
            for (std::size_t i = 0; i < n; ++i) visit(i, std::uint32_t{ranks[column[records[i].row * stride]]});
        } else {
            for (std::size_t i = 0; i < n; ++i) visit(i, std::uint32_t{column[records[i].row * stride]});
        }
    }

    // Calls add(cell, record) for every record and up to kTogether features, whose cells are kColumnCells apart.
    template <class Add>
    void for_cells(const FeatureIndex* features, std::size_t n, Add add) const {
        switch (n) {
            case 1: return for_cells_of<1>(features, add);
            case 2: return for_cells_of<2>(features, add);
            case 3: return for_cells_of<3>(features, add);
            case 4: return for_cells_of<4>(features, add);
            case 5: return for_cells_of<5>(features, add);
            case 6: return for_cells_of<6>(features, add);
            case 7: return for_cells_of<7>(features, add);
            default: return for_cells_of<8>(features, add);
        }
    }

    // The best cut lies between two cells: the keys of the codes of both, in their order. Calls see(i, code, is_near)
    // for every record. Nothing here branches on what is near.
    template <class See>
    void sort_near(const Split& rough, See see) {
        const Coarse coarse = coarse_[rough.feature];
        const std::uint32_t from = coarse.first(rough.code);
        const std::uint32_t reach = coarse.last(rough.next) - from;
        keys_.resize(n_rows() + 1);
        std::size_t n_near = 0;
        const auto look = [&](std::size_t i, std::uint32_t code) {
            const bool is_near = code - from <= reach;
            see(i, code, is_near);
            keys_[n_near] = std::uint64_t{code} << 32 | i;
            n_near += is_near;
        };
        if (seen_.codes == nullptr)
            for_codes(rough.feature, look);
        else
            for (std::size_t i = 0; i < n_rows(); ++i) look(i, seen_[i]);
        keys_.resize(n_near);
        std::sort(keys_.begin(), keys_.end());
    }

    // No cut near the rough one is valid: only rounding, of weights that are no whole numbers, can lead here.
    void fall_back_on(const Split& rough) {
        best_ = rough;
        best_.code = coarse_[rough.feature].last(rough.code);
        best_.coarse = false;
    }

    // Random thresholds are drawn for several features at once unless rows are few, counted or not ranked yet.
    bool takes_lanes() const {
        return Statistic::kWhole && !kCountRows && extent_ > kFewRows && (node_->ranked || !has_levels_);
    }

    // Both sides keep the rows and the weight that the options require.
    bool is_valid(double left_weight, std::size_t n_left) const {
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

private:
    template <std::size_t kFeatures, class Add>
    void for_cells_of(const FeatureIndex* features, Add add) const {
        std::array<Coarse, kFeatures> coarse;
        std::array<FeatureIndex, kFeatures> column;
        std::array<const std::uint16_t*, kFeatures> ranks{};
        bool ranked = false;
        for (std::size_t k = 0; k < kFeatures; ++k) {
            coarse[k] = coarse_[features[k]];
            column[k] = features[k];
            ranks[k] = ranks_of(features[k]);
            ranked = ranked || ranks[k] != nullptr;
        }
        const Code* const base = node_->codes;
        const std::size_t stride = node_->stride;
        const Record<Statistic>* const records = node_->records.data();
        const std::size_t n = n_rows();
        for (std::size_t i = 0; i < n; ++i) {
            const Record<Statistic> record = records[i];
            if (i + kAhead < n) prefetch(base + records[i + kAhead].row * stride + column[0]);
            const Code* const row = base + record.row * stride;
            for (std::size_t k = 0; k < kFeatures; ++k) {
                std::uint32_t code = row[column[k]];
                if (ranked && ranks[k] != nullptr) code = ranks[k][code];
                add(kColumnCells * k + coarse[k](code), record.statistic);
            }
        }
    }

protected:
    const ForestRows& rows_;
    const CriterionOptions& options_;
    const PackedForest& forest_;
    std::vector<Coarse> coarse_;
    bool has_levels_ = false;
    const std::uint16_t* ranks_ = nullptr;
    NodeDraws draws_;

    const Node* node_ = nullptr;
    Split best_;
    SeenCodes seen_;
    // Rows with their copies: what the way of the search may depend on, so that a weight is so many equal rows.
    std::size_t extent_ = 0;
    bool varies_ = false;   // some feature that was tried does
    bool done_ = false;     // nothing can be better
    double perfect_ = 0.0;  // the score of a split that parts the classes
    std::vector<std::uint64_t> keys_;
};

}  // namespace coterie::sums
