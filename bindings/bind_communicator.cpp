// bindings/bind_communicator.cpp: Communicator.
#include <algorithm>

#include "bind.hpp"
#include "communicator.hpp"

namespace coterie::python {
namespace {

// A copy: what Python keeps of it may outlive the call.
nb::object copy_for_python(std::span<const std::uint64_t> values) {
    return nb::cast(give(std::vector<std::uint64_t>(values.begin(), values.end())));
}

Column<std::uint64_t> words_of(const nb::object& result, const char* call) {
    Column<std::uint64_t> words;
    require(nb::try_cast(result, words, false), std::string("The communicator must return an array of uint64 for '") +
                                                    call + "', contiguous and of one dimension.");
    return words;
}

void replace(std::span<std::uint64_t> values, const nb::object& result, const char* call) {
    const Column<std::uint64_t> words = words_of(result, call);
    require(words.shape(0) == values.size(),
            std::string("The communicator returned another number of words for '") + call + "'.");
    std::copy_n(words.data(), values.size(), values.begin());
}

}  // namespace

PythonCommunicator::~PythonCommunicator() {
    const nb::gil_scoped_acquire hold;
    target_.reset();
}

void PythonCommunicator::sum(std::span<std::uint64_t> values) {
    const nb::gil_scoped_acquire hold;
    replace(values, target_.attr("sum")(copy_for_python(values)), "sum");
}

void PythonCommunicator::max(std::span<std::uint64_t> values) {
    const nb::gil_scoped_acquire hold;
    replace(values, target_.attr("max")(copy_for_python(values)), "max");
}

std::vector<std::uint64_t> PythonCommunicator::gather(std::span<const std::uint64_t> values) {
    const nb::gil_scoped_acquire hold;
    const Column<std::uint64_t> words = words_of(target_.attr("gather")(copy_for_python(values)), "gather");
    return {words.data(), words.data() + words.shape(0)};
}

void bind_communicator(nb::module_& m) {
    nb::class_<PythonCommunicator>(m, "Communicator",
                                   "How workers that each have a slice of the rows exchange whole numbers.")
        .def(nb::init<nb::object>(), nb::arg("target"),
             "`target` has the methods sum, max and gather, each from an array of uint64 to one: the sums (modulo "
             "2^64) or the largest over all workers, element by element, or the words of all workers in the order of "
             "their rows. All workers make the same calls in the same order.");
}

}  // namespace coterie::python
