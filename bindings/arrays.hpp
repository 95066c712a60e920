// bindings/arrays.hpp: what crosses the border, and who owns it.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "coterie/base/array.hpp"
#include "coterie/base/column_view.hpp"
#include "coterie/base/error.hpp"
#include "coterie/base/progress.hpp"

namespace coterie::python {

namespace nb = nanobind;

template <class T>  // what the engine accepts: one dimension, contiguous, exactly this type
using Column = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class T>  // an array the engine writes into
using Output = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class T>
std::span<const T> look(const Column<T>& column) {
    return {column.data(), column.shape(0)};
}

template <class T>
std::span<T> look(Output<T>& column) {
    return {column.data(), column.shape(0)};
}

/// Hands a vector to numpy without copying; numpy frees it.
template <class T, class Allocator>
auto give(std::vector<T, Allocator>&& values, std::initializer_list<std::size_t> shape) {
    auto* owner = new std::vector<T, Allocator>(std::move(values));
    nb::capsule free(owner, [](void* memory) noexcept { delete static_cast<std::vector<T, Allocator>*>(memory); });
    return nb::ndarray<nb::numpy, T>(owner->data(), shape, free);
}

template <class T, class Allocator>
auto give(std::vector<T, Allocator>&& values) {
    const std::size_t size = values.size();
    return give(std::move(values), {size});
}

/// Holds on to a Python object, from whatever thread it is let go.
inline std::shared_ptr<const void> keep(nb::object object) {
    auto* owner = new nb::object(std::move(object));
    return {owner, [](const void* memory) {
                const nb::gil_scoped_acquire hold;
                delete static_cast<const nb::object*>(memory);
            }};
}

/// An array of a dict, of exactly this type.
template <class T>
Column<T> column_of(const nb::dict& arrays, const char* name) {
    Column<T> column;
    require(arrays.contains(name), std::string("There is no array '") + name + "'.");
    require(nb::try_cast(arrays[name], column, false),
            std::string("The array '") + name + "' is of another type or shape.");
    return column;
}

template <class T>
std::vector<T> copy_of(const nb::dict& arrays, const char* name) {
    const Column<T> column = column_of<T>(arrays, name);
    return {column.data(), column.data() + column.shape(0)};
}

/// Has Ctrl-C been pressed? Takes the interpreter lock for the check.
inline bool keyboard_interrupt() {
    const nb::gil_scoped_acquire hold;
    return PyErr_CheckSignals() != 0;
}

inline StopRequest stop_on_keyboard_interrupt() { return StopRequest(&keyboard_interrupt); }

/// Views of the caller's table: a 2-D array, or a list with a 1-D array per feature. Nothing is copied.
/// The views live as long as `values` does.
TableView view_table(const nb::object& values, const Column<std::int32_t>& n_levels);

}  // namespace coterie::python
