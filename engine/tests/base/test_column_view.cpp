// A column is read in place, whatever its type and stride.
#include <limits>

#include "check.hpp"
#include "coterie/base/column_view.hpp"

namespace coterie::tests {
namespace {

template <class T>
ColumnView view(const T* first, ValueType type, std::ptrdiff_t step = 1) {
    return {.data = reinterpret_cast<const std::byte*>(first),
            .stride = step * static_cast<std::ptrdiff_t>(sizeof(T)),
            .type = type};
}

std::vector<double> read_all(const ColumnView& column, std::size_t n_rows) {
    std::vector<double> values(n_rows);
    column.read(0, n_rows, values.data());
    return values;
}

template <class T>
void check_type(ValueType type) {
    const std::vector<T> numbers{T{0}, T{1}, T{5}, T{120}};
    const ColumnView column = view(numbers.data(), type);
    check_equal(read_all(column, 4), std::vector<double>{0, 1, 5, 120});
    for (std::size_t row = 0; row < 4; ++row) check_equal(column.value(row), static_cast<double>(numbers[row]));
}

const Test every_type("every value type is read as the number it holds", [] {
    check_type<float>(ValueType::float32);
    check_type<double>(ValueType::float64);
    check_type<std::int32_t>(ValueType::int32);
    check_type<std::int64_t>(ValueType::int64);
    check_type<std::uint8_t>(ValueType::uint8);
});

const Test strides("a stride may skip, stand still or walk backwards", [] {
    const std::vector<double> numbers{1, 2, 3, 4, 5, 6};
    check_equal(read_all(view(numbers.data(), ValueType::float64, 2), 3), std::vector<double>{1, 3, 5});
    check_equal(read_all(view(numbers.data(), ValueType::float64, 0), 3), std::vector<double>{1, 1, 1});
    check_equal(read_all(view(&numbers[5], ValueType::float64, -1), 3), std::vector<double>{6, 5, 4});
});

const Test unaligned("a column need not be aligned, as in a packed record", [] {
    std::vector<std::byte> record(1 + 2 * sizeof(double));
    const std::vector<double> numbers{2.5, -7};
    std::memcpy(record.data() + 1, numbers.data(), 2 * sizeof(double));
    const ColumnView column{.data = record.data() + 1, .stride = sizeof(double), .type = ValueType::float64};
    check_equal(read_all(column, 2), numbers);
});

const Test part("a part of a column can be spread over a row-major block", [] {
    const std::vector<float> numbers{1, 2, 3, 4};
    std::vector<double> block(4, -1);
    view(numbers.data(), ValueType::float32).read(1, 2, block.data(), 2);
    check_equal(block, std::vector<double>{2, -1, 3, -1});
});

const Test missing("a missing number stays missing", [] {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    check(std::isnan(view(&nan, ValueType::float32).value(0)), "NaN is read as NaN");
});

}  // namespace
}  // namespace coterie::tests
