// bindings/bind_errors.cpp: the engine's exceptions as Python's.
#include "arrays.hpp"
#include "bind.hpp"

namespace coterie::python {

void bind_errors(nb::module_&) {
    nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
        try {
            std::rethrow_exception(thrown);
        } catch (const Interrupted&) {
            // The question that ended the work has already set KeyboardInterrupt (or what a handler raised).
            if (PyErr_Occurred() == nullptr) PyErr_SetNone(PyExc_KeyboardInterrupt);
        } catch (const InvalidInput& error) {
            PyErr_SetString(PyExc_ValueError, error.what());
        }
    });
}

}  // namespace coterie::python
