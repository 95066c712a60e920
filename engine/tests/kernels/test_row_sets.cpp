// Nodes as sets of rows: every table does what the definition says.
#include <bit>
#include <numeric>

#include "coterie/base/buffer.hpp"
#include "random_inputs.hpp"

namespace coterie::tests {
namespace {

/// Rows of codes, transposed; a set of some of them; weights of several bits, or none.
struct TransposedSet {
    static constexpr std::size_t kColumns = 11;
    static constexpr std::size_t kStride = 16;

    std::size_t n;
    std::size_t n_words;
    std::vector<std::uint16_t> codes;
    std::vector<std::uint32_t> rows;
    Buffer<std::uint16_t> transposed;
    std::vector<const std::uint16_t*> column;
    std::vector<RowSet> set;
    std::vector<RowSet> weight;

    TransposedSet(std::uint64_t seed, std::size_t n_rows, bool has_missing, std::size_t n_bits)
        : n(n_rows),
          n_words((n_rows + kSetRows - 1) / kSetRows),
          codes((n_rows + 1) * kStride),
          transposed(16 * n_words * kSetRows),
          set(n_words, 0),
          weight(n_bits * n_words) {
        for (std::size_t i = 0; i < codes.size(); ++i) {
            const std::uint64_t draw = bits_at(seed, i);
            codes[i] =
                has_missing && draw % 7 == 0 ? std::uint16_t{0} : static_cast<std::uint16_t>(1 + (draw >> 20) % 65'000);
        }
        for (std::size_t i = 0; i < n; ++i) {
            rows.push_back(static_cast<std::uint32_t>(bits_at(seed + 1, i) % n));
            if (bits_at(seed + 2, i) % 3 != 0) set[i / kSetRows] |= RowSet{1} << (i % kSetRows);
        }
        if (n > 0) set[0] |= 1;
        for (std::size_t i = 0; i < weight.size(); ++i) weight[i] = bits_at(seed + 3, i);
        std::fill(transposed.begin(), transposed.end(), std::uint16_t{0xabcd});
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t k = 0; k < kColumns; ++k) transposed[k * n_words * kSetRows + i] = code(i, k);
        for (std::size_t k = 0; k < kColumns; ++k) column.push_back(transposed.data() + k * n_words * kSetRows);
    }

