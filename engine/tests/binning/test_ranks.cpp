// Ranks laid out by row are the ranks laid out by feature.
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

}  // namespace
}  // namespace coterie::tests
