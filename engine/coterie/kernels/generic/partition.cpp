// kernels/generic/partition.cpp: what marking and packing rows means. Bins are compared in loops that compilers turn
// into vectors; records are written to both sides, and one side moves on.
#include "coterie/kernels/partition.hpp"

#include <bit>
#include <cstring>

namespace coterie::generic {
namespace {

#include "coterie/kernels/shared/bits.inl"

constexpr std::size_t kBlock = 128;  // rows whose flags are found before they become bits

// Whether each of m bins passes: a byte of 0 or 1.
void find_flags(const BinRule& rule, const Bin* bins, std::size_t m, std::uint8_t* flags) {
    if (rule.table != nullptr) {
        for (std::size_t i = 0; i < m; ++i) flags[i] = rule.table[bins[i]] != 0;
        return;
    }
    const Bin shift = rule.shift;
    const auto span = static_cast<Bin>(rule.last - rule.shift);
    for (std::size_t i = 0; i < m; ++i) flags[i] = static_cast<Bin>(bins[i] - shift) <= span;
}

// Copies the bins of rows begin + [0, m) by copy_bins(begin, m, bins).
template <class CopyBins>
std::size_t mark(std::size_t n, const BinRule& rule, std::uint8_t* marks, CopyBins copy_bins) {
    std::size_t count = 0;
    for (std::size_t begin = 0; begin < n; begin += kBlock) {
        Bin bins[kBlock];
        std::uint8_t flags[kBlock];
        if (const std::size_t m = n - begin; m >= kBlock) {
            copy_bins(begin, kBlock, bins);
            find_flags(rule, bins, kBlock, flags);
            for (std::size_t i = 0; i < kBlock; i += 8) {
                const std::uint64_t eight = load_flags(flags + i);
                marks[(begin + i) / 8] = bits_of_flags(eight);
                count += count_flags(eight);
            }
        } else {
            copy_bins(begin, m, bins);
            find_flags(rule, bins, m, flags);
            for (std::size_t i = m; i < (m + 7) / 8 * 8; ++i) flags[i] = 0;
            for (std::size_t i = 0; i < m; i += 8) {
                const std::uint64_t eight = load_flags(flags + i);
                marks[(begin + i) / 8] = bits_of_flags(eight);
                count += count_flags(eight);
            }
        }
    }
    return count;
}

std::size_t mark_rows(const Bin* column, std::size_t n, const BinRule& rule, std::uint8_t* marks) {
    return mark(n, rule, marks,
                [column](std::size_t begin, std::size_t m, Bin* bins) { std::memcpy(bins, column + begin, m); });
}

std::size_t mark_records(const Bin* column, const Record* records, std::size_t n, const BinRule& rule,
                         std::uint8_t* marks) {
    return mark(n, rule, marks, [=](std::size_t begin, std::size_t m, Bin* bins) {
        for (std::size_t i = 0; i < m; ++i) bins[i] = column[row_of(records[begin + i])];
    });
}

// Writes a record to both sides, of which the one that it belongs to moves on.
inline void put(Record record, std::size_t goes_left, Record* left, std::size_t& l, Record* right, std::size_t& r) {
    left[l] = right[r] = record;
    l += goes_left;
    r += 1 - goes_left;
}

// Records are put until one of the sides is full: what lies behind its end belongs to another chunk.
template <class RecordOf>
void pack(std::size_t n, const std::uint8_t* marks, Record* left, std::size_t n_left, Record* right,
          RecordOf record_of) {
    const std::size_t n_right = n - n_left;
    std::size_t l = 0;
    std::size_t r = 0;
    std::size_t i = 0;
    while (i + 8 <= n && l + 8 <= n_left && r + 8 <= n_right) {
        const std::size_t byte = marks[i / 8];
        for (unsigned bit = 0; bit < 8; ++bit) put(record_of(i++), byte >> bit & 1, left, l, right, r);
    }
    for (; l < n_left && r < n_right; ++i) put(record_of(i), marks[i / 8] >> (i % 8) & 1u, left, l, right, r);
    for (; l < n_left; ++l) left[l] = record_of(i++);
    for (; r < n_right; ++r) right[r] = record_of(i++);
}

void pack_rows(RowIndex first_row, const Pair* pairs, std::size_t n, const std::uint8_t* marks, Record* left,
               std::size_t n_left, Record* right) {
    pack(n, marks, left, n_left, right,
         [=](std::size_t i) { return make_record(first_row + static_cast<RowIndex>(i), pairs[i]); });
}

void pack_records(const Record* records, std::size_t n, const std::uint8_t* marks, Record* left, std::size_t n_left,
                  Record* right) {
    pack(n, marks, left, n_left, right, [=](std::size_t i) { return records[i]; });
}

}  // namespace

PartitionKernels partition_kernels() {
    return {.mark_rows = mark_rows, .mark_records = mark_records, .pack_rows = pack_rows, .pack_records = pack_records};
}

}  // namespace coterie::generic