    std::uint16_t code(std::size_t i, std::size_t k) const { return codes[rows[i] * kStride + k]; }
    bool has(std::size_t i) const { return set[i / kSetRows] >> (i % kSetRows) & 1; }
    TransposedCodes view() const { return {column.data(), n_words}; }
    SetWeights weights(std::size_t second) const {
        return {weight.data(), n_words == 0 ? 0 : weight.size() / n_words, second};
    }
    std::uint64_t statistic(std::size_t i, std::size_t second) const {
        std::uint64_t own = weight.empty();
        for (std::size_t bit = 0; bit * n_words < weight.size(); ++bit)
            own += (weight[bit * n_words + i / kSetRows] >> (i % kSetRows) & 1) << bit;
        return i >= second ? own << 32 | own : own;
    }
};

constexpr std::array<std::uint32_t, kCodeColumns> kLanes{3, 0, 10, 7, 7, 1, 9, 4};

template <class Body>
void for_transposed_sets(Body body) {
    for (const std::size_t n : {1, 2, 31, 32, 33, 63, 64, 65, 127, 128, 200, 700})
        for (const bool has_missing : {false, true})
            for (const std::size_t n_bits : {0, 1, 3}) body(TransposedSet(n + n_bits, n, has_missing, n_bits));
}

const Test transposing("rows of codes become columns, whatever the order of rows, in every table", [] {
    for_transposed_sets([](const TransposedSet& rows) {
        for (const Kernels* table : kernel_tables()) {
            const std::size_t stride = (rows.n_words + 1) * kSetRows;
            Buffer<std::uint16_t> out(16 * stride);
            table->row_set.transpose_codes(rows.codes.data(), TransposedSet::kStride, rows.rows.data(), rows.n,
                                           TransposedSet::kColumns, out.data(), stride);
            for (std::size_t i = 0; i < rows.n; ++i)
                for (std::size_t k = 0; k < TransposedSet::kColumns; ++k)
                    check_equal(out[k * stride + i], rows.code(i, k));
        }
    });
});

const Test ranges_of_sets("the ranges of a set are those of its rows, missing or not, in every table", [] {
    for_transposed_sets([](const TransposedSet& rows) {
        for (const Kernels* table : kernel_tables()) {
            CodeRanges ranges;
            table->row_set.code_ranges(rows.view(), rows.set.data(), kLanes.data(), kCodeColumns, ranges);
            for (std::size_t lane = 0; lane < kCodeColumns; ++lane) {
                std::uint16_t least = 0xffff;
                std::uint16_t known = 0xffff;
                std::uint16_t greatest = 0;
                for (std::size_t i = 0; i < rows.n; ++i) {
                    if (!rows.has(i)) continue;
                    const std::uint16_t code = rows.code(i, kLanes[lane]);
                    least = std::min(least, code);
                    greatest = std::max(greatest, code);
                    known = std::min(known, static_cast<std::uint16_t>(code - 1));
                }
                check_equal(ranges.least[lane], least);
                check_equal(ranges.greatest[lane], greatest);
                check_equal(ranges.least_known_less_one[lane], known);
            }
        }
    });
});

const Test sides_of_sets("the sums of a side, its rows and the parted sets agree with one row after the other", [] {
    for_transposed_sets([](const TransposedSet& rows) {
        for (const std::size_t second : {std::size_t{0}, rows.n / 3, rows.n}) {
            SetCuts cuts;
            for (std::size_t lane = 0; lane < kCodeColumns; ++lane) {
                cuts.shift[lane] = static_cast<std::uint16_t>(lane % 2);
                cuts.last[lane] = static_cast<std::uint16_t>(bits_at(second, lane) % 65'000);
            }
            for (const Kernels* table : kernel_tables()) {
                SetSums sums;
                std::vector<RowSet> left(kCodeColumns * rows.n_words, 0xabcd);
                table->row_set.sum_left(rows.view(), rows.set.data(), kLanes.data(), kCodeColumns, cuts,
                                        rows.weights(second), sums, left.data());
                SetSums again;
                table->row_set.sum_left(rows.view(), rows.set.data(), kLanes.data(), kCodeColumns, cuts,
                                        rows.weights(second), again, nullptr);
                for (std::size_t lane = 0; lane < kCodeColumns; ++lane) {
                    std::uint64_t statistic = 0;
                    std::uint32_t n_left = 0;
                    std::vector<RowSet> expected(rows.n_words, 0);
                    for (std::size_t i = 0; i < rows.n; ++i) {
                        const auto moved = static_cast<std::uint16_t>(rows.code(i, kLanes[lane]) - cuts.shift[lane]);
                        const auto span = static_cast<std::uint16_t>(cuts.last[lane] - cuts.shift[lane]);
                        if (!rows.has(i) || moved > span) continue;
                        expected[i / kSetRows] |= RowSet{1} << (i % kSetRows);
                        statistic += rows.statistic(i, second);
                        ++n_left;
                    }
                    check_equal(sums.statistic[lane], statistic);
                    check_equal(sums.n_rows[lane], n_left);
                    check_equal(again.statistic[lane], statistic);
                    check_equal(again.n_rows[lane], n_left);
                    std::vector<RowSet> right = rows.set;
                    std::vector<RowSet> parted(rows.n_words);
                    table->row_set.partition(rows.column[kLanes[lane]], rows.n_words, cuts.shift[lane], cuts.last[lane],
                                             right.data(), parted.data());
                    for (std::size_t word = 0; word < rows.n_words; ++word) {
                        check_equal(left[lane * rows.n_words + word], expected[word]);
                        check_equal(parted[word], expected[word]);
                        check_equal(right[word], rows.set[word] & ~expected[word]);
                    }
                }
            }
        }
    });
});

const Test drawn("the best random cut of a word is found, the first of equals, in every table", [] {
    constexpr std::array<std::uint32_t, kCodeColumns> shares{0u,       1u << 31, ~0u,      3u << 28,
                                                             7u << 27, 1u,       5u << 29, 9u << 26};
    for_transposed_sets([&](const TransposedSet& rows) {
        if (rows.n > kSetRows) return;
        for (const std::size_t second : {std::size_t{0}, rows.n / 3, rows.n})
            for (std::size_t n_lanes = 1; n_lanes <= kCodeColumns; ++n_lanes)
                for (const double known : {-1.0, 0.0, 1e3}) {
                    std::uint64_t total = 0;
                    for (std::size_t i = 0; i < rows.n; ++i) total += rows.has(i) ? rows.statistic(i, second) : 0;
                    bool missing = false;
                    DrawnCut best{.gain = known};
                    const auto all = static_cast<double>(total & 0xffffffffu);
                    for (std::size_t lane = 0; lane < n_lanes; ++lane) {
                        std::uint64_t least = 0xffff;
                        std::uint64_t greatest = 0;
                        for (std::size_t i = 0; i < rows.n; ++i) {
                            if (!rows.has(i)) continue;
                            least = std::min<std::uint64_t>(least, rows.code(i, kLanes[lane]));
                            greatest = std::max<std::uint64_t>(greatest, rows.code(i, kLanes[lane]));
                        }
                        missing = missing || least == 0;
                        if (least == greatest) continue;
                        best.varies = true;
                        const auto last = static_cast<std::uint16_t>(least + (shares[lane] * (greatest - least) >> 32));
                        std::uint64_t statistic = 0;
                        RowSet left = 0;
                        for (std::size_t i = 0; i < rows.n; ++i) {
                            if (!rows.has(i) || rows.code(i, kLanes[lane]) > last) continue;
                            statistic += rows.statistic(i, second);
                            left |= RowSet{1} << i;
                        }
                        const auto weight = static_cast<double>(statistic & 0xffffffffu);
                        const double distance =
                            static_cast<double>(statistic >> 32) * all - weight * static_cast<double>(total >> 32);
                        const double gain = distance * distance / (weight * (all - weight));
                        if (!(gain > best.gain)) continue;
                        best = {gain, static_cast<std::uint32_t>(lane), last, true, true, statistic, left};
                    }
                    for (const Kernels* table : kernel_tables()) {
                        DrawnCut own{.gain = known};
                        const bool done = table->row_set.draw_cuts(rows.view(), rows.set[0], kLanes.data(), n_lanes,
                                                                   shares.data(), rows.weights(second), total, own);
                        check_equal(done, !missing);
                        if (missing) continue;
                        check_equal(own.varies, best.varies);
                        check_equal(own.found, best.found);
                        check_equal(own.gain, best.gain);
                        if (!best.found) continue;
                        check_equal(own.column, best.column);
                        check_equal(own.last, best.last);
                        check_equal(own.statistic, best.statistic);
                        check_equal(own.left, best.left);
                    }
                }
    });
});

const Test rows_of_sets("the rows of a set come in their order, and so do its codes, in every table", [] {
    for_transposed_sets([](const TransposedSet& rows) {
        std::vector<std::uint32_t> expected;
        std::vector<std::uint16_t> codes;
        for (std::size_t i = 0; i < rows.n; ++i)
            if (rows.has(i)) {
                expected.push_back(rows.rows[i]);
                if (i < kSetRows) codes.push_back(rows.code(i, 5));
            }
        for (const Kernels* table : kernel_tables()) {
            std::vector<std::uint32_t> out(rows.n + 16);
            out.resize(table->row_set.rows_of(rows.set.data(), rows.n_words, rows.rows.data(), out.data()));
            check_equal(out, expected);
            std::vector<std::uint16_t> own(kSetRows);
            table->row_set.codes_of(rows.column[5], rows.set[0], own.data());
            own.resize(codes.size());
            check_equal(own, codes);
        }
    });
});

}  // namespace
}  // namespace coterie::tests
