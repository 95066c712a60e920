// bindings/module.cpp: table of contents of the compiled part.
#include <nanobind/nanobind.h>

#include "bind.hpp"
#include "coterie/base/memory.hpp"
#include "coterie/base/parallel.hpp"
#include "coterie/base/revision.hpp"
#include "coterie/kernels/kernels.hpp"

NB_MODULE(_engine, m) {
    namespace python = coterie::python;
    nanobind::set_leak_warnings(false);  // a model that is alive at exit is not a fault to print about
    m.doc() = "The compiled part of coterie. Strict: convert and check before calling.";
    m.attr("REVISION") = coterie::kRevision;  // the same inputs give other bits under another one
    m.def(
        "instruction_set", [] { return coterie::kernels().name; },
        "The kernels in use: 'avx512', 'avx2' or 'generic'.");
    m.def("available_threads", &coterie::available_threads, "Threads this process may use.");
    m.def("physical_memory", &coterie::physical_memory,
          "Bytes that this process may use: the machine's memory, or what its cgroup has; 0 if unknown.");
    m.def("usable_threads", &coterie::usable_threads, nanobind::arg("requested"),
          "Threads to use when so many are requested; 0 means all available ones.");
    python::bind_errors(m);
    python::bind_communicator(m);     // Communicator
    python::bind_binning(m);          // BinMapper, BinnedMatrix
    python::bind_forest(m);           // Tree, Forest: arrays, scores, leaves
    python::bind_growth(m);           // GrowOptions, TreeGrower
    python::bind_criterion_tree(m);   // CriterionOptions, grow_criterion_tree, pruning
    python::bind_packed_forest(m);    // PackedForest: predictions, leaves
    python::bind_forest_training(m);  // ForestOptions, ForestTraining, ForestMemory
    python::bind_isolation(m);        // IsolationOptions, isolation trees, their bags
    python::bind_loss(m);             // derivatives of the built-in losses
    python::bind_stumps(m);           // Stump, StumpRounds, StumpTable: AdaBoost
    python::bind_leaf_targets(m);     // LeafTargets: quantiles of a forest
    python::bind_explain(m);          // SHAP values
    python::bind_storage(m);          // forests as the arrays of files
}
