#include "coterie/boosting/row_router.hpp"

#include <algorithm>

#include "coterie/base/parallel.hpp"
#include "coterie/tree/route_plan.hpp"

namespace coterie {
namespace {

constexpr std::size_t kMaxLeavesOfNetwork = 256;  // which a byte can tell apart
constexpr std::size_t kSideBySide = 16;
constexpr std::size_t kChunk = 16'384;
constexpr std::size_t kBlock = 1'024;
constexpr std::size_t kMaxNarrowLeaves = 65'536;  // which two bytes can tell apart

}  // namespace

struct RowRouter::Splits {
    const RowRouter& router;

    bool is_leaf(NodeIndex node) const { return router.stops_[node].left == node; }
    NodeIndex left(NodeIndex node) const { return router.stops_[node].left; }
    std::uint8_t code(NodeIndex leaf) const { return static_cast<std::uint8_t>(router.codes_[leaf]); }
    RouteStep step(NodeIndex node) const {
        const Stop& stop = router.stops_[node];
        return {.column = static_cast<std::size_t>(stop.column - router.matrix_.column(0)),
                .set = stop.set < 0 ? nullptr : router.sets_[static_cast<std::size_t>(stop.set)].set.bits,
                .shift = stop.shift,
                .span = static_cast<Bin>(stop.last - stop.shift)};
    }
};

void RowRouter::clear() {
    stops_.clear();
    codes_.clear();
    sets_.clear();
    leaves_.clear();
    steps_.clear();
}

void RowRouter::add(NodeIndex node, const Split& split, NodeIndex left) {
    if (stops_.size() < std::size_t{left} + 2) stops_.resize(std::size_t{left} + 2);
    Stop& stop = stops_[node];
    stop.column = matrix_.column(split.feature);
    stop.left = left;
    if (!split.nominal) {
        stop.last = split.last;
        stop.shift = split.missing_left ? Bin{0} : Bin{1};
        return;
    }
    stop.set = static_cast<std::int32_t>(sets_.size());
    LevelTable& set = sets_.emplace_back();
    rule_of(split, set.goes_left);
    for (std::size_t byte = 0; byte < sizeof(LevelBits); ++byte) {
        unsigned bits = 0;
        for (std::size_t bit = 0; bit < 8; ++bit) bits |= static_cast<unsigned>(set.goes_left[8 * byte + bit]) << bit;
        set.set.bits[byte] = static_cast<std::uint8_t>(bits);
    }
}

void RowRouter::keep(const Tree& kept, std::span<const NodeIndex> new_index) {
    std::vector<Stop> stops(kept.n_nodes());
    for (NodeIndex node = 0; node < stops_.size(); ++node) {
        if (stops_[node].column == nullptr || kept.is_leaf(new_index[node])) continue;
        stops[new_index[node]] = stops_[node];
        stops[new_index[node]].left = kept.left[new_index[node]];
    }
    stops_ = std::move(stops);
}

void RowRouter::finish(NodeIndex n_nodes) {
    stops_.resize(n_nodes);
    codes_.assign(n_nodes, 0);
    for (NodeIndex node = 0; node < n_nodes; ++node) {
        Stop& stop = stops_[node];
        if (stop.column != nullptr) continue;
        stop.column = matrix_.column(0);
        stop.left = node;
        codes_[node] = static_cast<std::uint32_t>(leaves_.size());
        leaves_.push_back(node);
    }
    if (leaves_.size() > kMaxLeavesOfNetwork) return;
    const Splits splits{*this};
    RoutePlan(splits, steps_).add(0, n_nodes);
}

void RowRouter::route(std::size_t begin, std::span<std::uint32_t> codes) const {
    if (leaves_.size() <= kMaxLeavesOfNetwork)
        route_by_network(begin, codes);
    else
        route_by_walk(begin, codes);
}

void RowRouter::route_by_network(std::size_t begin, std::span<std::uint32_t> codes) const {
    std::array<std::uint8_t, kRouteRows> found;
    for (std::size_t i = 0; i < codes.size(); i += kRouteRows) {
        kernels().routing.route(matrix_.column(0), steps_.data(), steps_.size(), begin + i, found.data());
        const std::size_t n = std::min(kRouteRows, codes.size() - i);
        for (std::size_t k = 0; k < n; ++k) codes[i + k] = found[k];
    }
}

// Rows side by side do not wait for one another's memory. A row that has arrived stays where it is. Columns can be read
// a few rows past their end.
void RowRouter::route_by_walk(std::size_t begin, std::span<std::uint32_t> codes) const {
    const Stop* const stops = stops_.data();
    for (std::size_t i = 0; i < codes.size(); i += kSideBySide) {
        std::array<NodeIndex, kSideBySide> nodes{};
        for (bool moved = true; moved;) {
            NodeIndex changes = 0;
            for (int step = 0; step < 3; ++step)
                for (std::size_t k = 0; k < kSideBySide; ++k) {
                    const Stop& stop = stops[nodes[k]];
                    const Bin bin = stop.column[begin + i + k];
                    const bool passed =
                        stop.set < 0 ? static_cast<Bin>(bin - stop.shift) <= static_cast<Bin>(stop.last - stop.shift)
                                     : sets_[static_cast<std::size_t>(stop.set)].goes_left[bin] != 0;
                    const NodeIndex next = stop.left + (passed ? 0u : 1u);
                    changes |= next ^ nodes[k];
                    nodes[k] = next;
                }
            moved = changes != 0;
        }
        const std::size_t n = std::min(kSideBySide, codes.size() - i);
        for (std::size_t k = 0; k < n; ++k) codes[i + k] = codes_[nodes[k]];
    }
}

void LeafOfRow::clear() {
    n_rows_ = n_leaves_ = 0;
    narrow_.clear();
    wide_.clear();
}

void LeafOfRow::route(const RowRouter& router, std::size_t n_rows, int n_threads) {
    n_rows_ = n_rows;
    n_leaves_ = router.leaves().size();
    const bool few = n_leaves_ <= kMaxNarrowLeaves;
    resize_anew(narrow_, few ? n_rows : 0);
    resize_anew(wide_, few ? 0 : n_rows);
    parallel_ranges(n_rows, kChunk, n_threads, [&](std::size_t begin, std::size_t end) {
        if (!few) return router.route(begin, std::span(wide_).subspan(begin, end - begin));
        std::array<std::uint32_t, kBlock> codes;
        for (std::size_t block = begin; block < end; block += kBlock) {
            const std::size_t n = std::min(kBlock, end - block);
            router.route(block, std::span(codes).first(n));
            for (std::size_t i = 0; i < n; ++i) narrow_[block + i] = static_cast<std::uint16_t>(codes[i]);
        }
    });
}

}  // namespace coterie
