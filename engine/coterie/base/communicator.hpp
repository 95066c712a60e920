// base/communicator.hpp: workers that train one model together, each on a slice of the rows.
//
// Every worker makes the same calls in the same order with as many values, and all get the same result. Values are
// whole numbers, whose sums do not depend on the order of addition; so whatever is decided by sums and maxima over all
// workers is decided alike everywhere, and as one worker with all rows decides it.
//
// Who fails must make the calls of the others fail too, or they wait forever: that is the business of those who
// implement this, since they know the connections. Inputs are checked by what was summed, so that all workers refuse
// them together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace coterie {

class Communicator {
public:
    Communicator() = default;
    Communicator(const Communicator&) = delete;
    Communicator& operator=(const Communicator&) = delete;
    virtual ~Communicator() = default;

    /// Replaces each value by the sum of all workers' values at this index, modulo 2^64.
    virtual void sum(std::span<std::uint64_t> values) = 0;

    /// Replaces each value by the largest of all workers' values at this index.
    virtual void max(std::span<std::uint64_t> values) = 0;

    /// The values of all workers, of which each may have another number, in the order of their rows.
    virtual std::vector<std::uint64_t> gather(std::span<const std::uint64_t> values) = 0;
};

/// The rows of one worker: `first_row` is the number of its first row among those of all workers. Without a
/// communicator there is one worker, and nothing is exchanged.
struct Slice {
    Communicator* communicator = nullptr;
    std::uint64_t first_row = 0;

    bool shared() const { return communicator != nullptr; }
    void sum(std::span<std::uint64_t> values) const {
        if (shared()) communicator->sum(values);
    }
    void max(std::span<std::uint64_t> values) const {
        if (shared()) communicator->max(values);
    }
    std::uint64_t sum_of(std::uint64_t value) const {
        sum({&value, 1});
        return value;
    }
};

}  // namespace coterie
