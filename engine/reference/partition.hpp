// reference/partition.hpp: what splitting a node's rows means. Used by tests only.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "coterie/kernels/kernels.hpp"

namespace coterie::reference {

/// Marked records first, both sides in their old order; and how many are marked.
struct Parted {
    std::vector<Record> records;
    std::size_t n_left;
};

template <class GoesLeft>
Parted slow_partition(std::span<const Record> records, GoesLeft goes_left) {
    Parted parted{.records = {records.begin(), records.end()}, .n_left = 0};
    const auto middle = std::stable_partition(parted.records.begin(), parted.records.end(), goes_left);
    parted.n_left = static_cast<std::size_t>(middle - parted.records.begin());
    return parted;
}

}  // namespace coterie::reference
