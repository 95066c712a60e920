// Every kernel of the table in use gives the bits of the generic one, and the generic one gives what the slow
// definition here gives. Under COTERIE_ISA=generic both tables are the same, and the definitions remain.
#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/random_arrays.hpp"

namespace coterie::tests {
namespace {

constexpr Record kUntouched = 0xdeadbeefdeadbeefull;

// ---- values to bins

template <class Float>
struct Cuts {
    std::vector<Float> values;
    CutTable<Float> table;
};

template <class Float>
Cuts<Float> random_cuts(std::uint64_t seed, std::size_t n_cuts) {
    Cuts<Float> cuts;
    for (std::size_t i = 0; i < n_cuts; ++i) cuts.values.push_back(static_cast<Float>(unit_at(seed, i) * 20 - 10));
    std::sort(cuts.values.begin(), cuts.values.end());
    constexpr Float kNever = std::numeric_limits<Float>::infinity();
    std::fill(std::begin(cuts.table.cuts), std::end(cuts.table.cuts), kNever);
    std::copy(cuts.values.begin(), cuts.values.end(), std::begin(cuts.table.cuts));
    for (std::size_t k = 0; k < 16; ++k) cuts.table.pivots[k] = k < 15 ? cuts.table.cuts[16 * k + 15] : kNever;
    return cuts;
}

template <class Float>
Bin slow_bin(const Cuts<Float>& cuts, Float value) {
    if (std::isnan(value)) return kMissingBin;
    return static_cast<Bin>(
        1 + std::count_if(cuts.values.begin(), cuts.values.end(), [=](Float cut) { return cut < value; }));
}

template <class Float>
std::vector<Float> values_to_map(const Cuts<Float>& cuts) {
    constexpr Float kInfinity = std::numeric_limits<Float>::infinity();
    std::vector<Float> values{0,
                              -0.0f,
                              kInfinity,
                              -kInfinity,
                              std::numeric_limits<Float>::quiet_NaN(),
                              std::numeric_limits<Float>::max(),
                              std::numeric_limits<Float>::denorm_min()};
    for (const Float cut : cuts.values) {
        values.push_back(cut);
        values.push_back(std::nextafter(cut, kInfinity));
        values.push_back(std::nextafter(cut, -kInfinity));
    }
    for (std::size_t i = 0; i < 100; ++i) values.push_back(static_cast<Float>(unit_at(99, i) * 24 - 12));
    return values;
}

template <class Float, class Map>
void check_map(Map map) {
    for (const std::size_t n_cuts : {0u, 1u, 15u, 16u, 17u, 100u, 239u, 254u})
        for (const std::size_t step : {1u, 3u}) {
            const Cuts<Float> cuts = random_cuts<Float>(n_cuts, n_cuts);
            const std::vector<Float> values = values_to_map(cuts);
            std::vector<Float> spread(values.size() * step, Float{-5});
            for (std::size_t i = 0; i < values.size(); ++i) spread[i * step] = values[i];
            std::vector<Bin> bins(values.size());
            map(reinterpret_cast<const std::byte*>(spread.data()), static_cast<std::ptrdiff_t>(step * sizeof(Float)),
                values.size(), cuts.table, bins.data());
            for (std::size_t i = 0; i < values.size(); ++i) check_equal(bins[i], slow_bin(cuts, values[i]));
        }
}

const Test mapping("a value's bin is one more than the number of cuts below it, and 0 if it is missing", [] {
    check_map<float>(generic_kernels().map_float);
    check_map<float>(kernels().map_float);
    check_map<double>(generic_kernels().map_double);
    check_map<double>(kernels().map_double);
});

// ---- marking and packing

std::vector<BinRule> rules() {
    static const Buffer<Bin> table = [] {
        Buffer<Bin> goes_left = random_bins(5, 256);
        for (Bin& bin : goes_left) bin &= 1;
        return goes_left;
    }();
    std::vector<BinRule> all{{.last = 0, .shift = 0, .table = table.data()}};
    for (const int last : {1, 100, 127, 128, 129, 254})
        for (const int shift : {0, 1})
            all.push_back({.last = static_cast<Bin>(last), .shift = static_cast<Bin>(shift), .table = nullptr});
    return all;
}

const Test numeric_rule("a numeric rule sends bins up to the last one left, and missing rows where it says", [] {
    const BinRule missing_left{.last = 7, .shift = 0, .table = nullptr};
    const BinRule missing_right{.last = 7, .shift = 1, .table = nullptr};
    for (int bin = 1; bin < 256; ++bin) {
        check_equal(passes(missing_left, static_cast<Bin>(bin)), bin <= 7);
        check_equal(passes(missing_right, static_cast<Bin>(bin)), bin <= 7);
    }
    check(passes(missing_left, kMissingBin), "missing goes left");
    check(!passes(missing_right, kMissingBin), "missing goes right");
});

// Records of scattered rows of a column of 5,000 rows.
Buffer<Record> random_records(std::size_t n) {
    Buffer<Record> records(n);
    for (std::size_t i = 0; i < n; ++i)
        records[i] = make_record(random_below(3, Purpose::bootstrap, i, 5000), static_cast<Pair>(bits_at(4, i)));
    return records;
}

const Test marking("a row is marked when its bin passes the rule", [] {
    const Buffer<Bin> column = random_bins(1, 5000);
    for (const std::size_t n : kSizes) {
        const Buffer<Record> records = random_records(n);
        for (const BinRule& rule : rules())
            for (const Kernels* table : {&generic_kernels(), &kernels()}) {
                Buffer<std::uint8_t> marks((n + 7) / 8 + 32, 0);
                std::size_t expected = 0;
                const std::size_t count = table->mark_rows(column.data(), n, rule, marks.data());
                for (std::size_t i = 0; i < n; ++i) {
                    check_equal(marks[i / 8] >> (i % 8) & 1, int{passes(rule, column[i])});
                    expected += passes(rule, column[i]);
                }
                check_equal(count, expected);
                expected = 0;
                const std::size_t of_records =
                    table->mark_records(column.data(), records.data(), n, rule, marks.data());
                for (std::size_t i = 0; i < n; ++i) {
                    const bool left = passes(rule, column[row_of(records[i])]);
                    check_equal(marks[i / 8] >> (i % 8) & 1, int{left});
                    expected += left;
                }
                check_equal(of_records, expected);
            }
    }
});

struct Packed {
    Buffer<Record> left;
    Buffer<Record> right;
};

Packed slow_pack(const Buffer<Record>& records, const Buffer<std::uint8_t>& marks) {
    Packed packed;
    for (std::size_t i = 0; i < records.size(); ++i)
        (marks[i / 8] >> (i % 8) & 1 ? packed.left : packed.right).push_back(records[i]);
    packed.left.push_back(kUntouched);
    packed.right.push_back(kUntouched);
    return packed;
}

/// Room for exactly what is expected, and one more record that must not be touched.
Packed room_for(const Packed& expected) {
    return {.left = Buffer<Record>(expected.left.size(), kUntouched),
            .right = Buffer<Record>(expected.right.size(), kUntouched)};
}

const Test packing("packing keeps the order, fills both sides, and writes nowhere else", [] {
    for (const std::size_t n : kSizes)
        for (const unsigned share : {0u, 1u, 4u, 7u, 8u}) {  // eighths that go left
            Buffer<std::uint8_t> marks((n + 7) / 8 + 32, 0);
            for (std::size_t i = 0; i < n; ++i)
                marks[i / 8] |= static_cast<std::uint8_t>((bits_at(6, i) % 8 < share) << (i % 8));
            Buffer<Record> records = random_records(n);
            Buffer<Pair> pairs(n);
            for (std::size_t i = 0; i < n; ++i) pairs[i] = pair_of(records[i]);
            const Packed expected = slow_pack(records, marks);
            for (std::size_t i = 0; i < n; ++i) records[i] = make_record(static_cast<RowIndex>(1000 + i), pairs[i]);
            const Packed expected_rows = slow_pack(records, marks);
            records = random_records(n);
            for (const Kernels* table : {&generic_kernels(), &kernels()}) {
                Packed packed = room_for(expected);
                const std::size_t n_left = expected.left.size() - 1;
                table->pack_records(records.data(), n, marks.data(), packed.left.data(), n_left, packed.right.data());
                check_same_bits(packed.left, expected.left);
                check_same_bits(packed.right, expected.right);
                packed = room_for(expected_rows);
                table->pack_rows(1000, pairs.data(), n, marks.data(), packed.left.data(), n_left, packed.right.data());
                check_same_bits(packed.left, expected_rows.left);
                check_same_bits(packed.right, expected_rows.right);
            }
        }
});

// ---- scanning

Cell make_cell(std::int64_t gradient, Cell hessian, Cell n, bool counted) {
    const auto high = static_cast<Cell>(gradient);
    return counted ? (high << 38) + (hessian << 16) + n : (high << 32) + hessian;
}

Buffer<Cell> random_cells(std::uint64_t seed, int n_bins, bool missing, bool counted) {
    Buffer<Cell> cells(static_cast<std::size_t>(n_bins) + 64, 0);
    for (std::size_t bin = missing ? 0 : 1; bin < static_cast<std::size_t>(n_bins); ++bin) {
        const auto draw = bits_at(seed, bin);
        if (draw % 5 == 0) continue;  // an empty bin: its threshold ties with the one before
        const auto gradient = static_cast<std::int64_t>(draw >> 8 & 0xffff) - 0x8000;
        cells[bin] = make_cell(gradient, draw >> 40 & 0xff, 1 + (draw >> 48 & 0x7f), counted);
    }
    return cells;
}

void check_scan(const Buffer<Cell>& cells, int n_bins, const ScanTask& task) {
    const ScanResult slow = generic_kernels().scan(cells.data(), n_bins, task);
    const ScanResult fast = kernels().scan(cells.data(), n_bins, task);
    check_equal(fast.gain > task.beat, slow.gain > task.beat);
    if (!(slow.gain > task.beat)) return;
    check_equal(fast.gain, slow.gain);
    check_equal(fast.last, slow.last);
    check_equal(fast.missing_left, slow.missing_left);
}

const Test cell_fields("the fields of a cell are its gradient, its hessian and its number of rows", [] {
    const Cell plain = make_cell(-3, 70'000, 0, false) + make_cell(1, 5, 0, false);
    check_equal(sums_of(plain, false).gradient, -2);
    check_equal(sums_of(plain, false).hessian, 70'005);
    const Cell counted = make_cell(-3, 70'000, 12, true) + make_cell(1, 5, 3, true);
    check_equal(sums_of(counted, true).gradient, -2);
    check_equal(sums_of(counted, true).hessian, 70'005);
    check_equal(sums_of(counted, true).n, 15u);
});

const Test scanning("the best threshold is the first of the best, in every table", [] {
    for (std::uint64_t seed = 0; seed < 200; ++seed)
        for (const bool counted : {false, true}) {
            const int n_bins = static_cast<int>(1 + bits_at(77, seed) % 256);
            const Buffer<Cell> cells = random_cells(seed, n_bins, seed % 2 == 0, counted);
            Cell total = 0;
            for (const Cell cell : cells) total += cell;
            ScanTask task{.total = total,
                          .l2 = seed % 3 == 0 ? 0.0f : 2.5f,
                          .min_hessian = 1.0f,
                          .counted = counted,
                          .min_rows = 1,
                          .beat = -1.0f};
            check_scan(cells, n_bins, task);
            const float best = generic_kernels().scan(cells.data(), n_bins, task).gain;
            for (const float beat : {0.5f * best, best}) {
                task.beat = beat;
                check_scan(cells, n_bins, task);
            }
            task.beat = -1.0f;
            task.min_hessian = 100.0f;
            task.min_rows = 500;
            check_scan(cells, n_bins, task);
        }
});

const Test by_hand("the best threshold of three bins is the one found by hand, unless it leaves too few rows", [] {
    // Bins 1 to 3 hold gradients -4, -4, 6 with hessians 2, 2, 2: bin 3 alone on the right gives 64/4 + 36/2 = 34,
    // bin 1 alone on the left 16/2 + 4/4 = 9.
    for (const bool counted : {false, true})
        for (const Kernels* table : {&generic_kernels(), &kernels()}) {
            Buffer<Cell> cells(64, 0);
            cells[1] = make_cell(-4, 2, 5, counted);
            cells[2] = make_cell(-4, 2, 1, counted);
            cells[3] = make_cell(6, 2, 2, counted);
            ScanTask task{.total = make_cell(-2, 6, 8, counted),
                          .l2 = 0,
                          .min_hessian = 1,
                          .counted = counted,
                          .min_rows = 2,
                          .beat = -1};
            check_equal(table->scan(cells.data(), 4, task).gain, 34.0f);
            check_equal(table->scan(cells.data(), 4, task).last, Bin{2});
            task.min_rows = 3;
            check_equal(table->scan(cells.data(), 4, task).last, counted ? Bin{1} : Bin{2});
        }
});

const Test subtracting("a parent minus a child is the sibling", [] {
    for (const std::size_t n : kSizes) {
        Buffer<Cell> parent(n), child(n);
        for (std::size_t i = 0; i < n; ++i) parent[i] = bits_at(1, i), child[i] = bits_at(2, i);
        Buffer<Cell> sibling = parent;
        kernels().subtract(sibling.data(), child.data(), n);
        for (std::size_t i = 0; i < n; ++i) check_equal(sibling[i], parent[i] - child[i]);
    }
});

}  // namespace
}  // namespace coterie::tests
