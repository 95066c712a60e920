// Searches by a criterion: random thresholds of all features at once, against those of one feature after the other.

#include <limits>
#include <numeric>

#include "check.hpp"
#include "coterie/base/random.hpp"
#include "coterie/split/criterion_search.hpp"
#include "tables_by_hand.hpp"

namespace coterie::tests {
namespace {

using namespace criterion;

constexpr std::size_t kRows = 70'000;  // more distinct values than codes, so that values share them
constexpr double kFarAway = std::numeric_limits<double>::max();

double drawn_value(std::uint64_t feature, std::uint64_t row) {
    const double unit = random_unit(7, Purpose::threshold, feature * kRows + row);
    switch (feature) {
        case 0: return std::floor(6 * unit);
        case 1: return unit < 0.1 ? kMissing : unit;
        case 2: return std::floor(4 * unit);                                          // levels
        case 3: return unit < 0.01 ? std::numeric_limits<double>::infinity() : unit;  // in some nodes
        case 4: return unit < 0.01 ? kFarAway : unit < 0.02 ? -kFarAway : unit;       // whose width is no number
        case 5: return 3.0;
        default: return unit;
    }
}

struct Drawn {
    Columns columns;
    Targets targets;
    RankedTable ranked;

    Drawn(std::uint32_t n_outputs, std::vector<std::uint32_t> n_classes) {
        columns.n_levels = {0, 0, 4, 0, 0, 0, 0};
        for (std::size_t feature = 0; feature < 7; ++feature) {
            std::vector<double>& column = columns.values.emplace_back(kRows);
            for (std::size_t row = 0; row < kRows; ++row) column[row] = drawn_value(feature, row);
        }
        targets.n_outputs = n_outputs;
        targets.n_classes = std::move(n_classes);
        for (std::size_t row = 0; row < kRows; ++row) {
            for (std::uint32_t output = 0; output < n_outputs; ++output) {
                const double unit = random_unit(9, Purpose::bootstrap, row * n_outputs + output);
                targets.value.push_back(targets.are_classes() ? std::floor(unit * targets.n_classes[output]) : unit);
            }
            targets.weight.push_back(0.5 + random_unit(11, Purpose::bootstrap, row));
        }
        std::vector<RowIndex> rows(kRows);
        std::iota(rows.begin(), rows.end(), 0u);
        ranked = rank_table(columns.view(), rows, 1);
    }
};

struct Kind {
    Criterion criterion;
    std::uint32_t n_outputs;
    std::vector<std::uint32_t> n_classes;
    bool at_once = true;
};

const Kind kKinds[] = {{Criterion::gini, 1, {2}},
                       {Criterion::entropy, 1, {5}},
                       {Criterion::gini, 2, {3, 2}},
                       {Criterion::squared_error, 1, {}},
                       {Criterion::squared_error, 3, {}},
                       {Criterion::poisson, 1, {}},
                       {Criterion::absolute_error, 1, {}, false}};

void check_same_draws(const Drawn& drawn, FeatureSearch& search, const NodeRows& node, const RowValues& values,
                      const SplitLimits& limits) {
    const CodeColumns columns = CodeColumns::of(drawn.ranked);
    std::vector<FeatureIndex> features(7);
    std::iota(features.begin(), features.end(), 0u);
    std::vector<FeatureSplit> found(7);
    search.draw_all(node, values, features, limits, {}, 13, found);
    for (const FeatureIndex feature : features) {
        if (!values.usable[feature]) continue;
        const FeatureSplit alone =
            search.drawn(node, columns.codes[feature], *columns.features[feature], limits, threshold_seed(13, feature));
        check_equal(found[feature].constant, alone.constant);
        check_equal(found[feature].score, alone.score);
        check_equal(found[feature].missing_left, alone.missing_left);
        check_equal(found[feature].located, alone.constant);
    }
}

const Test at_once("random thresholds of all features at once are those of one feature after the other", [] {
    for (const Kind& kind : kKinds) {
        const Drawn drawn(kind.n_outputs, kind.n_classes);
        const auto search = make_feature_search(kind.criterion, drawn.targets);
        check_equal(search->draws_all(), kind.at_once);
        if (!kind.at_once) continue;
        const std::vector<double> shift = shift_for_search(drawn.targets, kind.criterion);
        const CodeColumns columns = CodeColumns::of(drawn.ranked);
        std::vector<Code> codes;
        for (const std::span<const Code> column : columns.codes)
            codes.insert(codes.end(), column.begin(), column.end());
        const RowValues values(columns.features, codes, kRows);
        check(values.usable == std::vector<std::uint8_t>{1, 0, 0, 0, 0, 1, 1},
              "what is numeric, known and finite is usable");
        for (const std::size_t step : {std::size_t{1}, std::size_t{30'000}, std::size_t{3'000}, std::size_t{700}}) {
            std::vector<RowIndex> rows;
            for (std::size_t row = step / 3; row < kRows; row += step) rows.push_back(static_cast<RowIndex>(row));
            NodeRows node;
            gather_rows(drawn.targets, kind.criterion, shift, rows, node);
            check_same_draws(drawn, *search, node, values, {});
            check_same_draws(drawn, *search, node, values, {.min_rows = rows.size() / 3 + 1, .min_weight = 1.0});
        }
    }
});

const Test between_codes(
    "a drawn threshold is put between two codes of the node, and no value shared by a code is parted", [] {
        const Drawn drawn(1, {2});
        const auto search = make_feature_search(Criterion::gini, drawn.targets);
        const CodeColumns columns = CodeColumns::of(drawn.ranked);
        for (const std::size_t step : {std::size_t{1}, std::size_t{700}, std::size_t{3'000}})
            for (const FeatureIndex feature : {0u, 1u, 3u, 4u, 6u}) {
                std::vector<RowIndex> rows;
                for (std::size_t row = 0; row < kRows; row += step) rows.push_back(static_cast<RowIndex>(row));
                NodeRows node;
                gather_rows(drawn.targets, Criterion::gini, shift_for_search(drawn.targets, Criterion::gini), rows,
                            node);
                const RankedFeature& ranks = *columns.features[feature];
                FeatureSplit split = search->drawn(node, columns.codes[feature], ranks, {}, 17);
                search->locate(node, columns.codes[feature], ranks, 17, split);
                std::size_t n_left = 0;
                bool has_last = false;
                for (const RowIndex row : rows) {
                    const Code code = columns.codes[feature][row];
                    if (code == kMissingCode) continue;
                    check_equal(drawn.columns.values[feature][row] <= split.threshold, split.goes_left(code, false));
                    n_left += split.goes_left(code, false);
                    has_last |= code == split.last_left;
                }
                check(n_left > 0 && n_left < rows.size(), "both sides have rows");
                check(has_last, "the last code on the left is one of the node");
            }
    });

}  // namespace
}  // namespace coterie::tests
