// tests/tables_by_hand.hpp: tables that own their columns, and the view of them that the engine takes.
#pragma once

#include <limits>
#include <vector>

#include "coterie/base/column_view.hpp"
#include "coterie/base/random.hpp"

namespace coterie::tests {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

/// Columns of doubles; a nominal one holds codes and says how many levels it has.
struct Columns {
    std::vector<std::vector<double>> values;
    std::vector<std::int32_t> n_levels;

    std::size_t n_rows() const { return values.front().size(); }

    TableView view() const {
        TableView table{.columns = {}, .n_rows = n_rows(), .n_levels = n_levels};
        for (const auto& column : values)
            table.columns.push_back({.data = reinterpret_cast<const std::byte*>(column.data()),
                                     .stride = sizeof(double),
                                     .type = ValueType::float64});
        return table;
    }
};

/// Numeric columns, every third one zero-inflated and every fourth one nominal, with a tenth of all values missing.
inline Columns random_columns(std::uint64_t seed, std::size_t n_rows, std::size_t n_features) {
    Columns table{.values = {}, .n_levels = std::vector<std::int32_t>(n_features, 0)};
    for (std::size_t feature = 0; feature < n_features; ++feature) {
        const bool nominal = feature % 4 == 3;
        if (nominal) table.n_levels[feature] = 12;
        auto& column = table.values.emplace_back(n_rows);
        for (std::size_t row = 0; row < n_rows; ++row) {
            const std::uint64_t position = feature * n_rows + row;
            const double unit = random_unit(seed, Purpose::threshold, position);
            column[row] = nominal ? static_cast<double>(static_cast<int>(unit * 12)) : unit;
            if (feature % 3 == 2 && !nominal && unit < 0.7) column[row] = 0;
            if (random_below(seed, Purpose::split_noise, position, 10) == 0) column[row] = kMissing;
        }
    }
    return table;
}

}  // namespace coterie::tests
