// The kernels of a forest's nodes: every table gives the bits of the definition, and the definition is what it says.
#include <numeric>

#include "random_inputs.hpp"

namespace coterie::tests {
namespace {

constexpr std::uint64_t kGarbage = 0x0700000000000003ull;  // of a large sum and a small weight

/// Cells of one node, with something to learn: sums follow the number of the cell. A third of them are empty.
struct Words {
    bool narrow;
    std::vector<std::uint64_t> cells;  // cell 0 and what follows the last one are none of the scan's business
    std::uint32_t last;
    std::uint64_t start = 0;
    std::uint64_t apart = 0;  // on the right to the end

    int weight_bits() const { return narrow ? 32 : 24; }
    std::uint64_t word(std::uint64_t sum, std::uint64_t weight) const { return sum << weight_bits() | weight; }
    double sum_of(std::uint64_t word) const { return static_cast<double>(word >> weight_bits()); }
    double weight_of(std::uint64_t word) const {
        return static_cast<double>(word & ((std::uint64_t{1} << weight_bits()) - 1));
    }
    std::uint64_t total() const {
        return std::accumulate(cells.begin() + 1, cells.begin() + 1 + static_cast<std::ptrdiff_t>(last), start + apart);
    }
    WordScan task() const {
        const std::uint64_t all = total();
        const double mean = weight_of(all) > 0.0 ? sum_of(all) / weight_of(all) : 0.0;
        return {.start = start, .total = all, .mean = static_cast<float>(mean), .narrow = narrow};
    }
};

Words random_words(std::uint64_t seed, std::uint32_t last, bool narrow, bool with_start) {
    Words words{.narrow = narrow, .cells = std::vector<std::uint64_t>(last + 9, kGarbage), .last = last};
    // A sum of numbers may fill 39 bits; a sum of classes is at most the weight.
    const double largest = narrow ? 1.0 : std::exp2(39) / (301.0 * 200.0);
    for (std::uint32_t cell = 1; cell <= last; ++cell) {
        const std::uint64_t draw = bits_at(seed, cell);
        const std::uint64_t weight = draw % 3 == 0 ? 0 : 1 + (draw >> 8) % 200;
        const double share = 0.05 + 0.85 * (cell - 1.0) / last + 0.1 * unit_at(seed, cell);
        words.cells[cell] =
            words.word(static_cast<std::uint64_t>(static_cast<double>(weight) * share * largest), weight);
    }
    (with_start ? words.start : words.apart) = words.word(static_cast<std::uint64_t>(60 * largest), 70);
    return words;
}

/// The gain of a cut after the cell, in double precision; -1 where a side is empty.
double gain_after(const Words& words, std::uint32_t cell) {
    const std::uint64_t all = words.total();
    const std::uint64_t left = std::accumulate(
        words.cells.begin() + 1, words.cells.begin() + 1 + static_cast<std::ptrdiff_t>(cell), words.start);
    const double weight = words.weight_of(left);
    const double right = words.weight_of(all) - weight;
    if (weight == 0.0 || right == 0.0) return -1.0;
    const double distance = words.sum_of(left) - weight * words.sum_of(all) / words.weight_of(all);
    return distance * distance / (weight * right);
}

const Test best_word_cut("the best cut of words is that of double precision, to the digits of a float", [] {
    for (std::uint32_t last = 0; last <= 300; ++last)
        for (const bool narrow : {true, false})
            for (const bool with_start : {false, true}) {
                const Words words = random_words(last, last, narrow, with_start);
                double best = -1.0;
                for (std::uint32_t cell = 1; cell <= last; ++cell) best = std::max(best, gain_after(words, cell));
                const WordCut cut = generic_kernels().words.scan(words.cells.data(), last, words.task());
                if (best < 0.0) {
                    check_equal(cut.gain, -1.0f);
                    continue;
                }
                check_near(cut.gain, best, 1e-5 * best);
                check_near(gain_after(words, cut.cell), best, 1e-5 * best);
            }
});

const Test same_word_cut("every table cuts words at the same cell, with the same bits of gain", [] {
    for (std::uint64_t seed = 0; seed < 4; ++seed)
        for (std::uint32_t last = 0; last <= 300; ++last)
            for (const bool narrow : {true, false})
                for (const bool with_start : {false, true}) {
                    const Words words = random_words(1000 * seed + last, last, narrow, with_start);
                    const WordCut slow = generic_kernels().words.scan(words.cells.data(), last, words.task());
                    const WordCut fast = kernels().words.scan(words.cells.data(), last, words.task());
                    check_equal(std::bit_cast<std::uint32_t>(fast.gain), std::bit_cast<std::uint32_t>(slow.gain));
                    check_equal(fast.cell, slow.cell);
                }
});

const Test first_of_equal_cuts("of equal cuts the first is taken, and a cut after an empty cell is never it", [] {
    for (const Kernels* table : kernel_tables())
        for (std::uint32_t gap = 0; gap < 20; ++gap) {
            // Two rows of class 1, empty cells, four of class 0, empty cells, two of class 1: both cuts part 2 from 6.
            std::vector<std::uint64_t> cells(2 * gap + 16, 0);
            const std::uint64_t ones = std::uint64_t{2} << 32 | 2;
            cells[1] = cells[2 * gap + 3] = ones;
            cells[gap + 2] = 4;
            const WordScan task{.start = 0, .total = 2 * ones + 4, .mean = 0.5f, .narrow = true};
            const WordCut cut = table->words.scan(cells.data(), 2 * gap + 3, task);
            check_equal(cut.cell, 1u);
            check_equal(cut.gain, 1.0f / 12.0f);
        }
});

const Test no_cut("a node without a second cell has no cut, unless something was there from the start", [] {
    for (const Kernels* table : kernel_tables())
        for (const bool narrow : {true, false}) {
            Words words{.narrow = narrow, .cells = std::vector<std::uint64_t>(40, kGarbage), .last = 20};
            std::fill_n(words.cells.begin() + 1, 20, 0);
            words.cells[7] = words.word(3, 5);
            check_equal(table->words.scan(words.cells.data(), 20, words.task()).gain, -1.0f);
            words.start = words.word(1, 2);
            const WordCut cut = table->words.scan(words.cells.data(), 20, words.task());
            check_equal(cut.cell, 1u);  // before the only cell: what was there from the start, alone
            check_near(cut.gain, (1 - 2 * 4.0 / 7) * (1 - 2 * 4.0 / 7) / 10, 1e-7);
        }
});

const Test squares("scores of squares have the same bits in every table, and are the squares over the weights", [] {
    for (std::size_t n = 0; n <= 300; ++n) {
        std::vector<double> sum(n);
        std::vector<double> weight(n);
        double total = 1.0;
        double total_weight = 1.0;
        for (std::size_t i = 0; i < n; ++i) {
            sum[i] = total += 100.0 * unit_at(n, i);
            weight[i] = total_weight += static_cast<double>(bits_at(n, i) % 5);
        }
        total += 3.0;
        total_weight += 2.0;
        std::vector<double> slow(n + 1, -7.0);
        std::vector<double> fast(n + 1, -7.0);
        generic_kernels().words.square_scores(sum.data(), weight.data(), n, total, total_weight, slow.data());
        kernels().words.square_scores(sum.data(), weight.data(), n, total, total_weight, fast.data());
        check_equal(fast, slow);
        check_equal(fast[n], -7.0);
        for (std::size_t i = 0; i < n; ++i) {
            const double right = total - sum[i];
            const double score = sum[i] * sum[i] / weight[i] + right * right / (total_weight - weight[i]);
            check_near(slow[i], score, 1e-12 * score);
        }
    }
});

const Test empty_sides("no score of squares is greater than a number where a side has no weight", [] {
    for (const Kernels* table : kernel_tables()) {
        const std::vector<double> sum{0, 0, 6, 6, 0, 6};
        const std::vector<double> weight{0, 0, 9, 9, 0, 9};
        std::vector<double> score(6);
        table->words.square_scores(sum.data(), weight.data(), 6, 6, 9, score.data());
        for (const double one : score) check(!(one > -std::numeric_limits<double>::infinity()), "it is not a number");
    }
});

struct Rows {
    std::size_t stride;
    std::vector<std::uint16_t> codes;
    std::vector<WordRecord> records;
};

/// Rows of codes, a fifth of them missing, and records that name them in some order, some of them twice.
Rows random_rows(std::uint64_t seed, std::size_t n, std::size_t stride) {
    Rows rows{.stride = stride, .codes = std::vector<std::uint16_t>((n + 1) * stride), .records = {}};
    for (std::size_t i = 0; i < rows.codes.size(); ++i) {
        const std::uint64_t draw = bits_at(seed, i);
        rows.codes[i] = draw % 5 == 0 ? std::uint16_t{0} : static_cast<std::uint16_t>(draw >> 16);
    }
    for (std::size_t i = 0; i < n; ++i)
        rows.records.push_back(
            {.statistic = bits_at(seed + 1, i) >> 10, .row = static_cast<std::uint32_t>(bits_at(seed + 2, i) % n)});
    return rows;
}

constexpr std::array<std::uint32_t, 8> kColumns{3, 0, 10, 7, 7, 1, 9, 4};

const Test gathered("gathered codes and their ranges are those of the rows, in every table", [] {
    for (std::size_t n = 0; n <= 300; n += n < 40 ? 1 : 13)
        for (std::size_t n_columns = 1; n_columns <= kCodeColumns; ++n_columns)
            for (const std::size_t n_seen : {n, n / 3}) {
                const Rows rows = random_rows(n, n, 12);
                for (const Kernels* table : kernel_tables()) {
                    std::vector<std::uint16_t> out(n_seen * kCodeColumns, 0xabcd);
                    CodeRanges ranges;
                    table->words.gather_codes(rows.codes.data(), rows.stride, rows.records.data(), n_seen,
                                              kColumns.data(), n_columns, out.data(), ranges);
                    for (std::size_t lane = 0; lane < n_columns; ++lane) {
                        std::uint32_t least = 0xffff;
                        std::uint32_t greatest = 0;
                        std::uint32_t known = 0x10000;
                        for (std::size_t i = 0; i < n_seen; ++i) {
                            const std::uint16_t code = rows.codes[rows.records[i].row * rows.stride + kColumns[lane]];
                            check_equal(out[i * kCodeColumns + lane], code);
                            least = std::min<std::uint32_t>(least, code);
                            greatest = std::max<std::uint32_t>(greatest, code);
                            if (code > 0) known = std::min<std::uint32_t>(known, code);
                        }
                        check_equal(ranges.least[lane], least);
                        check_equal(ranges.greatest[lane], greatest);
                        check_equal(ranges.least_known_less_one[lane], known - 1);
                    }
                }
            }
});

const Test summed("the sum of the left is that of the rows that go left, missing ones by the shift", [] {
    for (std::size_t n = 0; n <= 300; n += n < 40 ? 1 : 13)
        for (const std::size_t n_seen : {n, n / 3}) {
            const Rows rows = random_rows(n + 7, n, kCodeColumns);
            std::array<std::uint16_t, kCodeColumns> shift{};
            std::array<std::uint16_t, kCodeColumns> last{};
            for (std::size_t lane = 0; lane < kCodeColumns; ++lane) {
                shift[lane] = static_cast<std::uint16_t>(lane % 2);
                last[lane] = static_cast<std::uint16_t>(1 + bits_at(n, lane) % 0xfffe);
            }
            last[6] = last[7] = 0xffff;
            std::array<std::uint64_t, kCodeColumns> expected{};
            for (std::size_t i = 0; i < n_seen; ++i)
                for (std::size_t lane = 0; lane < kCodeColumns; ++lane) {
                    const std::uint16_t code = rows.codes[i * kCodeColumns + lane];
                    const bool goes = code == 0 ? shift[lane] == 0 : code <= last[lane];
                    if (goes) expected[lane] += rows.records[i].statistic;
                }
            for (const Kernels* table : kernel_tables()) {
                std::array<std::uint64_t, kCodeColumns> sums;
                table->words.sum_left(rows.codes.data(), rows.records.data(), n_seen, shift.data(), last.data(),
                                      sums.data());
                check_equal(sums, expected);
            }
        }
});

}  // namespace
}  // namespace coterie::tests
