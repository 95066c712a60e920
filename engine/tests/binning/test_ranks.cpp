// Ranks laid out by row are the ranks laid out by feature.
#include <cmath>
#include <numeric>

#include "check.hpp"
#include "coterie/binning/ranks.hpp"
#include "tables_by_hand.hpp"

namespace coterie::tests {
namespace {

const Test by_row("a row of codes holds what the columns hold, for any number of features and threads", [] {
    for (std::size_t n_features = 1; n_features <= 70; n_features += n_features < 20 ? 1 : 7) {
        const Columns table = random_columns(n_features, 41, n_features);
        std::vector<RowIndex> rows(30);  // some of the rows, backwards
        for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<RowIndex>(40 - i);
        const RankedTable columns = rank_table(table.view(), rows, 1);
        for (const int n_threads : {1, 3}) {
            const RankedTable ranked = rank_table(table.view(), rows, n_threads, {}, CodeLayout::by_row);
            check(ranked.row_stride >= n_features, "a row has room for every feature");
            check(ranked.row_stride * 3 <= n_features * 4 || ranked.row_stride <= n_features + 3, "and wastes little");
            check_equal(ranked.feature_stride, 1u);
            check(ranked.codes.size() >= ranked.row_stride * rows.size(), "there are codes of every row");
            for (FeatureIndex feature = 0; feature < n_features; ++feature) {
                check_equal(ranked.features[feature].n_codes, columns.features[feature].n_codes);
                for (std::size_t place = 0; place < rows.size(); ++place)
                    check_equal(ranked.row(place)[feature], columns.column(feature)[place]);
            }
        }
    }
});

const Test order("codes ascend with values; missing is 0, a level is its number and one", [] {
    const Columns table{.values = {{2.5, kMissing, -1, 2.5, 0.0, -0.0}, {3, 0, kMissing, 1, 1, 3}}, .n_levels = {0, 4}};
    const std::vector<RowIndex> rows{0, 1, 2, 3, 4, 5};
    const RankedTable ranked = rank_table(table.view(), rows, 1, {}, CodeLayout::by_row);
    const std::vector<Code> numbers{3, 0, 1, 3, 2, 2};
    const std::vector<Code> levels{4, 1, 0, 2, 2, 4};
    for (std::size_t place = 0; place < rows.size(); ++place) {
        check_equal(ranked.row(place)[0], numbers[place]);
        check_equal(ranked.row(place)[1], levels[place]);
    }
    check_equal(ranked.features[0].lowest(1), -1.0);
    check_equal(ranked.features[0].highest(3), 2.5);
    check_equal(ranked.features[1].n_codes, 5u);
});

RankedTable spaced(const Columns& table) {
    std::vector<RowIndex> rows(table.values[0].size());
    std::iota(rows.begin(), rows.end(), RowIndex{0});
    return rank_table(table.view(), rows, 1, {}, CodeLayout::by_row, CodeSpacing::by_value);
}

const Test lattices("spaced codes of whole numbers are as far apart as these, with gaps, and few of them suffice", [] {
    const RankedTable ranked = spaced({.values = {{7, kMissing, 3, 3.5, 10, 3}}, .n_levels = {0}});
    const RankedFeature& feature = ranked.features[0];
    check(feature.spaced, "halves from 3 to 10 are spaced");
    check_equal(feature.n_codes, 16u);
    const std::vector<Code> codes{9, 0, 1, 2, 15, 1};
    for (std::size_t place = 0; place < codes.size(); ++place) check_equal(ranked.row(place)[0], codes[place]);
    check_equal(feature.threshold_above(1), 3.25);
    check_equal(feature.threshold_above(5), 5.25);  // nothing lies there
    check(!spaced({.values = {{1, 2, 1000}}, .n_levels = {0}}).features[0].spaced, "three values get three codes");
    check(!spaced({.values = {{1, 2, 2.3}}, .n_levels = {0}}).features[0].spaced, "there is no common step");
    check(!spaced({.values = {{4, 4, 4}}, .n_levels = {0}}).features[0].spaced, "there is no step at all");
});

const Test even("spaced codes of many numbers follow their values, and ascend with them", [] {
    constexpr std::size_t kRows = 40'000;
    Columns table{.values = {{}, {}}, .n_levels = {0, 0}};
    for (std::size_t i = 0; i < kRows; ++i) {
        const double at = static_cast<double>(i * 7919 % kRows) / kRows;
        table.values[0].push_back(i % 11 == 0 ? kMissing : at * at);
        table.values[1].push_back(std::exp(40.0 * at));  // nearly all of them near the least
    }
    const RankedTable ranked = spaced(table);
    const RankedFeature& feature = ranked.features[0];
    check(feature.spaced && !ranked.features[1].spaced, "only if codes tell most values apart");
    for (std::size_t place = 0; place < kRows; ++place) {
        const double value = table.values[0][place];
        const Code code = ranked.row(place)[0];
        check_equal(code == kMissingCode, std::isnan(value));
        if (code == kMissingCode) continue;
        check(code + 1u == feature.n_codes || value <= feature.threshold_above(code),
              "a value is below its code's end");
        check(code == 1 || value > feature.threshold_above(static_cast<Code>(code - 1)), "and above that of the last");
        check_near(static_cast<double>(code), 1.0 + value * (kMaxCodes - 1), 65.0);
    }
    for (std::uint32_t code = 2; code + 1 < feature.n_codes; ++code)
        check(feature.threshold_above(static_cast<Code>(code - 1)) < feature.threshold_above(static_cast<Code>(code)),
              "codes end one after the other");
});

const Test coarse("numbers that differ by little more than they can are not spaced", [] {
    Columns table{.values = {{}, {}}, .n_levels = {0, 0}};
    for (std::size_t i = 0; i < 20'000; ++i) {
        table.values[0].push_back(0x1.0p52 + static_cast<double>(i));
        table.values[1].push_back(0x1.0p40 + static_cast<double>(i));
    }
    const RankedTable ranked = spaced(table);
    check(!ranked.features[0].spaced && ranked.features[1].spaced, "codes would not end between them");
    for (std::size_t place = 0; place < 20'000; ++place) check_equal(ranked.row(place)[0], place + 1);
});

}  // namespace
}  // namespace coterie::tests
