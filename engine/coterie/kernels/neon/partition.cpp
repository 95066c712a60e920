// kernels/neon/partition.cpp: rows are marked 64 at a time. Records are packed as in generic/: a vector has two of
// them.
#include "coterie/kernels/partition.hpp"

#if defined(COTERIE_HAS_NEON)

#include <bit>
#include <cstring>

#include "coterie/kernels/neon/bits.hpp"

namespace coterie::neon {
namespace {

constexpr std::size_t kBlock = 64;  // rows

// The bins of rows begin + [0, 64) are at bins_of(begin).
template <class BinsOf>
std::size_t mark_blocks(std::size_t n_blocks, const BinRule& rule, std::uint8_t* marks, BinsOf bins_of_block) {
    const uint8x16_t shift = vdupq_n_u8(rule.shift);
    const uint8x16_t span = vdupq_n_u8(static_cast<Bin>(rule.last - rule.shift));
    std::size_t count = 0;
    for (std::size_t block = 0; block < n_blocks; ++block) {
        const Bin* const bins = bins_of_block(block * kBlock);
        const auto passed = [&](std::size_t first) { return vcleq_u8(vsubq_u8(vld1q_u8(bins + first), shift), span); };
        const std::uint64_t word = bits_of(passed(0), passed(16), passed(32), passed(48));
        std::memcpy(marks + block * (kBlock / 8), &word, sizeof(word));
        count += static_cast<std::size_t>(std::popcount(word));
    }
    return count;
}

std::size_t mark_rows(const Bin* column, std::size_t n, const BinRule& rule, std::uint8_t* marks) {
    const std::size_t n_blocks = rule.table == nullptr ? n / kBlock : 0;
    const std::size_t done = n_blocks * kBlock;
    const std::size_t count =
        mark_blocks(n_blocks, rule, marks, [column](std::size_t begin) { return column + begin; });
    return count + generic::partition_kernels().mark_rows(column + done, n - done, rule, marks + done / 8);
}

std::size_t mark_records(const Bin* column, const Record* records, std::size_t n, const BinRule& rule,
                         std::uint8_t* marks) {
    const std::size_t n_blocks = rule.table == nullptr ? n / kBlock : 0;
    const std::size_t done = n_blocks * kBlock;
    Bin bins[kBlock];
    const std::size_t count = mark_blocks(n_blocks, rule, marks, [&](std::size_t begin) {
        for (std::size_t i = 0; i < kBlock; ++i) bins[i] = column[row_of(records[begin + i])];
        return static_cast<const Bin*>(bins);
    });
    return count + generic::partition_kernels().mark_records(column, records + done, n - done, rule, marks + done / 8);
}

}  // namespace

PartitionKernels partition_kernels() {
    PartitionKernels all = generic::partition_kernels();
    all.mark_rows = mark_rows;
    all.mark_records = mark_records;
    return all;
}

}  // namespace coterie::neon

#endif
