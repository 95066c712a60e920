// bindings/communicator.hpp: workers that exchange numbers by a Python object.
#pragma once

#include <optional>

#include "arrays.hpp"
#include "coterie/base/communicator.hpp"

namespace coterie::python {

/// Calls `sum`, `max` and `gather` of a Python object with arrays of uint64, the interpreter lock held. What the object
/// raises ends the call of the engine and is raised there; it has to end the calls of the other workers itself.
class PythonCommunicator final : public Communicator {
public:
    explicit PythonCommunicator(nb::object target) : target_(std::move(target)) {}
    ~PythonCommunicator() override;

    void sum(std::span<std::uint64_t> values) override;
    void max(std::span<std::uint64_t> values) override;
    std::vector<std::uint64_t> gather(std::span<const std::uint64_t> values) override;

private:
    nb::object target_;
};

/// A slice for the engine; without a communicator there is one worker.
inline Slice slice_of(PythonCommunicator* communicator, std::uint64_t first_row) {
    return {.communicator = communicator, .first_row = first_row};
}

}  // namespace coterie::python
