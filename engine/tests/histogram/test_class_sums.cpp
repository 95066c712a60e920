// Class sums against a loop over rows: fused bundles, several panels, differences, many classes.
#include "coterie/histogram/class_sums.hpp"

#include "random_inputs.hpp"
#include "tables_by_hand.hpp"

namespace coterie::tests {
namespace {

struct Problem {
    std::shared_ptr<const BinnedMatrix> matrix;
    std::vector<ClassIndex> classes;
    std::vector<Amount> amounts;
    std::vector<RowIndex> rows;
};

Problem problem(std::size_t n_rows, std::size_t n_features, std::size_t n_classes) {
    const Columns columns = random_columns(7, n_rows, n_features);
    const TableView table = columns.view();
    auto mapper = std::make_shared<BinMapper>(BinMapper::fit(table, {}, 255, 0, 1));
    Problem made{.matrix = std::make_shared<BinnedMatrix>(table, mapper, 1), .classes = {}, .amounts = {}, .rows = {}};
    for (std::size_t row = 0; row < n_rows; row += 1 + bits_at(3, row) % 2) {
        made.rows.push_back(static_cast<RowIndex>(row));
        made.classes.push_back(static_cast<ClassIndex>(bits_at(1, row) % n_classes));
        made.amounts.push_back(bits_at(2, row) >> 20);
    }
    return made;
}

std::vector<Amount> slow_sums(const Problem& given, FeatureIndex feature, std::size_t n_classes) {
    std::vector<Amount> sums(static_cast<std::size_t>(given.matrix->feature(feature).n_bins) * n_classes, 0);
    for (std::size_t i = 0; i < given.rows.size(); ++i)
        sums[given.matrix->column(feature)[given.rows[i]] * n_classes + given.classes[i]] += given.amounts[i];
    return sums;
}

const Test each_feature("the sums of a feature are those of a loop over the rows", [] {
    for (const std::size_t n_classes : {2u, 3u, 40u})
        for (const std::size_t n_features : {1u, 9u, 150u}) {
            const Problem given = problem(1'500, n_features, n_classes);
            const ClassSums sums(*given.matrix, n_classes);
            std::vector<Amount> cells(sums.n_cells(), 0), own;
            sums.add(given.rows, given.classes.data(), given.amounts.data(), cells.data());
            for (FeatureIndex feature = 0; feature < n_features; ++feature) {
                sums.of_feature(feature, cells.data(), own);
                check_equal(own, slow_sums(given, feature, n_classes));
            }
        }
});

const Test differences("adding a difference is as good as adding the new amount", [] {
    const Problem given = problem(800, 12, 2);
    const ClassSums sums(*given.matrix, 2);
    std::vector<Amount> changed(given.amounts), differences(given.amounts.size());
    for (std::size_t i = 0; i < changed.size(); ++i) changed[i] = changed[i] / (1 + i % 3);
    for (std::size_t i = 0; i < changed.size(); ++i) differences[i] = changed[i] - given.amounts[i];
    std::vector<Amount> before(sums.n_cells(), 0), anew(sums.n_cells(), 0);
    sums.add(given.rows, given.classes.data(), given.amounts.data(), before.data());
    sums.add(given.rows, given.classes.data(), differences.data(), before.data());
    sums.add(given.rows, given.classes.data(), changed.data(), anew.data());
    check_equal(before, anew);
});

}  // namespace
}  // namespace coterie::tests
