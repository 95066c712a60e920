#include "coterie/tree/laid_nodes.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "coterie/base/buffer.hpp"
#include "coterie/base/prefetch.hpp"
#include "coterie/kernels/kernels.hpp"

namespace coterie {
namespace {

constexpr std::size_t kLanes = 16;         // walks that hide each other's latency
constexpr std::size_t kAhead = 16;         // rows that are fetched before they are read
constexpr std::size_t kStepsBelow = 6;     // between two checks for lanes that have arrived, below the top of the tree
constexpr std::size_t kMinTopRows = 1024;  // for which these are put into blocks

template <bool kLessOne>
std::uint32_t next_of(const LaidNode& node, const std::uint16_t* own) {
    if constexpr (!kLessOne) return node.next + (own[node.column] > node.code);
    const auto code = static_cast<std::uint16_t>(own[node.column] - (node.next >> 31));
    return (node.next & ~LaidNode::kLessOne) + (code > node.code);
}

// The node from which a row that leaves the blocks at the top goes on.
struct TopBlocks {
    static constexpr std::uint32_t kArrived = 1u << 31;  // beside what is noted of a leaf

    std::array<NodeBlock, kTopBlocks> blocks;
    std::array<std::uint32_t, kTopExits> starts;

    // Below a leaf, which all codes leave to the left, are copies of itself.
    TopBlocks(const LaidNode* nodes, LeafNote note) {
        std::array<std::uint32_t, kTopExits / NodeBlock::kExits> above;
        std::size_t width = 1;  // blocks side by side
        starts[0] = 0;
        for (NodeBlock* first = blocks.data(); width < kTopExits; first += width, width *= NodeBlock::kExits) {
            std::copy_n(starts.begin(), width, above.begin());
            for (std::size_t i = 0; i < width; ++i) fill(nodes, above[i], first[i], &starts[i * NodeBlock::kExits]);
        }
        for (std::uint32_t& start : starts) {
            const LaidNode& node = nodes[start];
            if (node.next == start) start = kArrived | (note == LeafNote::column ? node.column : start);
        }
    }

    static void fill(const LaidNode* nodes, std::uint32_t top, NodeBlock& block, std::uint32_t* exits) {
        std::array<std::uint32_t, 2 * NodeBlock::kEntries> entry;
        entry[1] = top;
        block.column[0] = 0;
        block.code[0] = LaidNode::kAllGoLeft;
        for (std::size_t i = 1; i < NodeBlock::kEntries; ++i) {
            const LaidNode& node = nodes[entry[i]];
            block.column[i] = node.column;
            block.code[i] = node.code;
            entry[2 * i] = node.next;
            entry[2 * i + 1] = node.next + (node.code != LaidNode::kAllGoLeft);
        }
        std::copy_n(entry.begin() + NodeBlock::kEntries, NodeBlock::kExits, exits);
    }
};

// Never inlined, and without callbacks: then most lanes stay in registers, which is a seventh of the time. With
// `starts`, `ends` says by which of them each row begins.
template <bool kLessOne, bool kStarts, LeafNote kNote>
[[gnu::noinline]] void walk(const LaidNode* nodes, const CodesByRow& codes, std::span<const std::uint32_t> rows,
                            std::size_t n_steps, [[maybe_unused]] const std::uint32_t* starts, std::uint32_t* ends) {
    std::array<const std::uint16_t*, kLanes> own;
    std::array<std::uint32_t, kLanes> position{};
    std::array<std::uint32_t, kLanes> at{};
    own.fill(codes.row(rows[0]));
    std::size_t n_taken = 0;
    std::uint32_t busy = 0;
    // All lanes begin as if they had arrived, nowhere.
    for (std::uint32_t arrived = (1u << kLanes) - 1;;) {
        for (; arrived != 0; arrived &= arrived - 1) {
            const auto k = static_cast<std::size_t>(std::countr_zero(arrived));
            if (busy >> k & 1) ends[position[k]] = kNote == LeafNote::column ? nodes[at[k]].column : at[k];
            if constexpr (kStarts)
                for (; n_taken < rows.size() && (starts[ends[n_taken]] & TopBlocks::kArrived); ++n_taken)
                    ends[n_taken] = starts[ends[n_taken]] & ~TopBlocks::kArrived;
            if (n_taken == rows.size()) {
                busy &= ~(1u << k);
                continue;
            }
            busy |= 1u << k;
            position[k] = static_cast<std::uint32_t>(n_taken);
            at[k] = kStarts ? starts[ends[n_taken]] : 0;
            own[k] = codes.row(rows[n_taken++]);
            const std::uint16_t* const later = codes.row(rows[std::min(n_taken + kAhead, rows.size() - 1)]);
            prefetch(later);
            prefetch(later + kCacheLine / sizeof(*later));
        }
        if (busy == 0) return;
        for (std::size_t step = 1; step < n_steps; ++step)
            for (std::size_t k = 0; k < kLanes; ++k) at[k] = next_of<kLessOne>(nodes[at[k]], own[k]);
        for (std::size_t k = 0; k < kLanes; ++k) {
            const std::uint32_t here = at[k];
            at[k] = next_of<kLessOne>(nodes[here], own[k]);
            arrived |= static_cast<std::uint32_t>(at[k] == here) << k;
        }
        arrived &= busy;
    }
}

template <LeafNote kNote>
void walk_and_note(const LaidNode* nodes, const CodesByRow& codes, std::span<const std::uint32_t> rows,
                   std::size_t n_steps, std::uint32_t* ends) {
    const NodeWalkKernels& kernel = kernels().node_walk;
    if (rows.size() < kMinTopRows || codes.stride > kernel.max_top_columns)
        return walk<false, false, kNote>(nodes, codes, rows, n_steps, nullptr, ends);
    const TopBlocks top(nodes, kNote);
    kernel.walk_top(top.blocks.data(), codes.codes, codes.stride, rows.data(), rows.size(), ends);
    walk<false, true, kNote>(nodes, codes, rows, kStepsBelow, top.starts.data(), ends);
}

}  // namespace

void walk_laid_out(const LaidNode* nodes, const CodesByRow& codes, std::span<const std::uint32_t> rows,
                   std::size_t n_steps, bool less_one, std::uint32_t* ends, LeafNote note) {
    if (rows.empty()) return;
    if (less_one) return walk<true, false, LeafNote::number>(nodes, codes, rows, n_steps, nullptr, ends);
    if (note == LeafNote::column) return walk_and_note<LeafNote::column>(nodes, codes, rows, n_steps, ends);
    walk_and_note<LeafNote::number>(nodes, codes, rows, n_steps, ends);
}

}  // namespace coterie
