// base/column_view.hpp: one column of the caller's table, looked at in place.
#pragma once

#include <cmath>
#include <cstring>
#include <limits>
#include <span>
#include <vector>

#include "coterie/base/types.hpp"

namespace coterie {

enum class ValueType : std::uint8_t { float32, float64, int32, int64, uint8 };

/// A strided column that somebody else owns. NaN is missing; in a nominal column a negative code is.
struct ColumnView {
    const std::byte* data = nullptr;
    std::ptrdiff_t stride = 0;  // in bytes; may be zero or negative
    ValueType type = ValueType::float64;

    template <class T>
    T raw(std::size_t row) const {
        T value;
        std::memcpy(&value, data + static_cast<std::ptrdiff_t>(row) * stride, sizeof(T));
        return value;
    }

    double value(std::size_t row) const {
        switch (type) {
            case ValueType::float32: return static_cast<double>(raw<float>(row));
            case ValueType::float64: return raw<double>(row);
            case ValueType::int32: return static_cast<double>(raw<std::int32_t>(row));
            case ValueType::int64: return static_cast<double>(raw<std::int64_t>(row));
            case ValueType::uint8: return static_cast<double>(raw<std::uint8_t>(row));
        }
        return std::numeric_limits<double>::quiet_NaN();
    }

    /// Copies rows [begin, begin + count) to out[0], out[step], ...
    void read(std::size_t begin, std::size_t count, double* out, std::size_t step = 1) const {
        switch (type) {
            case ValueType::float32: return copy<float>(begin, count, out, step);
            case ValueType::float64: return copy<double>(begin, count, out, step);
            case ValueType::int32: return copy<std::int32_t>(begin, count, out, step);
            case ValueType::int64: return copy<std::int64_t>(begin, count, out, step);
            case ValueType::uint8: return copy<std::uint8_t>(begin, count, out, step);
        }
    }

    /// Copies the values of some rows to out[0], out[step], ...
    void read(std::span<const RowIndex> rows, double* out, std::size_t step) const {
        switch (type) {
            case ValueType::float32: return copy<float>(rows, out, step);
            case ValueType::float64: return copy<double>(rows, out, step);
            case ValueType::int32: return copy<std::int32_t>(rows, out, step);
            case ValueType::int64: return copy<std::int64_t>(rows, out, step);
            case ValueType::uint8: return copy<std::uint8_t>(rows, out, step);
        }
    }

private:
    template <class T>
    void copy(std::span<const RowIndex> rows, double* out, std::size_t step) const {
        for (const RowIndex row : rows) {
            *out = static_cast<double>(raw<T>(row));
            out += step;
        }
    }

    template <class T>
    void copy(std::size_t begin, std::size_t count, double* out, std::size_t step) const {
        for (std::size_t i = 0; i < count; ++i) out[i * step] = static_cast<double>(raw<T>(begin + i));
    }
};

/// The caller's table: one view per feature, in the order of the input columns.
struct TableView {
    std::vector<ColumnView> columns;
    std::size_t n_rows = 0;
    std::vector<std::int32_t> n_levels;  // 0 for a numeric feature, else the number of levels of a nominal one
};

}  // namespace coterie
