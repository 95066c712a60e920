#include "coterie/predict/descent.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace coterie {
namespace {

constexpr std::size_t kBundle = 16;                         // rows that are not parted any further before they walk
constexpr std::size_t kBlockBytes = std::size_t{48} << 10;  // of codes that are copied side by side
constexpr std::size_t kMostRowBytes = 512;                  // of a row that is worth copying
constexpr std::size_t kAhead = 16;                          // rows that are fetched before they are read
constexpr std::size_t kFewRows = 512;                       // that are not worth parting

// Lanes that have arrived stay. No branch depends on the data. One tree: the nodes of lane 0 are
// those of all.
template <bool kOneTree, bool kNominal>
void walk_lanes(const PackedForest& forest, Lanes& lanes) {
    std::array<std::uint32_t, kLanes> at = lanes.at;
    const PackedNode* const nodes = lanes.nodes[0];
    for (std::uint32_t flags = 0; flags == 0;) {
        for (int i = 0; i < (kNominal ? 2 : 4); ++i) {
            flags = PackedNode::kLeafFlag;
            for (std::size_t k = 0; k < kLanes; ++k) {
                const PackedNode& node = (kOneTree ? nodes : lanes.nodes[k])[at[k]];
                const std::uint32_t what = node.what;
                const FeatureIndex feature = what & PackedNode::kFeature;
                std::uint32_t code = lanes.codes[k][feature];
                if constexpr (kNominal) {
                    const bool nominal = what & PackedNode::kNominal;
                    const std::uint32_t rank = lanes.ranks[k][nominal ? forest.first_rank[feature] + code : 0];
                    code = nominal ? rank : code;
                }
                const std::uint32_t next = node.left + !node.goes_left(code);
                const std::uint32_t stays = ~((what >> 31) - 1);  // all bits at a leaf, none elsewhere
                at[k] = (at[k] & stays) | (next & ~stays);
                flags &= what;
            }
        }
    }
    lanes.at = at;
}

}  // namespace

void walk_lanes(const PackedForest& forest, bool nominal, Lanes& lanes) {
    if (nominal)
        walk_lanes<false, true>(forest, lanes);
    else
        walk_lanes<false, false>(forest, lanes);
}

// Stable on both sides. Returns where the right side begins.
std::uint32_t Descent::part(const Place& place, const Bundle bundle, const CodeView& codes, std::uint32_t* rows) {
    const PackedNode node = place.tree.nodes[bundle.node];
    __builtin_prefetch(&place.tree.nodes[node.left]);
    const std::size_t stride = codes.row_stride;
    const std::uint16_t* const column = codes.data + node.feature() * codes.column_stride;
    const std::uint16_t* const ranks =
        node.is_nominal() ? place.tree.ranks.data() + place.forest.first_rank[node.feature()] : nullptr;
    std::uint32_t* left = rows + bundle.begin;
    std::uint32_t* right = twin_.data();
    for (std::uint32_t i = bundle.begin; i < bundle.end; ++i) {
        const std::uint32_t row = rows[i];
        const std::uint16_t code = column[row * stride];
        const bool goes_left = node.goes_left(ranks == nullptr ? code : ranks[code]);
        *left = row;
        *right = row;
        left += goes_left;
        right += !goes_left;
    }
    std::copy(twin_.data(), right, left);
    return static_cast<std::uint32_t>(left - rows);
}

