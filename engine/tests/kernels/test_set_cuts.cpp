// The best cut of a set of rows: every table finds what a look at each cut of each column finds.
#include <algorithm>
#include <bit>

#include "coterie/base/buffer.hpp"
#include "random_inputs.hpp"

namespace coterie::tests {
namespace {

/// A word of rows of two classes, transposed, with small weights; a set of some of them.
struct Word {
    static constexpr std::size_t kColumns = 8;
    static constexpr std::size_t kBits = 2;

    Buffer<std::uint16_t> codes = Buffer<std::uint16_t>(kColumns * kSetRows);
    Buffer<std::uint16_t> statistic = Buffer<std::uint16_t>(kSetRows);
    std::vector<const std::uint16_t*> column;
    std::vector<RowSet> weight = std::vector<RowSet>(kBits, 0);
    std::size_t second = 0;
    RowSet set = 0;

    Word(std::uint64_t seed, std::size_t n_rows, std::size_t n_codes) : second(bits_at(seed + 1, 0) % kSetRows) {
        for (std::size_t i = 0; i < codes.size(); ++i)
            codes[i] = static_cast<std::uint16_t>(n_codes > 40'000 ? 1 + bits_at(seed, i) % 65'535
                                                                   : 1 + bits_at(seed, i) % n_codes);
        for (std::size_t i = 0; i < kSetRows; ++i) {
            const std::uint64_t own = n_rows > 20 ? 1 : 1 + bits_at(seed + 2, i) % 3;
            statistic[i] = static_cast<std::uint16_t>(i >= second ? own << 8 | own : own);
            for (std::size_t bit = 0; bit < kBits; ++bit) weight[bit] |= RowSet{own >> bit & 1} << i;
        }
        for (std::size_t i = 0; static_cast<std::size_t>(std::popcount(set)) < n_rows; ++i)
            set |= RowSet{1} << bits_at(seed + 3, i) % kSetRows;
        for (std::size_t k = 0; k < kColumns; ++k) column.push_back(codes.data() + k * kSetRows);
    }

    bool has(std::size_t i) const { return set >> i & 1; }
    std::uint32_t sum_of(RowSet rows) const { return total(rows) >> 8; }
    std::uint32_t weight_of(RowSet rows) const { return total(rows) & 0xff; }
    std::uint32_t total(RowSet rows) const {
        std::uint32_t all = 0;
        for (std::size_t i = 0; i < kSetRows; ++i)
            if (rows >> i & 1) all += statistic[i];
        return all;
    }
    SmallClassNode node(std::uint16_t salt) const {
        return {.statistic = statistic.data(),
                .n = static_cast<std::size_t>(std::popcount(set)),
                .sum = sum_of(set),
                .weight = weight_of(set),
                .salt = salt};
    }

    SetCut slow(const std::vector<std::uint32_t>& columns, std::uint16_t salt) const {
        SetCut best;
        for (std::size_t k = 0; k < columns.size(); ++k) {
            const std::uint16_t* const own = column[columns[k]];
            for (std::size_t cut = 0; cut < kSetRows; ++cut) {
                if (!has(cut)) continue;
                RowSet left = 0;
                std::uint16_t next = 0xffff;
                for (std::size_t i = 0; i < kSetRows; ++i) {
                    if (!has(i)) continue;
                    if (own[i] <= own[cut])
                        left |= RowSet{1} << i;
                    else
                        next = std::min(next, own[i]);
                }
                if (left == set) continue;
                const auto weights = static_cast<int>(weight_of(left));
                const auto all = static_cast<int>(weight_of(set));
                const auto distance =
                    static_cast<float>(static_cast<int>(sum_of(left)) * all - weights * static_cast<int>(sum_of(set)));
                const float gain = distance * distance / static_cast<float>(weights * (all - weights));
                const bool first = best.column == k && gain == best.gain && (own[cut] ^ salt) < (best.last ^ salt);
                if (!(gain > best.gain || first)) continue;
                best = {.gain = gain,
                        .column = static_cast<std::uint32_t>(k),
                        .last = own[cut],
                        .next = next,
                        .left = left,
                        .statistic = std::uint64_t{sum_of(left)} << 32 | weight_of(left)};
            }
        }
        return best;
    }
};

const Test twins("every table finds the cut that a look at all of them finds", [] {
    for (std::uint64_t seed = 0; seed < 400; ++seed) {
        const std::size_t n_rows = 1 + bits_at(90, seed) % 32;
        const Word word(1000 * seed, n_rows, std::vector<std::size_t>{1, 2, 3, 12, 60'000}[seed % 5]);
        std::vector<std::uint32_t> columns(1 + bits_at(91, seed) % Word::kColumns);
        for (std::size_t k = 0; k < columns.size(); ++k) columns[k] = static_cast<std::uint32_t>((seed + 3 * k) % 8);
        const auto salt = static_cast<std::uint16_t>(bits_at(92, seed));
        const SetCut expected = word.slow(columns, salt);
        for (const Kernels* table : kernel_tables()) {
            SetCut cut;
            const SetWeights weights{word.weight.data(), Word::kBits, word.second};
            check(table->set_cut.best({word.column.data(), 1}, word.set, columns.data(), columns.size(),
                                      word.node(salt), weights, cut),
                  "nothing is missing");
            check_equal(cut.gain, expected.gain);
            if (expected.gain < 0.0f) continue;
            check_equal(cut.column, expected.column);
            check_equal(cut.last, expected.last);
            check_equal(cut.next, expected.next);
            check_equal(cut.left, expected.left);
            check_equal(cut.statistic, expected.statistic);
        }
    }
});

const Test missing("a missing code in a row of the set is left to others, one elsewhere does not matter", [] {
    for (const std::size_t n_rows : {2, 7, 20, 32}) {
        Word word(n_rows, n_rows, 12);
        const std::vector<std::uint32_t> columns{5, 0, 3};
        const SetWeights weights{word.weight.data(), Word::kBits, word.second};
        for (std::size_t row = 0; row < kSetRows; ++row) {
            std::uint16_t& code = word.codes[3 * kSetRows + row];
            const std::uint16_t before = std::exchange(code, std::uint16_t{0});
            for (const Kernels* table : kernel_tables()) {
                SetCut cut{.gain = 77.0f};
                const bool done = table->set_cut.best({word.column.data(), 1}, word.set, columns.data(), 3,
                                                      word.node(9), weights, cut);
                check_equal(done, !word.has(row));
                if (!done) check_equal(cut.gain, 77.0f);
            }
            code = before;
        }
    }
});

}  // namespace
}  // namespace coterie::tests
