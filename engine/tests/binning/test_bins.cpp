// Values become bins: cuts keep the order of values, and the matrix holds the bins of the mapper twice.
#include <algorithm>
#include <limits>

#include "check.hpp"
#include "coterie/base/error.hpp"
#include "coterie/binning/binned_matrix.hpp"
#include "random_inputs.hpp"
#include "tables_by_hand.hpp"

namespace coterie::tests {
namespace {

BinMapper fit(const Columns& table, int max_bins, int n_threads = 1) {
    return BinMapper::fit(table.view(), {}, max_bins, 1, n_threads);
}

std::vector<Bin> bins_of(const BinMapper& mapper, const Columns& table, FeatureIndex feature) {
    std::vector<Bin> bins(table.n_rows());
    const TableView view = table.view();
    for (std::size_t begin = 0; begin < bins.size(); begin += 256)
        mapper.map(feature, view.columns[feature], begin, std::min<std::size_t>(256, bins.size() - begin),
                   &bins[begin]);
    return bins;
}

const Test given_cuts("cuts that were chosen elsewhere give the bins of the mapper that chose them", [] {
    const Columns table = random_columns(5, 2'000, 5);
    const BinMapper chosen = BinMapper::fit(table.view(), {}, 63, 1, 1);
    std::vector<std::vector<double>> cuts;
    for (const FeatureBins& bins : chosen.features()) cuts.push_back(bins.cuts);
    const BinMapper given = BinMapper::from_cuts(cuts, table.n_levels);
    for (FeatureIndex feature = 0; feature < 5; ++feature) {
        check_equal(given.features()[feature].n_bins, chosen.features()[feature].n_bins);
        Bin a[256], b[256];
        chosen.map(feature, table.view().columns[feature], 0, 256, a);
        given.map(feature, table.view().columns[feature], 0, 256, b);
        check(std::equal(a, a + 256, b), "the same bins");
    }
    const std::vector<std::int32_t> numeric{0};
    const std::vector<std::vector<double>> bad[] = {{{1, 1}}, {{2, 1}}, {{kMissing}}};
    for (const auto& each : bad)
        check_throws<InvalidInput>([&] { BinMapper::from_cuts(each, numeric); }, "do not ascend");
});

const Test few_values("a few distinct values each have a bin, missing values bin 0, infinities the outer ones", [] {
    const Columns table{.values = {{3, 1, kMissing, 2, 2, -INFINITY, INFINITY}}, .n_levels = {0}};
    check_equal(bins_of(fit(table, 255), table, 0), std::vector<Bin>{4, 2, 0, 3, 3, 1, 5});
});

const Test levels("level k of a nominal feature has bin k + 1; negative and unknown codes are missing", [] {
    const Columns table{.values = {{0, 3, 1, -1, 2}}, .n_levels = {4}};
    const BinMapper mapper = fit(table, 255);
    check_equal(bins_of(mapper, table, 0), std::vector<Bin>{1, 4, 2, 0, 3});
    const Columns later{.values = {{4, 250, kMissing}}, .n_levels = {4}};
    check_equal(bins_of(mapper, later, 0), std::vector<Bin>{0, 0, 0});
});

const Test ordered("bins keep the order of the values, and there are no more than requested", [] {
    const Columns table = random_columns(1, 5000, 3);
    for (const int max_bins : {2, 16, 255}) {
        const BinMapper mapper = fit(table, max_bins);
        for (FeatureIndex feature = 0; feature < 3; ++feature) {
            check(mapper.features()[feature].n_bins <= max_bins + 1, "there are at most max_bins value bins");
            const std::vector<Bin> bins = bins_of(mapper, table, feature);
            std::vector<std::pair<double, Bin>> pairs;
            for (std::size_t row = 0; row < bins.size(); ++row) {
                const double value = table.values[feature][row];
                check_equal(std::isnan(value), bins[row] == kMissingBin);
                if (!std::isnan(value)) pairs.emplace_back(value, bins[row]);
            }
            std::sort(pairs.begin(), pairs.end());
            for (std::size_t i = 1; i < pairs.size(); ++i)
                check(pairs[i - 1].second <= pairs[i].second, "order is kept");
        }
    }
});

const Test balanced("bins of a smooth column hold about as many rows each", [] {
    Columns table{.values = {{}}, .n_levels = {0}};
    for (std::uint64_t row = 0; row < 20'000; ++row) table.values[0].push_back(random_unit(2, Purpose::threshold, row));
    std::vector<int> count(17);
    for (const Bin bin : bins_of(fit(table, 16), table, 0)) ++count[bin];
    for (int bin = 1; bin <= 16; ++bin) check_near(count[static_cast<std::size_t>(bin)], 1250, 200);
});

/// The code of a bundle: the bins of its features as digits, the first the lowest.
int slow_code(const BinnedMatrix& matrix, const FeatureBundle& bundle, std::size_t row) {
    int code = 0;
    int unit = 1;
    for (std::size_t position = 0; position < bundle.features.size(); ++position) {
        const FeatureIndex feature = bundle.features[position];
        code += unit * (matrix.column(feature)[row] - bundle.first_bin[position]);
        unit *= matrix.feature(feature).n_bins - bundle.first_bin[position];
    }
    return code;
}

const Test matrix("the matrix holds the mapper's bins by rows and by columns, for any number of threads", [] {
    const Columns table = random_columns(3, 1700, 90);  // more bundles than one panel holds
    const auto mapper = std::make_shared<const BinMapper>(fit(table, 255));
    for (const int n_threads : {1, 2, 5}) {
        const BinnedMatrix matrix(table.view(), mapper, n_threads);
        check_equal(matrix.n_rows(), std::size_t{1700});
        check(matrix.panels().size() > 1, "there are several panels");
        for (FeatureIndex feature = 0; feature < 90; ++feature) {
            const std::vector<Bin> bins = bins_of(*mapper, table, feature);
            check(std::equal(bins.begin(), bins.end(), matrix.column(feature)), "a column holds its feature's bins");
        }
        for (const Panel& panel : matrix.panels())
            for (std::uint32_t i = 0; i < panel.width; ++i)
                for (std::size_t row = 0; row < 1700; ++row)
                    check_equal(int{matrix.rows(panel)[row * panel.row_stride + i]},
                                slow_code(matrix, matrix.bundles()[panel.first_bundle + i], row));
    }
});

/// Rows [begin, end) of a table.
TableView rows_of(const Columns& table, std::size_t begin, std::size_t end) {
    TableView view = table.view();
    for (ColumnView& column : view.columns) column.data += static_cast<std::ptrdiff_t>(begin) * column.stride;
    view.n_rows = end - begin;
    return view;
}

void check_same(const BinnedMatrix& found, const BinnedMatrix& expected) {
    for (FeatureIndex feature = 0; feature < expected.n_features(); ++feature)
        check(std::equal(expected.column(feature), expected.column(feature) + expected.n_rows(), found.column(feature)),
              "the same columns");
    check_equal(found.panels().size(), expected.panels().size());
    for (std::size_t i = 0; i < expected.panels().size(); ++i) {
        const Panel& panel = expected.panels()[i];
        check_equal(found.panels()[i].row_stride, panel.row_stride);
        for (std::size_t row = 0; row < expected.n_rows(); ++row)
            check(std::equal(expected.rows(panel) + row * panel.row_stride,
                             expected.rows(panel) + row * panel.row_stride + panel.width,
                             found.rows(found.panels()[i]) + row * panel.row_stride),
                  "the same rows of a panel");
    }
}

const Test batches("batches of any size make the matrix of the whole table, with bundles that are shared and without",
                   [] {
                       Columns table = random_columns(9, 1700, 70);
                       for (std::size_t feature : {0, 4}) {  // flags, the first one complete
                           for (std::size_t row = 0; row < 1700; ++row)
                               table.values[feature][row] = bits_at(feature, row) % 2 ? 1.0 : 0.0;
                       }
                       table.values[4][1699] = kMissing;
                       Columns wide = table;  // without levels or flags: each feature has a bundle of its own
                       for (std::size_t feature = 0; feature < 70; ++feature) {
                           wide.n_levels[feature] = 0;
                           for (std::size_t row = 0; row < 1700; ++row)
                               wide.values[feature][row] = random_unit(3, Purpose::threshold, feature * 1700 + row);
                       }
                       for (const Columns* each : {&table, &wide}) {
                           const auto mapper = std::make_shared<const BinMapper>(fit(*each, 255));
                           const BinnedMatrix whole(each->view(), mapper, 1);
                           for (const std::size_t size : {1, 7, 255, 256, 257, 1000, 1700}) {
                               BinnedMatrixBuilder builder(mapper, 1700, 2);
                               for (std::size_t begin = 0; begin < 1700; begin += size)
                                   builder.append(rows_of(*each, begin, std::min<std::size_t>(1700, begin + size)));
                               check_same(builder.finish(), whole);
                           }
                       }
                   });

const Test storage("bins are put where the caller says", [] {
    const Columns table = random_columns(4, 500, 9);
    const auto mapper = std::make_shared<const BinMapper>(fit(table, 63));
    std::vector<std::shared_ptr<std::vector<Bin>>> given;
    const auto allocate = [&](std::size_t n_bytes) -> BinStorage {
        given.push_back(std::make_shared<std::vector<Bin>>(n_bytes));
        return {given.back(), given.back()->data()};
    };
    BinnedMatrixBuilder builder(mapper, 500, 1, allocate);
    builder.append(table.view());
    const BinnedMatrix matrix = builder.finish();
    check_equal(given.size(), std::size_t{2});
    check(matrix.column(0) == given[0]->data(), "columns are in the first storage");
    check(matrix.rows(matrix.panels()[0]) == given[1]->data(), "panels are in the second");
    check_same(matrix, BinnedMatrix(table.view(), mapper, 1));
});

const Test announced("a builder takes the rows that were announced, no more and no fewer", [] {
    const Columns table = random_columns(4, 100, 3);
    const auto mapper = std::make_shared<const BinMapper>(fit(table, 63));
    BinnedMatrixBuilder builder(mapper, 150, 1);
    builder.append(table.view());
    check_throws<InvalidInput>([&] { builder.append(table.view()); }, "more rows than the 150");
    check_throws<InvalidInput>([&] { builder.finish(); }, "There are 100 rows; 150 were announced");
    builder.append(rows_of(table, 0, 50));
    builder.finish();
    check_throws<InvalidInput>([&] { builder.append(rows_of(table, 0, 0)); }, "takes no more rows");
    const Columns narrow = random_columns(4, 50, 2);
    BinnedMatrixBuilder other(mapper, 150, 1);
    check_throws<InvalidInput>([&] { other.append(narrow.view()); }, "has 2 columns");
});

const Test bundles("every feature is in one bundle, and the codes of a bundle fit a byte", [] {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        std::vector<FeatureBins> features(1 + seed * 3);
        for (std::size_t i = 0; i < features.size(); ++i)
            features[i].n_bins = static_cast<int>(1 + random_below(seed, Purpose::bootstrap, i, seed % 2 ? 256 : 20));
        std::vector<std::uint8_t> complete(features.size());
        for (std::size_t i = 0; i < features.size(); ++i) complete[i] = bits_at(seed, i) % 2;
        std::vector<int> seen(features.size());
        for (const FeatureBundle& bundle : plan_bundles(features, complete)) {
            int n_codes = 1;
            for (std::size_t position = 0; position < bundle.features.size(); ++position) {
                const FeatureIndex feature = bundle.features[position];
                ++seen[feature];
                n_codes *= features[feature].n_bins - bundle.first_bin[position];
                const bool counts_missing = !bundle.fused() || !complete[feature] || features[feature].n_bins == 2;
                check_equal(int{bundle.first_bin[position]}, counts_missing ? 0 : 1);
            }
            check_equal(bundle.n_codes, n_codes);
            check(n_codes <= kMaxBins, "codes fit a byte");
        }
        check_equal(seen, std::vector<int>(features.size(), 1));
    }
});

const Test flags("eight flags without missing values share a bundle; a missing value takes room", [] {
    Columns table{.values = {}, .n_levels = std::vector<std::int32_t>(8, 0)};
    for (std::uint64_t feature = 0; feature < 8; ++feature) {
        auto& column = table.values.emplace_back();
        for (std::uint64_t row = 0; row < 600; ++row) column.push_back(static_cast<double>(bits_at(feature, row) % 2));
    }
    const auto bundles_of = [&] {
        return BinnedMatrix(table.view(), std::make_shared<const BinMapper>(fit(table, 255)), 2).bundles();
    };
    check_equal(bundles_of().size(), std::size_t{1});
    check_equal(bundles_of()[0].n_codes, 256);
    table.values[5][599] = std::numeric_limits<double>::quiet_NaN();
    check_equal(bundles_of().size(), std::size_t{2});
});

const Test same_cuts("threads do not move a cut", [] {
    const Columns table = random_columns(4, 20'000, 9);
    const BinMapper one = fit(table, 255, 1);
    for (const int n_threads : {2, 8}) {
        const BinMapper many = fit(table, 255, n_threads);
        for (std::size_t feature = 0; feature < 9; ++feature)
            check(many.features()[feature].cuts == one.features()[feature].cuts, "the cuts are the same");
    }
});

const Test floats("a float gets the bin that it would get as a double, also next to a cut", [] {
    const Columns doubles = random_columns(5, 3000, 1);
    const BinMapper mapper = fit(doubles, 100);
    std::vector<float> narrow;
    Columns same{.values = {{}}, .n_levels = {0}};
    for (const double cut : mapper.features()[0].cuts)
        for (const float value : {static_cast<float>(cut), std::nextafter(static_cast<float>(cut), 9.0f),
                                  std::nextafter(static_cast<float>(cut), -9.0f)}) {
            narrow.push_back(value);
            same.values[0].push_back(static_cast<double>(value));
        }
    const ColumnView column{
        .data = reinterpret_cast<const std::byte*>(narrow.data()), .stride = sizeof(float), .type = ValueType::float32};
    const std::vector<Bin> expected = bins_of(mapper, same, 0);
    std::vector<Bin> bins(256);
    for (std::size_t begin = 0; begin < narrow.size(); begin += 256) {
        const std::size_t n = std::min<std::size_t>(256, narrow.size() - begin);
        mapper.map(0, column, begin, n, bins.data());
        for (std::size_t i = 0; i < n; ++i) check_equal(bins[i], expected[begin + i]);
    }
});

const Test refused("more bins than a byte can count are refused", [] {
    const Columns table{.values = {{1, 2}}, .n_levels = {0}};
    check_throws<InvalidInput>([&] { fit(table, 256); }, "between 2 and 255; 256 was given");
    check_throws<InvalidInput>([&] { fit(table, 1); }, "between 2 and 255; 1 was given");
});

}  // namespace
}  // namespace coterie::tests
