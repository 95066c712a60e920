// Many rows in the tree of a forest: every table lays out the same nodes, finds the same exits and the same codes.
#include <algorithm>
#include <cstring>

#include "coterie/tree/laid_nodes.hpp"
#include "random_inputs.hpp"

namespace coterie::tests {
namespace {

const Test top("every table leaves the top of a tree by the exits of a walk from node to node", [] {
    for (const std::size_t stride : {1, 7, 28, 31, 32, 33, 50, 63, 64}) {
        std::vector<NodeBlock> blocks(kTopBlocks);
        for (std::size_t i = 0; i < blocks.size(); ++i)
            for (std::size_t entry = 1; entry < NodeBlock::kEntries; ++entry) {
                const std::uint64_t bits = bits_at(stride, i * NodeBlock::kEntries + entry);
                blocks[i].column[entry] = static_cast<std::uint16_t>(bits % stride);
                blocks[i].code[entry] = static_cast<std::uint16_t>(bits >> 20 & (bits & 1u << 17 ? 0xffffu : 0xfu));
            }
        for (const std::size_t n : {1, 2, 15, 17, 500}) {
            std::vector<std::uint16_t> codes(n * stride);  // rows end where the memory does
            for (std::size_t i = 0; i < codes.size(); ++i)
                codes[i] = static_cast<std::uint16_t>(bits_at(90, i) & (i % 3 == 0 ? 0xfu : 0xffffu));
            std::vector<std::uint32_t> rows(n);
            std::vector<std::uint32_t> expected(n);
            for (std::size_t i = 0; i < n; ++i) {
                rows[i] = static_cast<std::uint32_t>(bits_at(91, i) % n);
                std::size_t first = 0;  // block of this depth
                for (std::size_t width = 1; width < kTopExits; first += width, width *= 8) {
                    const NodeBlock& block = blocks[first + expected[i]];
                    std::size_t entry = 1;
                    for (int step = 0; step < 3; ++step)
                        entry = 2 * entry + (codes[rows[i] * stride + block.column[entry]] > block.code[entry]);
                    expected[i] = static_cast<std::uint32_t>(8 * expected[i] + entry - 8);
                }
            }
            for (const Kernels* table : kernel_tables()) {
                std::vector<std::uint32_t> exits(n);
                table->node_walk.walk_top(blocks.data(), codes.data(), stride, rows.data(), n, exits.data());
                check_equal(exits, expected);
            }
        }
    }
});

const Test laid("every table lays out the same nodes and finds the last child", [] {
    for (const std::size_t n : awkward_sizes()) {
        std::vector<PackedNode> nodes(n);
        const std::uint32_t begin = n % 3 == 0 ? 0 : 1000;
        std::uint32_t last = 0;
        std::vector<LaidNode> expected(n);
        for (std::size_t i = 0; i < n; ++i) {
            const std::uint64_t bits = bits_at(n, i);
            const bool leaf = bits % 2 == 0;
            nodes[i].left = leaf ? static_cast<std::uint32_t>(bits >> 32)
                                 : begin + static_cast<std::uint32_t>(bits >> 40 & 0xfffff);
            nodes[i].condition =
                leaf ? PackedNode::kLeafFlag
                     : PackedNode::split_on(static_cast<std::uint32_t>(bits >> 8 & 0xfff), bits & 4, false);
            nodes[i].code = static_cast<std::uint16_t>(bits >> 20);
            nodes[i].share = static_cast<std::uint16_t>(bits >> 3);
            const auto own = static_cast<std::uint32_t>(i + 1);
            expected[i] = leaf ? LaidNode{0, LaidNode::kAllGoLeft, own}
                               : LaidNode{static_cast<std::uint16_t>(nodes[i].feature()), nodes[i].code,
                                          nodes[i].left - begin + 1};
            if (!leaf) last = std::max(last, nodes[i].left - begin);
        }
        for (const Kernels* table : kernel_tables())
            for (const bool leaf_values : {false, true}) {
                std::vector<LaidNode> out(n + 1, LaidNode{7, 7, 7});
                check_equal(table->node_walk.lay_out(nodes.data(), n, begin, leaf_values, out.data()), last);
                for (std::size_t i = 0; i < n; ++i) {
                    const bool kept = leaf_values && nodes[i].is_leaf();
                    check_equal(out[i].column, kept ? static_cast<std::uint16_t>(nodes[i].left) : expected[i].column);
                    check_equal(out[i].code, expected[i].code);
                    check_equal(out[i].next, expected[i].next);
                }
                check_equal(out[n].next, std::uint32_t{7});
            }
    }
});

// A chain and a balanced tree, whose leaves lie within, at the end of and below the top blocks. Leaves have columns
// that say nothing of where rows go.
std::vector<LaidNode> some_tree(std::size_t depth, bool chain, std::size_t n_columns) {
    std::vector<LaidNode> nodes(1);
    std::vector<std::uint32_t> open = {0};
    for (std::size_t at_depth = 0; at_depth < depth; ++at_depth) {
        std::vector<std::uint32_t> below;
        for (const std::uint32_t node : open) {
            const auto left = static_cast<std::uint32_t>(nodes.size());
            const std::uint64_t bits = bits_at(depth, node);
            nodes[node] = {static_cast<std::uint16_t>(bits % n_columns), static_cast<std::uint16_t>(bits >> 48), left};
            const auto column = static_cast<std::uint16_t>((bits >> 24) % n_columns);
            nodes.push_back({column, LaidNode::kAllGoLeft, left});
            nodes.push_back({0, LaidNode::kAllGoLeft, left + 1});
            below.push_back(bits & 256 ? left : left + 1);
            if (!chain && bits % 5 != 0) below.push_back(bits & 256 ? left + 1 : left);
        }
        open = std::move(below);
    }
    if (depth == 0) nodes[0] = {0, LaidNode::kAllGoLeft, 0};
    return nodes;
}

const Test walks("many rows end where each of them ends alone", [] {
    for (const std::size_t stride : {5, 40, 70})
        for (const bool chain : {true, false})
            for (const std::size_t depth : {0, 1, 3, 11, 12, 13, 16}) {
                const std::vector<LaidNode> nodes = some_tree(depth, chain, stride);
                const std::size_t n = 3000;
                std::vector<std::uint16_t> codes(n * stride);
                for (std::size_t i = 0; i < codes.size(); ++i) codes[i] = static_cast<std::uint16_t>(bits_at(5, i));
                std::vector<std::uint32_t> rows(n);
                for (std::size_t i = 0; i < n; ++i) rows[i] = static_cast<std::uint32_t>((i * 7) % n);
                std::vector<std::uint32_t> ends(n);
                std::vector<std::uint32_t> columns(n);
                walk_laid_out(nodes.data(), {codes.data(), stride}, rows, 8, false, ends.data());
                walk_laid_out(nodes.data(), {codes.data(), stride}, rows, 8, false, columns.data(), LeafNote::column);
                for (std::size_t i = 0; i < n; ++i) {
                    std::uint32_t at = 0;
                    while (nodes[at].next != at)
                        at = nodes[at].next + (codes[rows[i] * stride + nodes[at].column] > nodes[at].code);
                    check_equal(ends[i], at);
                    check_equal(columns[i], std::uint32_t{nodes[at].column});
                }
            }
});

}  // namespace
}  // namespace coterie::tests
