// Cells of a forest's node and the parting of its records: every table does what the definition says.
#include "random_inputs.hpp"

namespace coterie::tests {
namespace {

/// Rows of codes, a fifth of them missing, and records that name them in some order, some of them twice.
struct Node {
    std::size_t stride = 12;
    std::vector<std::uint16_t> codes;
    std::vector<WordRecord> records;

    Node(std::uint64_t seed, std::size_t n, std::uint32_t most_codes) : codes((n + 1) * stride) {
        for (std::size_t i = 0; i < codes.size(); ++i) {
            const std::uint64_t draw = bits_at(seed, i);
            codes[i] = draw % 5 == 0 ? std::uint16_t{0} : static_cast<std::uint16_t>(1 + (draw >> 16) % most_codes);
        }
        for (std::size_t i = 0; i < n; ++i)
            records.push_back(
                {.statistic = bits_at(seed + 1, i) >> 20, .row = static_cast<std::uint32_t>(bits_at(seed + 2, i) % n)});
    }
};

constexpr std::array<std::uint32_t, kCodeColumns> kColumns{3, 0, 10, 7, 7, 1, 9, 4};

const Test cells("cells hold the statistics of their records, and the codes are kept, in every table", [] {
    for (std::size_t n = 0; n <= 300; n += n < 40 ? 1 : 13)
        for (std::size_t n_columns = 1; n_columns <= kCodeColumns; ++n_columns)
            for (const std::uint32_t shift : {0u, 1u, 8u}) {
                const Node node(n, n, 255u << shift);
                CellColumns columns{.n = n_columns};
                for (std::size_t lane = 0; lane < n_columns; ++lane) {
                    columns.column[lane] = kColumns[lane];
                    columns.add[lane] = static_cast<std::uint16_t>((1u << shift) - 1);
                    columns.factor[lane] = static_cast<std::uint16_t>(0x10000u >> shift);
                }
                std::vector<std::uint64_t> expected(kCodeColumns * kColumnCells, 5);
                for (const WordRecord& record : node.records)
                    for (std::size_t lane = 0; lane < n_columns; ++lane) {
                        const std::uint32_t code = node.codes[record.row * node.stride + kColumns[lane]];
                        const std::uint32_t cell = (code + (1u << shift) - 1) >> shift;
                        check(cell < kColumnCells, "a code has a cell");
                        expected[lane * kColumnCells + cell] += record.statistic;
                    }
                for (const std::size_t fetched : {std::size_t{0}, node.stride})
                    for (const Kernels* table : kernel_tables()) {
                        std::vector<std::uint64_t> cells(kCodeColumns * kColumnCells, 5);
                        std::vector<std::uint16_t> seen(n * kCodeColumns + 1, 0xabcd);
                        table->words.fill_cells({node.codes.data(), node.stride, fetched, n}, node.records.data(), n,
                                                columns, cells.data(), seen.data());
                        check_equal(cells, expected);
                        for (std::size_t i = 0; i < n; ++i)
                            for (std::size_t lane = 0; lane < n_columns; ++lane)
                                check_equal(seen[i * kCodeColumns + lane],
                                            node.codes[node.records[i].row * node.stride + kColumns[lane]]);
                        check_equal(seen[n * kCodeColumns], std::uint16_t{0xabcd});
                    }
            }
});

const Test parting("records keep their order on both sides, missing codes go where the shift says", [] {
    for (std::size_t n = 0; n <= 200; ++n)
        for (const std::size_t stride : {std::size_t{1}, kCodeColumns})
            for (const std::uint16_t shift : {std::uint16_t{0}, std::uint16_t{1}})
                for (const std::uint32_t share : {0u, 1u, 128u, 65535u}) {
                    const Node node(n, n, 65'280);
                    std::vector<std::uint16_t> codes(n * stride);
                    for (std::size_t i = 0; i < n; ++i) codes[i * stride] = node.codes[i];
                    const auto last = static_cast<std::uint16_t>(share == 128 ? 30'000 : share);
                    std::vector<std::uint32_t> left;
                    std::vector<std::uint32_t> right;
                    for (std::size_t i = 0; i < n; ++i) {
                        const std::uint16_t code = codes[i * stride];
                        const bool goes_left = code == 0 ? shift == 0 : code <= last;
                        (goes_left ? left : right).push_back(node.records[i].row);
                    }
                    if (last == 0 && shift == 1) continue;  // no known code goes left: not a rule of a node
                    for (const Kernels* table : kernel_tables()) {
                        std::vector<WordRecord> records = node.records;
                        std::vector<WordRecord> others(n + 1);
                        const std::size_t n_left = table->words.partition(
                            records.data(), n, {codes.data(), stride, shift, last}, others.data());
                        check_equal(n_left, left.size());
                        for (std::size_t i = 0; i < n_left; ++i) check_equal(records[i].row, left[i]);
                        for (std::size_t i = 0; i < right.size(); ++i) check_equal(others[i].row, right[i]);
                    }
                }
});

}  // namespace
}  // namespace coterie::tests
