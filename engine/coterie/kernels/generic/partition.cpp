// kernels/generic/partition.cpp: what marking and packing rows means.
#include "coterie/kernels/partition.hpp"

#include <bit>

namespace coterie::generic {
namespace {

template <class BinOf>
std::size_t mark(std::size_t n, const BinRule& rule, std::uint8_t* marks, BinOf bin_of) {
    std::size_t count = 0;
    for (std::size_t begin = 0; begin < n; begin += 8) {
        unsigned byte = 0;
        const std::size_t end = begin + 8 < n ? begin + 8 : n;
        for (std::size_t i = begin; i < end; ++i) byte |= static_cast<unsigned>(passes(rule, bin_of(i))) << (i - begin);
        marks[begin / 8] = static_cast<std::uint8_t>(byte);
        count += static_cast<std::size_t>(std::popcount(byte));
    }
    return count;
}

std::size_t mark_rows(const Bin* column, std::size_t n, const BinRule& rule, std::uint8_t* marks) {
    return mark(n, rule, marks, [column](std::size_t i) { return column[i]; });
}

std::size_t mark_records(const Bin* column, const Record* records, std::size_t n, const BinRule& rule,
                         std::uint8_t* marks) {
    return mark(n, rule, marks, [=](std::size_t i) { return column[row_of(records[i])]; });
}

template <class RecordOf>
void pack(std::size_t n, const std::uint8_t* marks, Record* left, Record* right, RecordOf record_of) {
    for (std::size_t i = 0; i < n; ++i) {
        Record*& side = marks[i / 8] >> (i % 8) & 1 ? left : right;
        *side++ = record_of(i);
    }
}

void pack_rows(RowIndex first_row, const Pair* pairs, std::size_t n, const std::uint8_t* marks, Record* left,
               std::size_t, Record* right) {
    pack(n, marks, left, right,
         [=](std::size_t i) { return make_record(first_row + static_cast<RowIndex>(i), pairs[i]); });
}

void pack_records(const Record* records, std::size_t n, const std::uint8_t* marks, Record* left, std::size_t,
                  Record* right) {
    pack(n, marks, left, right, [=](std::size_t i) { return records[i]; });
}

}  // namespace

PartitionKernels partition_kernels() {
    return {.mark_rows = mark_rows, .mark_records = mark_records, .pack_rows = pack_rows, .pack_records = pack_records};
}

}  // namespace coterie::generic
