// A node's rows are split as std::stable_partition splits them, for any number of threads and chunks.
#include "coterie/boosting/row_partition.hpp"
#include "random_inputs.hpp"
#include "reference/partition.hpp"
#include "tables_by_hand.hpp"

namespace coterie::tests {
namespace {

constexpr std::size_t kChunk = 16'384;  // of the partition

std::shared_ptr<const BinnedMatrix> binned(std::size_t n_rows) {
    const Columns table = random_columns(1, n_rows, 3);
    auto mapper = std::make_shared<const BinMapper>(BinMapper::fit(table.view(), {}, 255, 1, 1));
    return std::make_shared<const BinnedMatrix>(table.view(), std::move(mapper), 1);
}

Buffer<Pair> random_pairs(std::size_t n) {
    Buffer<Pair> pairs(n);
    for (std::size_t i = 0; i < n; ++i) pairs[i] = static_cast<Pair>(bits_at(1, i));
    return pairs;
}

std::vector<Record> records_of(std::span<const Pair> pairs) {
    std::vector<Record> records;
    for (RowIndex row = 0; row < pairs.size(); ++row) records.push_back(make_record(row, pairs[row]));
    return records;
}

/// Splits the node, compares with the slow twin, and returns the children with their records.
std::array<RowRange, 2> check_split(RowPartition& partition, const BinnedMatrix& matrix, const RowRange& node,
                                    std::vector<Record> records, FeatureIndex feature, const BinRule& rule,
                                    int n_threads = 1) {
    Marks marks;
    const Bin* const column = matrix.column(feature);
    const auto slow =
        reference::slow_partition(records, [&](Record record) { return passes(rule, column[row_of(record)]); });
    check_equal(partition.count_left(node, feature, rule, marks, n_threads), slow.n_left);
    const std::vector<std::uint32_t> counts = partition.count_bins(node, feature);
    std::vector<std::uint32_t> expected(kMaxBins);
    for (const Record record : records) ++expected[column[row_of(record)]];
    check(counts == expected, "rows are counted bin by bin");
    const auto children = partition.split(node, feature, rule, marks, n_threads);
    check_equal(children[0].n, slow.n_left);
    check_equal(children[0].n + children[1].n, node.n);
    std::vector<Record> received;
    for (const RowRange& child : children)
        for (const Record record : partition.records(child)) received.push_back(record);
    check(received == slow.records, "both children hold their rows in order");
    return children;
}

std::vector<Record> held(const RowPartition& partition, const RowRange& node) {
    const auto records = partition.records(node);
    return {records.begin(), records.end()};
}

const Test chunks("rows are split in order around the boundaries of chunks", [] {
    const BinRule rules[] = {{.last = 100, .shift = 1, .table = nullptr},
                             {.last = 255, .shift = 0, .table = nullptr},  // all left
                             {.last = 0, .shift = 0, .table = nullptr}};   // only missing rows left
    for (const std::size_t n : {std::size_t{1}, std::size_t{33}, kChunk - 1, kChunk, kChunk + 1, 2 * kChunk + 7}) {
        const auto matrix = binned(n);
        const Buffer<Pair> pairs = random_pairs(n);
        for (const int n_threads : {1, 3}) {
            RowPartition partition(*matrix, n_threads);
            for (const BinRule& rule : rules) {
                const RowRange root = partition.start(pairs, {});
                const auto children = check_split(partition, *matrix, root, records_of(pairs), 0, rule, n_threads);
                for (const RowRange& child : children)
                    check_split(partition, *matrix, child, held(partition, child), 1, rules[0], n_threads);
            }
        }
    }
});

const Test siblings("splitting one child leaves the rows of the other alone", [] {
    const auto matrix = binned(5000);
    const Buffer<Pair> pairs = random_pairs(5000);
    RowPartition partition(*matrix, 2);
    Marks marks;
    const auto children =
        partition.split(partition.start(pairs, {}), 0, {.last = 90, .shift = 1, .table = nullptr}, marks, 2);
    const std::vector<Record> right = held(partition, children[1]);
    const auto grandchildren = partition.split(children[0], 1, {.last = 40, .shift = 0, .table = nullptr}, marks, 2);
    check(held(partition, children[1]) == right, "the right child keeps its rows");
    const std::vector<Record> left = held(partition, grandchildren[0]);
    partition.split(children[1], 1, {.last = 40, .shift = 0, .table = nullptr}, marks, 2);
    check(held(partition, grandchildren[0]) == left, "the left grandchild keeps its rows");
});

const Test chosen_rows("a tree on some rows holds these and no others", [] {
    const auto matrix = binned(1000);
    const Buffer<Pair> pairs = random_pairs(1000);
    std::vector<RowIndex> rows;
    std::vector<Record> expected;
    for (RowIndex row = 1; row < 1000; row += 3) {
        expected.push_back(make_record(row, pairs[rows.size()]));
        rows.push_back(row);
    }
    RowPartition partition(*matrix, 1);
    const RowRange root = partition.start(pairs, rows);
    check(held(partition, root) == expected, "the root holds the chosen rows with their pairs");
    check_split(partition, *matrix, root, expected, 2, {.last = 3, .shift = 1, .table = nullptr});
    const RowRange all = partition.start(pairs, {});
    check_equal(all.n, std::size_t{1000});
});

}  // namespace
}  // namespace coterie::tests
