// base/memory.hpp: how much memory there is.
#pragma once

#include <cstddef>

namespace coterie {

/// Bytes that this process may use: the machine's memory, or what its cgroup has if that is less; 0 if unknown.
std::size_t physical_memory();

}  // namespace coterie
