#include "coterie/tree/laid_nodes.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "coterie/base/buffer.hpp"
#include "coterie/base/prefetch.hpp"

namespace coterie {
namespace {

constexpr std::size_t kLanes = 16;  // walks that hide each other's latency
constexpr std::size_t kAhead = 16;  // rows that are fetched before they are read

template <bool kLessOne>
std::uint32_t next_of(const LaidNode& node, const std::uint16_t* own) {
    if constexpr (!kLessOne) return node.next + (own[node.column] > node.code);
    const auto code = static_cast<std::uint16_t>(own[node.column] - (node.next >> 31));
    return (node.next & ~LaidNode::kLessOne) + (code > node.code);
}

// Never inlined, and without callbacks: then most lanes stay in registers, which is a seventh of the time.
template <bool kLessOne>
[[gnu::noinline]] void walk(const LaidNode* nodes, const CodesByRow& codes, std::span<const std::uint32_t> rows,
                            std::size_t n_steps, std::uint32_t* ends) {
    std::array<const std::uint16_t*, kLanes> own;
    std::array<std::uint32_t, kLanes> place;
    std::array<std::uint32_t, kLanes> at{};
    const std::size_t n_lanes = std::min(kLanes, rows.size());
    for (std::size_t k = 0; k < kLanes; ++k) {
        place[k] = static_cast<std::uint32_t>(std::min(k, n_lanes - 1));
        own[k] = codes.row(rows[place[k]]);
    }
    std::size_t n_taken = n_lanes;
    for (std::uint32_t busy = (1u << n_lanes) - 1; busy != 0;) {
        for (std::size_t step = 1; step < n_steps; ++step)
            for (std::size_t k = 0; k < kLanes; ++k) at[k] = next_of<kLessOne>(nodes[at[k]], own[k]);
        std::uint32_t arrived = 0;
        for (std::size_t k = 0; k < kLanes; ++k) {
            const std::uint32_t here = at[k];
            at[k] = next_of<kLessOne>(nodes[here], own[k]);
            arrived |= static_cast<std::uint32_t>(at[k] == here) << k;
        }
        for (arrived &= busy; arrived != 0; arrived &= arrived - 1) {
            const auto k = static_cast<std::size_t>(std::countr_zero(arrived));
            ends[place[k]] = at[k];
            if (n_taken == rows.size()) {
                busy &= ~(1u << k);
                continue;
            }
            place[k] = static_cast<std::uint32_t>(n_taken);
            own[k] = codes.row(rows[n_taken++]);
            at[k] = 0;
            const std::uint16_t* const later = codes.row(rows[std::min(n_taken + kAhead, rows.size() - 1)]);
            prefetch(later);
            prefetch(later + kCacheLine / sizeof(*later));
        }
    }
}

}  // namespace

void walk_laid_out(const LaidNode* nodes, const CodesByRow& codes, std::span<const std::uint32_t> rows,
                   std::size_t n_steps, bool less_one, std::uint32_t* ends) {
    if (rows.empty()) return;
    if (less_one)
        walk<true>(nodes, codes, rows, n_steps, ends);
    else
        walk<false>(nodes, codes, rows, n_steps, ends);
}

}  // namespace coterie
