#include "coterie/forest/forest_memory.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "coterie/base/error.hpp"

namespace coterie {
namespace {

constexpr std::uint32_t kMaxClasses = 1 << 20;               // that a file may speak of
constexpr std::size_t kMaxEmptyRows = std::size_t{1} << 24;  // of a table that a file may speak of ...
constexpr std::size_t kMaxPerPlace = 1000;                   // ... or that many for each row that it holds

std::vector<std::size_t> class_ends(const ForestRows& rows) {
    std::vector<std::size_t> ends;
    if (!rows.targets.are_classes() || rows.targets.n_outputs > 1) return ends;
    for (std::uint32_t k = 0; k < rows.targets.n_classes[0]; ++k) {
        const auto end = std::upper_bound(rows.targets.value.begin(), rows.targets.value.end(), static_cast<double>(k));
        ends.push_back(static_cast<std::size_t>(end - rows.targets.value.begin()));
    }
    return ends;
}

}  // namespace

void ForestMemory::prepare_bags() {
    const std::span<const double> weight =
        rows.weighted ? std::span<const double>(rows.targets.weight) : std::span<const double>();
    bags = std::make_shared<BagDrawer>(bag_options.kind, rows.n_places(), weight, class_ends(rows), bag_options.share,
                                       bag_options.most_draws, bag_options.seed);
}

void validate(const ForestMemory& memory) {
    const ForestRows& rows = memory.rows;
    const RankedTable& table = rows.table;
    const criterion::Targets& targets = rows.targets;
    const std::size_t n = rows.n_places();
    require(n > 0 && table.n_rows == n && targets.weight.size() == n && targets.n_outputs > 0 &&
                targets.value.size() == n * targets.n_outputs &&
                (targets.n_classes.empty() || targets.n_classes.size() == targets.n_outputs),
            "The arrays of a forest's rows differ in length.");
    require(
        n <= rows.n_table_rows && rows.n_table_rows <= std::max(kMaxEmptyRows, kMaxPerPlace * n),
        "A forest remembers " + std::to_string(n) + " rows of a table of " + std::to_string(rows.n_table_rows) + ".");
    std::vector<std::uint8_t> known(rows.n_table_rows, 0);
    for (const RowIndex row : rows.order) {
        require(row < rows.n_table_rows, "A forest remembers a row that its table did not have.");
        require(!known[row], "A forest remembers a row twice.");
        known[row] = 1;
    }
    require(std::ranges::all_of(targets.weight, [](double w) { return w > 0.0 && std::isfinite(w); }),
            "A forest remembers a row of an impossible weight.");
    require(std::ranges::all_of(targets.value, [](double value) { return std::isfinite(value); }),
            "A forest remembers a target that is no number.");
    require(std::ranges::all_of(targets.n_classes, [](std::uint32_t n_classes) { return n_classes <= kMaxClasses; }),
            "A forest remembers an impossible number of classes.");
    const std::size_t d = rows.n_features();
    const bool by_row =
        table.feature_stride == 1 && table.row_stride >= d && table.row_stride <= table.codes.size() / n;
    const bool by_feature = table.row_stride == 1 && table.feature_stride == n && table.codes.size() / n >= d;
    require(d > 0 && (by_row || by_feature), "The codes of a forest's rows have an impossible layout.");
    for (std::size_t i = 0; i < targets.value.size() && targets.are_classes(); ++i)
        require(targets.value[i] >= 0.0 && targets.value[i] < targets.n_classes[i % targets.n_outputs],
                "A forest remembers a class that does not exist.");
    for (std::size_t feature = 0; feature < d; ++feature) {
        if (rows.n_levels[feature] == 0) continue;
        for (std::size_t place = 0; place < n; ++place)
            require(rows.code(place, feature) <= rows.n_levels[feature],
                    "A forest remembers a level that does not exist.");
    }
}

}  // namespace coterie
