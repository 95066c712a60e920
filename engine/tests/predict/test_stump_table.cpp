// The table of votes: one lookup for each feature, the start for all, and values of any kind.
#include "coterie/predict/stump_table.hpp"

#include "check.hpp"
#include "coterie/base/error.hpp"
#include "tables_by_hand.hpp"

namespace coterie::tests {
namespace {

StumpTable table_of_three() {
    // A numeric feature cut at 1 and 2, one that no stump splits on, and a nominal one of two levels.
    std::vector<FeatureBins> features{{.nominal = false, .n_bins = 4, .cuts = {1, 2}},
                                      {.nominal = false, .n_bins = 1, .cuts = {}},
                                      {.nominal = true, .n_bins = 3, .cuts = {}}};
    return {std::move(features), {100, 1, 2, 3, 4, 10, 20, 30}, 1};
}

const Test looked_up("the scores are the start and one vote for each feature", [] {
    const Columns columns{.values = {{0, 1, 1.5, 9, kMissing, 2}, {5, 5, 5, 5, 5, 5}, {0, 1, 0, 1, kMissing, 7}},
                          .n_levels = {0, 0, 2}};
    std::vector<double> scores(6, -1.0);
    table_of_three().scores(columns.view(), scores, 1);
    check_equal(scores, std::vector<double>{122, 132, 123, 134, 111, 113});
});

const Test several_scores("every class has a score of its own", [] {
    const StumpTable table({{.nominal = false, .n_bins = 3, .cuts = {0}}}, {1, 2, 10, 20, 30, 40, 50, 60}, 2);
    const Columns columns{.values = {{-1, 1, kMissing}}, .n_levels = {0}};
    std::vector<double> scores(6);
    table.scores(columns.view(), scores, 1);
    check_equal(scores, std::vector<double>{31, 42, 51, 62, 11, 22});
});

const Test threads("threads share the rows and change nothing", [] {
    const Columns columns = random_columns(3, 40'000, 4);
    std::vector<FeatureBins> features;
    std::vector<double> votes{0.25};
    for (std::size_t feature = 0; feature < 4; ++feature) {
        const bool nominal = columns.n_levels[feature] > 0;
        features.push_back({.nominal = nominal, .n_bins = nominal ? 13 : 5, .cuts = {}});
        if (!nominal) features.back().cuts = {0.2, 0.4, 0.6};
        for (int bin = 0; bin < features.back().n_bins; ++bin) votes.push_back(1.0 / (bin + 3));
    }
    const StumpTable table(std::move(features), std::move(votes), 1);
    std::vector<double> one(40'000), many(40'000);
    table.scores(columns.view(), one, 1);
    table.scores(columns.view(), many, 4);
    check(one == many, "four threads give the bits of one");
});

const Test refused("votes and tables of another size are refused", [] {
    check_throws<InvalidInput>([] { StumpTable({{.nominal = false, .n_bins = 3, .cuts = {0}}}, {1, 2}, 1); },
                               "There must be 4 votes; there are 2");
    const Columns columns{.values = {{1.0}}, .n_levels = {0}};
    std::vector<double> scores(1);
    check_throws<InvalidInput>([&] { table_of_three().scores(columns.view(), scores, 1); }, "has 1 columns");
});

}  // namespace
}  // namespace coterie::tests
