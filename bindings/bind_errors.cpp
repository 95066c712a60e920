// bindings/bind_errors.cpp: the engine's exceptions as Python's.
#include "arrays.hpp"
#include "bind.hpp"

namespace coterie::python {

void bind_errors(nb::module_&) {
    nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
        try {
            std::rethrow_exception(thrown);
        } catch (const Interrupted&) {
            // The check that ended the work has already set KeyboardInterrupt (or what a handler raised).
            if (PyErr_Occurred() == nullptr) PyErr_SetNone(PyExc_KeyboardInterrupt);
        } catch (const InvalidInput& error) {
            // The library's own InvalidInput, which is a ValueError.
            const nb::object ours = nb::module_::import_("coterie.errors").attr("InvalidInput");
            PyErr_SetString(ours.ptr(), error.what());
        }
    });
}

}  // namespace coterie::python