// n rows of codes from a node to their leaves.
void Descent::settle(const Place& place, NodeIndex node, const std::uint16_t* codes, std::size_t n) {
    const std::size_t stride = place.forest.n_features;
    const CodeView view{codes, stride, 1};
    std::iota(local_.begin(), local_.begin() + static_cast<std::ptrdiff_t>(n), 0u);
    const auto nodes = place.tree.nodes.view();
    const bool large = nodes.size() >= kLargeTree && n > kFewRows / 4;
    local_open_.assign(1, {node, 0, static_cast<std::uint32_t>(n)});
    while (!local_open_.empty()) {
        const Bundle bundle = local_open_.back();
        local_open_.pop_back();
        if (!large || nodes[bundle.node].is_leaf() || bundle.size() <= kBundle) {
            std::fill(at_.begin() + bundle.begin, at_.begin() + bundle.end, bundle.node);
            continue;
        }
        const std::uint32_t middle = part(place, bundle, view, local_.data());
        const NodeIndex left = nodes[bundle.node].left;
        if (middle < bundle.end) local_open_.push_back({left + 1, middle, bundle.end});
        if (bundle.begin < middle) local_open_.push_back({left, bundle.begin, middle});
    }
    Lanes lanes;
    lanes.nodes[0] = nodes.data();
    lanes.ranks.fill(place.tree.ranks.data());
    for (std::size_t first = 0; first < n; first += kLanes) {
        const std::size_t n_lanes = std::min(kLanes, n - first);
        for (std::size_t k = 0; k < kLanes; ++k) {
            const std::size_t lane = first + std::min(k, n_lanes - 1);
            lanes.codes[k] = codes + local_[lane] * stride;
            lanes.at[k] = at_[lane];
        }
        if (place.nominal)
            walk_lanes<true, true>(place.forest, lanes);
        else
            walk_lanes<true, false>(place.forest, lanes);
        for (std::size_t k = 0; k < n_lanes; ++k) leaf_[local_[first + k]] = place.said_by(lanes.at[k]);
    }
}

void Descent::walk(const PackedForest& forest, const PackedTree& tree, const RowCodes& rows, std::size_t n,
                   std::uint32_t* leaves, Reached reached) {
    const std::uint16_t* const codes = rows.by_row;
    const CodeView view{rows.by_column, 1, n};
    const Place place{forest, tree, reached, forest.n_ranks() > 0};
    const std::size_t stride = forest.n_features;
    const std::size_t row_bytes = stride * sizeof(std::uint16_t);
    if (twin_.size() < n) {
        for (auto* scratch : {&rows_, &local_, &at_, &twin_, &leaf_}) scratch->resize(n);
    }
    const std::size_t block_rows = std::max<std::size_t>(kLanes, kBlockBytes / std::max<std::size_t>(1, row_bytes));
    if (tree.nodes.size() < kLargeTree || row_bytes > kMostRowBytes || n <= std::max(block_rows, kFewRows)) {
        settle(place, 0, codes, n);
        std::copy_n(leaf_.begin(), n, leaves);
        return;
    }
    block_.resize(block_rows * stride);
    std::iota(rows_.begin(), rows_.begin() + static_cast<std::ptrdiff_t>(n), 0u);
    open_.assign(1, {0, 0, static_cast<std::uint32_t>(n)});
    while (!open_.empty()) {
        const Bundle bundle = open_.back();
        open_.pop_back();
        const PackedNode& node = tree.nodes[bundle.node];
        if (node.is_leaf()) {
            for (std::uint32_t i = bundle.begin; i < bundle.end; ++i) leaves[rows_[i]] = place.said_by(bundle.node);
            continue;
        }
        if (bundle.size() > block_rows) {
            const std::uint32_t middle = part(place, bundle, view, rows_.data());
            if (middle < bundle.end) open_.push_back({node.left + 1, middle, bundle.end});
            if (bundle.begin < middle) open_.push_back({node.left, bundle.begin, middle});
            continue;
        }
        for (std::uint32_t i = bundle.begin; i < bundle.end; ++i) {
            if (i + kAhead < bundle.end) __builtin_prefetch(codes + rows_[i + kAhead] * stride);
            std::memcpy(block_.data() + (i - bundle.begin) * stride, codes + rows_[i] * stride, row_bytes);
        }
        settle(place, bundle.node, block_.data(), bundle.size());
        for (std::uint32_t i = bundle.begin; i < bundle.end; ++i) leaves[rows_[i]] = leaf_[i - bundle.begin];
    }
}

}  // namespace coterie
