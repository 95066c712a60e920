// kernels/partition.hpp: the rows of a node of boosting, split into those of its children.
//
// Words
//   mark     one bit per row: goes left
#pragma once

#include <cstddef>
#include <cstdint>

#include "coterie/kernels/gradient_pairs.hpp"

namespace coterie {

/// A split of bins: numeric bins pass when (bin - shift) <= (last - shift) in uint8 arithmetic, so that the
/// missing bin 0 goes left with shift 0 and right with shift 1.
struct BinRule {
    Bin last = 0;
    Bin shift = 0;
    const Bin* table = nullptr;  // for nominal splits: 256 entries, 1 goes left
};

constexpr bool passes(const BinRule& rule, Bin bin) {
    if (rule.table != nullptr) return rule.table[bin] != 0;
    return static_cast<Bin>(bin - rule.shift) <= static_cast<Bin>(rule.last - rule.shift);
}

struct PartitionKernels {
    // Marks, eight rows to a byte, and their count. Rows are [0, n) of the column, or those of the records.
    std::size_t (*mark_rows)(const Bin* column, std::size_t n, const BinRule& rule, std::uint8_t* marks);
    std::size_t (*mark_records)(const Bin* column, const Record* records, std::size_t n, const BinRule& rule,
                                std::uint8_t* marks);

    // Stable split of rows first_row + [0, n), or of n records, by their marks into exactly n_left and n - n_left.
    void (*pack_rows)(RowIndex first_row, const Pair* pairs, std::size_t n, const std::uint8_t* marks, Record* left,
                      std::size_t n_left, Record* right);
    void (*pack_records)(const Record* records, std::size_t n, const std::uint8_t* marks, Record* left,
                         std::size_t n_left, Record* right);
};

namespace generic {
PartitionKernels partition_kernels();
}
namespace avx2 {
PartitionKernels partition_kernels();
}
namespace avx512 {
PartitionKernels partition_kernels();
}
namespace neon {
PartitionKernels partition_kernels();
}

}  // namespace coterie
