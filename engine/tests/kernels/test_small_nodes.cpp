// The cuts of small nodes: the best of all, the same in every table, and no side of equal ones is preferred.
#include <set>

#include "random_inputs.hpp"

namespace coterie::tests {
namespace {

/// A node of n rows whose weights are 1 to 4, as far as there is room.
template <class Word>
struct NodeOfFewRows {
    static constexpr std::size_t kMaxRows = sizeof(Word) == 2 ? kMaxClassRows : kMaxNumberRows;

    std::vector<std::uint16_t> codes;
    std::vector<Word> statistic;
    SmallNode<Word> rows;
    std::size_t lane;

    NodeOfFewRows(std::uint64_t seed, std::size_t n, std::uint32_t n_codes, std::uint32_t most)
        : codes(kMaxRows), statistic(n), lane((seed + n) % kSmallNodeFeatures) {
        const std::uint32_t heaviest = n <= kMaxRows / 4 ? 4 : 1;
        for (std::size_t i = 0; i < n; ++i) {
            const std::uint64_t draw = bits_at(seed, i);
            const auto weight = static_cast<std::uint32_t>(1 + draw % heaviest);
            const auto target = static_cast<std::uint32_t>((draw >> 8) % (most + 1));
            codes[i] = static_cast<std::uint16_t>((draw >> 40) % n_codes + (0x10000 - n_codes) * (seed % 2));
            statistic[i] = static_cast<Word>(target * weight << 8 | weight);
            rows.sum += target * weight;
            rows.weight += weight;
        }
        rows.statistic = statistic.data();
        rows.n = n;
    }

    /// Of a cut after the code, in double precision; -1 where a side is empty.
    double gain_after(std::uint32_t code) const {
        double sum = 0.0;
        double weight = 0.0;
        for (std::size_t i = 0; i < rows.n; ++i) {
            if (codes[i] > code) continue;
            sum += statistic[i] >> 8;
            weight += statistic[i] & 0xff;
        }
        if (weight == 0.0 || weight == rows.weight) return -1.0;
        const double distance = sum * rows.weight - weight * rows.sum;
        return distance * distance / (weight * (rows.weight - weight));
    }

    /// Of numbers, in one lane of several, which must not mind what the others hold.
    SmallNodeCut cut(const Kernels& table) const {
        if constexpr (sizeof(Word) == 2) {
            std::vector<std::uint16_t> own = codes;
            return table.small_node.cut_classes(own.data(), rows);
        } else {
            std::vector<std::uint16_t> lanes(rows.n * kSmallNodeFeatures);
            for (std::size_t i = 0; i < lanes.size(); ++i) lanes[i] = static_cast<std::uint16_t>(bits_at(lane, i));
            for (std::size_t i = 0; i < rows.n; ++i) lanes[i * kSmallNodeFeatures + lane] = codes[i];
            SmallNodeCuts cuts;
            table.small_node.cut_numbers({lanes.data(), lane + 1}, rows, cuts);
            return cuts[lane];
        }
    }
};

template <class Word>
void check_best(std::uint32_t most) {
    for (std::uint64_t seed = 0; seed < 12; ++seed)
        for (std::size_t n = 1; n <= NodeOfFewRows<Word>::kMaxRows; ++n)
            for (const std::uint32_t n_codes : {1u, 3u, 40u, 65'535u}) {
                NodeOfFewRows<Word> node(seed, n, n_codes, most);
                node.rows.salt = static_cast<std::uint16_t>(bits_at(seed, n));
                double best = -1.0;
                for (std::size_t i = 0; i < n; ++i) best = std::max(best, node.gain_after(node.codes[i]));
                const SmallNodeCut slow = node.cut(generic_kernels());
                check_near(slow.gain, best, 1e-6 * std::abs(best));
                if (best >= 0.0) check_near(node.gain_after(slow.code), best, 1e-6 * best);
                for (const Kernels* table : kernel_tables()) {
                    const SmallNodeCut fast = node.cut(*table);
                    check_equal(std::bit_cast<std::uint32_t>(fast.gain), std::bit_cast<std::uint32_t>(slow.gain));
                    if (best >= 0.0) check_equal(fast.code, slow.code);
                }
            }
}

const Test few_classes("the cut of few rows of two classes is the best one, with the same bits in every table",
                       [] { check_best<std::uint16_t>(1); });

const Test few_numbers("the cut of few rows of numbers is the best one, with the same bits in every table",
                       [] { check_best<std::uint32_t>((1u << 24) / (kMaxNumberRows + 1) - 1); });

const Test no_favourite("which of two equal cuts is taken depends on the salt", [] {
    // One row of class 1 on either side of two of class 0: to cut it off is as good at both ends.
    NodeOfFewRows<std::uint16_t> node(0, 4, 1, 0);
    node.codes[0] = 10, node.codes[1] = 20, node.codes[2] = 30, node.codes[3] = 40;
    node.statistic = {0x101, 0x001, 0x001, 0x101};
    node.rows.statistic = node.statistic.data();
    node.rows.sum = 2;
    node.rows.weight = 4;
    for (const Kernels* table : kernel_tables()) {
        std::set<std::uint32_t> taken;
        for (std::uint16_t salt = 0; salt < 64; ++salt) {
            node.rows.salt = salt;
            taken.insert(node.cut(*table).code);
        }
        check_equal(taken.size(), std::size_t{2});
        check(taken.contains(10) && taken.contains(30), "both ends are taken at times");
    }
});

const Test picked("codes of some columns are picked, and the lanes named where one is missing, in every table", [] {
    for (const std::size_t stride : {20u, 32u, 52u, 64u, 100u})
        for (std::size_t n_columns = 1; n_columns <= kSmallNodeFeatures; ++n_columns) {
            constexpr std::size_t kRows = 40;
            std::vector<std::uint16_t> codes(kRows * stride);
            for (std::size_t i = 0; i < codes.size(); ++i)
                codes[i] = static_cast<std::uint16_t>(bits_at(stride, i) % (i % stride % 3 == 0 ? 30 : 30'000));
            std::vector<std::uint32_t> columns(n_columns);
            for (std::size_t lane = 0; lane < n_columns; ++lane)
                columns[lane] = static_cast<std::uint32_t>(bits_at(n_columns, lane) % stride);
            std::vector<WordRecord> records(n_columns * 2);
            for (std::size_t i = 0; i < records.size(); ++i)
                records[i] = {.statistic = 0, .row = static_cast<std::uint32_t>(bits_at(3, i) % kRows)};
            for (const Kernels* table : kernel_tables()) {
                std::vector<std::uint16_t> out(records.size() * kSmallNodeFeatures);
                const std::uint32_t missing =
                    table->small_node.pick_codes({codes.data(), stride, 0, 0}, records.data(), records.size(),
                                                 columns.data(), n_columns, out.data());
                std::uint32_t expected = 0;
                for (std::size_t i = 0; i < records.size(); ++i)
                    for (std::size_t lane = 0; lane < n_columns; ++lane) {
                        const std::uint16_t code = codes[records[i].row * stride + columns[lane]];
                        check_equal(out[i * kSmallNodeFeatures + lane], code);
                        expected |= std::uint32_t{code == 0} << lane;
                    }
                check_equal(missing, expected);
            }
        }
});

}  // namespace
}  // namespace coterie::tests
