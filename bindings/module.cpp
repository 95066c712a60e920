// bindings/module.cpp: table of contents of the compiled part.
#include <nanobind/nanobind.h>

#include "bind.hpp"
#include "coterie/base/parallel.hpp"

NB_MODULE(_engine, m) {
    namespace python = coterie::python;
    m.doc() = "The compiled part of coterie. Strict: convert and check before calling.";
    m.def("available_threads", &coterie::available_threads, "Threads this process may use.");
    m.def("usable_threads", &coterie::usable_threads, nanobind::arg("requested"),
          "Threads to use when `requested` were asked for; 0 means all available ones.");
    python::bind_errors(m);
    python::bind_forest(m);
}
