#include "coterie/base/memory.hpp"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <limits>

#if defined(_WIN32)
#ifndef NOMINMAX  // the standard library of MinGW-w64 may define it first
#define NOMINMAX
#endif
#include <windows.h>
#else
#include <unistd.h>
#endif

namespace coterie {
namespace {

std::size_t memory_of_the_machine() {
#if defined(_WIN32)
    MEMORYSTATUSEX status;
    status.dwLength = sizeof(status);
    return GlobalMemoryStatusEx(&status) ? static_cast<std::size_t>(status.ullTotalPhys) : 0;
#else
    const long pages = sysconf(_SC_PHYS_PAGES), bytes = sysconf(_SC_PAGESIZE);
    return pages > 0 && bytes > 0 ? static_cast<std::size_t>(pages) * static_cast<std::size_t>(bytes) : 0;
#endif
}

std::size_t memory_of_the_cgroup() {
    for (const char* path : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
        std::ifstream file(path);
        std::uint64_t bytes = 0;
        if (file >> bytes && bytes > 0) return static_cast<std::size_t>(bytes);
    }
    return std::numeric_limits<std::size_t>::max();
}

}  // namespace

std::size_t physical_memory() { return std::min(memory_of_the_machine(), memory_of_the_cgroup()); }

}  // namespace coterie
