// Marks and packing: every table sends the same rows left as std::stable_partition, and writes nowhere else.
#include "random_inputs.hpp"
#include "reference/partition.hpp"

namespace coterie::tests {
namespace {

constexpr Record kUntouched = 0xdeadbeefdeadbeefull;
constexpr std::size_t kColumnRows = 5000;

const Buffer<Bin>& level_table() {
    static const Buffer<Bin> table = [] {
        Buffer<Bin> goes_left = random_bins(5, 256);
        for (Bin& bin : goes_left) bin &= 1;
        return goes_left;
    }();
    return table;
}

/// A set of levels, then thresholds from "nothing but missing" to "everything", missing rows on either side.
std::vector<BinRule> rules() {
    std::vector<BinRule> all{{.last = 0, .shift = 0, .table = level_table().data()}};
    for (const int last : {0, 1, 100, 127, 128, 129, 254, 255})
        for (const int shift : {0, 1})
            if (last >= shift)
                all.push_back({.last = static_cast<Bin>(last), .shift = static_cast<Bin>(shift), .table = nullptr});
    return all;
}

/// What a rule means, without arithmetic on bytes.
bool slow_passes(const BinRule& rule, Bin bin) {
    if (rule.table != nullptr) return rule.table[bin] != 0;
    return bin == kMissingBin ? rule.shift == 0 : bin <= rule.last;
}

const Test every_bin("a rule sends bins up to the last one left, and missing rows where it says", [] {
    for (const BinRule& rule : rules())
        for (int bin = 0; bin < 256; ++bin)
            check_equal(passes(rule, static_cast<Bin>(bin)), slow_passes(rule, static_cast<Bin>(bin)));
});

Buffer<Record> random_records(std::size_t n) {
    Buffer<Record> records(n);
    for (std::size_t i = 0; i < n; ++i)
        records[i] = make_record(random_below(3, Purpose::bootstrap, i, kColumnRows), static_cast<Pair>(bits_at(4, i)));
    return records;
}

template <class BinOf>
void check_marks(std::size_t n, const BinRule& rule, const Buffer<std::uint8_t>& marks, std::size_t count,
                 BinOf bin_of) {
    std::size_t expected = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const bool left = slow_passes(rule, bin_of(i));
        check_equal(marks[i / 8] >> (i % 8) & 1, int{left});
        expected += left;
    }
    check_equal(count, expected);
    // The bits behind the last row are 0, and the next byte is somebody else's.
    if (n % 8 != 0) check_equal(marks[n / 8] >> (n % 8), 0);
    check_equal(marks[(n + 7) / 8], std::uint8_t{0xa5});
}

const Test marking("a row is marked when its bin passes the rule", [] {
    const Buffer<Bin> column = random_bins(1, kColumnRows);
    for (const std::size_t n : awkward_sizes()) {
        const Buffer<Record> records = random_records(n);
        for (const BinRule& rule : rules())
            for (const Kernels* table : kernel_tables()) {
                Buffer<std::uint8_t> marks((n + 7) / 8 + 1, 0xa5);
                const std::size_t rows = table->partition.mark_rows(column.data(), n, rule, marks.data());
                check_marks(n, rule, marks, rows, [&](std::size_t i) { return column[i]; });
                const std::size_t chosen =
                    table->partition.mark_records(column.data(), records.data(), n, rule, marks.data());
                check_marks(n, rule, marks, chosen, [&](std::size_t i) { return column[row_of(records[i])]; });
            }
    }
});

struct Marks {
    Buffer<std::uint8_t> bytes;
    bool operator[](std::size_t i) const { return bytes[i / 8] >> (i % 8) & 1; }
};

/// So many eighths of the rows go left: all, none, or a random share; 9 and 10 send the first or second half.
Marks marks_of(std::size_t n, unsigned kind) {
    Marks marks{.bytes = Buffer<std::uint8_t>((n + 7) / 8 + 1, 0)};
    for (std::size_t i = 0; i < n; ++i) {
        bool left = bits_at(6, i) % 8 < kind;
        if (kind == 9) left = 2 * i < n;
        if (kind == 10) left = 2 * i >= n;
        marks.bytes[i / 8] |= static_cast<std::uint8_t>(left << (i % 8));
    }
    return marks;
}

/// Packs into two sides of exactly the right size, each followed by one record that must stay.
template <class Pack>
void check_packed(const Buffer<Record>& records, const Marks& marks, Pack pack) {
    std::size_t next = 0;
    const reference::Parted expected = reference::slow_partition(records, [&](Record) { return marks[next++]; });
    const std::size_t n_right = records.size() - expected.n_left;
    Buffer<Record> left(expected.n_left + 1, kUntouched), right(n_right + 1, kUntouched);
    pack(left.data(), expected.n_left, right.data());
    check_equal(left.back(), kUntouched);
    check_equal(right.back(), kUntouched);
    left.pop_back();
    right.pop_back();
    left.insert(left.end(), right.begin(), right.end());
    check_same_bits(left, expected.records);
}

const Test packing("packing keeps the order, fills both sides, and writes nowhere else", [] {
    for (const std::size_t n : awkward_sizes())
        for (const unsigned kind : {0u, 1u, 4u, 7u, 8u, 9u, 10u}) {
            const Marks marks = marks_of(n, kind);
            const Buffer<Record> records = random_records(n);
            Buffer<Pair> pairs(n);
            Buffer<Record> in_order(n);
            for (std::size_t i = 0; i < n; ++i) {
                pairs[i] = pair_of(records[i]);
                in_order[i] = make_record(static_cast<RowIndex>(1000 + i), pairs[i]);
            }
            for (const Kernels* table : kernel_tables()) {
                check_packed(records, marks, [&](Record* left, std::size_t n_left, Record* right) {
                    table->partition.pack_records(records.data(), n, marks.bytes.data(), left, n_left, right);
                });
                check_packed(in_order, marks, [&](Record* left, std::size_t n_left, Record* right) {
                    table->partition.pack_rows(1000, pairs.data(), n, marks.bytes.data(), left, n_left, right);
                });
            }
        }
});

}  // namespace
}  // namespace coterie::tests
