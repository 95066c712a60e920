#include "arrays.hpp"

namespace coterie::python {
namespace {

using AnyArray = nb::ndarray<nb::ro, nb::device::cpu>;

ValueType type_of(const AnyArray& array) {
    if (array.dtype() == nb::dtype<float>()) return ValueType::float32;
    if (array.dtype() == nb::dtype<double>()) return ValueType::float64;
    if (array.dtype() == nb::dtype<std::int32_t>()) return ValueType::int32;
    if (array.dtype() == nb::dtype<std::int64_t>()) return ValueType::int64;
    if (array.dtype() == nb::dtype<std::uint8_t>()) return ValueType::uint8;
    throw InvalidInput("The engine reads float32, float64, int32, int64 and uint8; another type was given.");
}

AnyArray as_array(const nb::handle& object) {
    AnyArray array;
    if (!nb::try_cast(object, array)) throw InvalidInput("The engine expected a numpy array.");
    return array;
}

std::ptrdiff_t stride_in_bytes(const AnyArray& array, std::size_t axis) {
    return static_cast<std::ptrdiff_t>(array.stride(axis)) * static_cast<std::ptrdiff_t>(array.itemsize());
}

}  // namespace

TableView view_table(const nb::object& values, const Column<std::int32_t>& n_levels) {
    TableView table;
    table.n_levels.assign(n_levels.data(), n_levels.data() + n_levels.shape(0));
    if (nb::isinstance<nb::list>(values)) {
        for (const nb::handle item : nb::cast<nb::list>(values)) {
            const AnyArray array = as_array(item);
            require(array.ndim() == 1, "Each column must have one dimension.");
            const std::size_t n_rows = array.shape(0);
            require(table.columns.empty() || n_rows == table.n_rows, "The columns differ in length.");
            table.n_rows = n_rows;
            table.columns.push_back({.data = static_cast<const std::byte*>(array.data()),
                                     .stride = stride_in_bytes(array, 0),
                                     .type = type_of(array)});
        }
    } else {
        const AnyArray array = as_array(values);
        require(array.ndim() == 2, "The table must have two dimensions.");
        table.n_rows = array.shape(0);
        const auto* data = static_cast<const std::byte*>(array.data());
        const ValueType type = type_of(array);
        table.columns.reserve(array.shape(1));
        for (std::size_t feature = 0; feature < array.shape(1); ++feature)
            table.columns.push_back({.data = data + static_cast<std::ptrdiff_t>(feature) * stride_in_bytes(array, 1),
                                     .stride = stride_in_bytes(array, 0),
                                     .type = type});
    }
    require(table.columns.size() == table.n_levels.size(), "There are " + std::to_string(table.columns.size()) +
                                                               " columns but " + std::to_string(table.n_levels.size()) +
                                                               " numbers of levels.");
    require(table.n_rows < (std::size_t{1} << 32), "The engine takes fewer than 2^32 rows.");
    return table;
}

}  // namespace coterie::python
