// Rounds of stumps: by hand, the same for any number of threads, and histograms that follow the weights.
#include "coterie/boosting/stump_rounds.hpp"

#include <algorithm>
#include <numeric>

#include "coterie/base/error.hpp"
#include "random_inputs.hpp"
#include "tables_by_hand.hpp"
#include "workers.hpp"

namespace coterie::tests {
namespace {

std::shared_ptr<const BinnedMatrix> binned(const Columns& columns) {
    const TableView table = columns.view();
    auto mapper = std::make_shared<BinMapper>(BinMapper::fit(table, {}, 255, 0, 1));
    return std::make_shared<BinnedMatrix>(table, mapper, 1);
}

std::vector<std::int32_t> random_classes(std::size_t n_rows, std::size_t n_classes) {
    std::vector<std::int32_t> classes(n_rows);
    for (std::size_t row = 0; row < n_rows; ++row)
        classes[row] = static_cast<std::int32_t>(bits_at(5, row) % n_classes);
    return classes;
}

// Rows on the side that names another class are doubled, and each side votes for its heaviest class.
RoundTotals double_wrong_rows(StumpRounds& rounds, const Stump& stump) {
    const std::size_t n = rounds.n_classes();
    const std::vector<double> sums = rounds.sums(stump);
    std::vector<double> factors(2 * n, 2.0), votes(2 * rounds.n_scores(), 0.0);
    for (std::size_t side = 0; side < 2; ++side) {
        const auto begin = sums.begin() + static_cast<std::ptrdiff_t>(side * n);
        const auto best =
            static_cast<std::size_t>(std::max_element(begin, begin + static_cast<std::ptrdiff_t>(n)) - begin);
        factors[side * n + best] = 1.0;
        if (n == 2)
            votes[side] = best == 1 ? 0.5 : -0.5;
        else
            votes[side * n + best] = 0.5;
    }
    return rounds.count(stump, {.factors = factors, .votes = votes});
}

const Test by_hand("the stump with the least error is found, and missing values are on their better side", [] {
    const Columns columns{.values = {{1, 1, 2, 2, 1, 2}, {1, 2, 3, 4, kMissing, 5}}, .n_levels = {0, 0}};
    const std::vector<std::int32_t> classes{0, 0, 1, 1, 1, 1};
    const StumpRounds rounds(binned(columns), classes, 2, {}, StumpScore::error, 1);
    const Stump stump = rounds.find();
    check_equal(stump.feature, 1);
    check_equal(rounds.sums(stump), std::vector<double>{2, 0, 0, 4});
    check_equal(stump.right[kMissingBin], 1);
});

const Test levels("every level of a nominal feature is on the side that predicts it better", [] {
    const Columns columns{.values = {{0, 1, 2, 3, 3, kMissing, 1}}, .n_levels = {4}};
    const std::vector<std::int32_t> classes{1, 0, 1, 0, 0, 1, 0};
    const StumpRounds rounds(binned(columns), classes, 2, {}, StumpScore::error, 1);
    const Stump stump = rounds.find();
    check_equal(std::vector<int>(stump.right.begin(), stump.right.begin() + 5), std::vector<int>{1, 1, 0, 1, 0});
});

const Test no_split("where no split helps, none is made", [] {
    const Columns columns{.values = {{7, 7, 7}}, .n_levels = {0}};
    const std::vector<std::int32_t> classes{0, 1, 1};
    StumpRounds rounds(binned(columns), classes, 2, {}, StumpScore::error, 1);
    check_equal(rounds.find().feature, -1);
    check_equal(rounds.sums(rounds.find()), std::vector<double>{1, 2, 0, 0});
    const RoundTotals totals = double_wrong_rows(rounds, rounds.find());
    check_equal(totals.weight, 4.0);
    check_equal(totals.wrong_weight, 1.0);
});

const Test follows("after many rounds the histogram is that of the weights", [] {
    const Columns columns = random_columns(11, 700, 10);
    for (const std::size_t n_classes : {2u, 4u})
        for (const StumpScore score : {StumpScore::error, StumpScore::gini}) {
            StumpRounds rounds(binned(columns), random_classes(700, n_classes), n_classes, {}, score, 1);
            for (int round = 0; round < 120; ++round) {
                const Stump stump = rounds.find();
                check_equal(stump.right, rounds.find_for(rounds.weights()).right);
                const std::vector<double> sums = rounds.sums(stump);
                const double total = std::accumulate(rounds.weights().begin(), rounds.weights().end(), 0.0);
                check_near(std::accumulate(sums.begin(), sums.end(), 0.0) / total, 1.0, 1e-12);
                double_wrong_rows(rounds, stump);
            }
        }
});

const Test threads("any number of threads gives the same bits", [] {
    const Columns columns = random_columns(13, 30'000, 12);
    const auto matrix = binned(columns);
    for (const std::size_t n_classes : {2u, 3u}) {
        std::vector<std::vector<double>> weights;
        std::vector<std::vector<double>> totals;
        for (const int n_threads : {1, 2, 3, 8}) {
            StumpRounds rounds(matrix, random_classes(30'000, n_classes), n_classes, {}, StumpScore::error, n_threads);
            std::vector<double> own_totals;
            for (int round = 0; round < 12; ++round) {
                const RoundTotals after = double_wrong_rows(rounds, rounds.find());
                own_totals.insert(own_totals.end(), {after.weight, after.wrong_weight});
            }
            weights.push_back(rounds.weights());
            totals.push_back(own_totals);
        }
        for (std::size_t i = 1; i < weights.size(); ++i) {
            check_equal(weights[i] == weights[0], true);
            check_equal(totals[i], totals[0]);
        }
    }
});

/// What some rounds leave behind: the stumps, the totals after each, and the weights of the rows at hand.
struct Rounds {
    std::vector<std::array<std::uint8_t, kMaxBins>> sides;
    std::vector<double> totals;
    std::vector<double> weights;
};

Rounds some_rounds(StumpRounds rounds, int n_rounds) {
    Rounds all;
    for (int round = 0; round < n_rounds; ++round) {
        const Stump stump = rounds.find();
        const RoundTotals after = double_wrong_rows(rounds, stump);
        all.sides.push_back(stump.right);
        all.totals.insert(all.totals.end(), {static_cast<double>(stump.feature), after.weight,
                                             static_cast<double>(after.exponent), after.wrong_weight});
    }
    all.weights = rounds.weights();
    return all;
}

const Test workers("workers with slices of the rows find the stumps of one, with the same bits", [] {
    constexpr std::size_t n = 5'000;
    const Columns table = random_columns(9, n, 14);
    const auto mapper = std::make_shared<const BinMapper>(BinMapper::fit(table.view(), {}, 255, 0, 1));
    std::vector<double> weight(n);
    for (std::size_t row = 0; row < n; ++row) weight[row] = row % 11 == 0 ? 0.0 : 1e-3 + unit_at(8, row);
    const auto part = [](const auto& all, std::size_t first, std::size_t n_own) {
        return std::span(all).subspan(all.empty() ? 0 : first, all.empty() ? 0 : n_own);
    };
    for (const std::size_t n_classes : {2u, 3u})
        for (const StumpScore score : {StumpScore::error, StumpScore::gini})
            for (const bool weighted : {false, true}) {
                const std::vector<std::int32_t> classes = random_classes(n, n_classes);
                const std::vector<double> own_weight = weighted ? weight : std::vector<double>{};
                const auto whole = std::make_shared<const BinnedMatrix>(table.view(), mapper, 1);
                const Rounds one = some_rounds({whole, classes, n_classes, own_weight, score, 2}, 40);
                for (const std::vector<std::size_t>& slices :
                     {std::vector<std::size_t>{2'500, 2'500}, {1, 4'000, 0, 999}}) {
                    std::vector<Rounds> several(slices.size());
                    run_workers(slices, [&](const Slice& slice, std::size_t worker) {
                        const std::size_t first = slice.first_row, n_own = slices[worker];
                        Columns own{.values = {}, .n_levels = table.n_levels};
                        for (const auto& column : table.values) {
                            const auto rows = part(column, first, n_own);
                            own.values.emplace_back(rows.begin(), rows.end());
                        }
                        const auto matrix =
                            std::make_shared<const BinnedMatrix>(own.view(), mapper, 1, StopRequest{}, slice);
                        several[worker] = some_rounds({matrix, part(classes, first, n_own), n_classes,
                                                       part(own_weight, first, n_own), score, 1, slice},
                                                      40);
                    });
                    std::vector<double> weights;
                    for (const Rounds& each : several) {
                        check(each.sides == one.sides, "the same stumps");
                        check_equal(each.totals, one.totals);
                        weights.insert(weights.end(), each.weights.begin(), each.weights.end());
                    }
                    check(weights == one.weights, "the same weights");
                }
            }
});

const Test repeated("a row of weight three is the row three times", [] {
    const Columns once = random_columns(17, 90, 5);
    Columns thrice{.values = {}, .n_levels = once.n_levels};
    for (const auto& column : once.values) {
        auto& longer = thrice.values.emplace_back();
        for (int copy = 0; copy < 3; ++copy) longer.insert(longer.end(), column.begin(), column.end());
    }
    const std::vector<std::int32_t> classes = random_classes(90, 2);
    std::vector<std::int32_t> all_classes;
    for (int copy = 0; copy < 3; ++copy) all_classes.insert(all_classes.end(), classes.begin(), classes.end());
    const std::vector<double> weight(90, 3.0);
    StumpRounds weighted(binned(once), classes, 2, weight, StumpScore::error, 1);
    StumpRounds longer(binned(thrice), all_classes, 2, {}, StumpScore::error, 1);
    for (int round = 0; round < 25; ++round) {
        const Stump stump = weighted.find();
        check_equal(stump.feature, longer.find().feature);
        check_equal(stump.right, longer.find().right);
        check_near(double_wrong_rows(weighted, stump).wrong_weight, double_wrong_rows(longer, stump).wrong_weight, 0);
    }
});

const Test refused("what makes no sense is refused", [] {
    const Columns columns{.values = {{1, 2, 3}}, .n_levels = {0}};
    const std::vector<std::int32_t> classes{0, 1, 2};
    const auto matrix = binned(columns);
    check_throws<InvalidInput>([&] { StumpRounds(matrix, classes, 2, {}, StumpScore::error, 1); }, "not below");
    check_throws<InvalidInput>([&] { StumpRounds(matrix, classes, 1, {}, StumpScore::error, 1); }, "from 2 to 65,535");
    check_throws<InvalidInput>([&] { StumpRounds(matrix, classes, 3, {}, StumpScore::exponential, 1); }, "two classes");
    const std::vector<double> nothing(3, 0.0);
    check_throws<InvalidInput>([&] { StumpRounds(matrix, classes, 3, nothing, StumpScore::error, 1); }, "Weights must");
    StumpRounds rounds(matrix, classes, 3, {}, StumpScore::error, 1);
    const std::vector<double> factors(6, 0.0), votes(6, 0.0);
    check_throws<InvalidInput>([&] { rounds.count(rounds.find(), {.factors = factors, .votes = votes}); }, "no weight");
});

}  // namespace
}  // namespace coterie::tests
