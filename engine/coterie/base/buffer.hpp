// base/buffer.hpp: memory for the hot loops: aligned to cache lines, large pages where that is quicker, not zeroed.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace coterie {

inline constexpr std::size_t kCacheLine = 64;
inline constexpr std::size_t kLargePage = std::size_t{1} << 21;
inline constexpr std::size_t kMaxBytes = std::size_t{1} << 46;

/// Allocates on cache-line boundaries (large pages from 4 MiB up) and leaves trivial values uninitialised,
/// so that the threads that fill a buffer are the first to touch it.
template <class T>
struct LineAllocator {
    using value_type = T;

    LineAllocator() = default;
    template <class U>
    LineAllocator(const LineAllocator<U>&) {}

    T* allocate(std::size_t n) {
        if (n > kMaxBytes / sizeof(T)) throw std::bad_alloc();
        const std::size_t bytes = n * sizeof(T);
        const std::size_t alignment = bytes >= 2 * kLargePage ? kLargePage : kCacheLine;
        const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
#if defined(_WIN32)
        void* memory = _aligned_malloc(rounded, alignment);
#else
        void* memory = std::aligned_alloc(alignment, rounded);
#endif
        if (memory == nullptr) throw std::bad_alloc();
#if defined(__linux__)
        if (alignment == kLargePage) madvise(memory, rounded, MADV_HUGEPAGE);
#endif
        return static_cast<T*>(memory);
    }

    void deallocate(T* memory, std::size_t) {
#if defined(_WIN32)
        _aligned_free(memory);
#else
        std::free(memory);
#endif
    }

    template <class U>
    void construct(U* address) {
        ::new (static_cast<void*>(address)) U;
    }
    template <class U, class... Args>
    void construct(U* address, Args&&... args) {
        ::new (static_cast<void*>(address)) U(static_cast<Args&&>(args)...);
    }

    friend bool operator==(const LineAllocator&, const LineAllocator&) { return true; }
};

template <class T>
using Buffer = std::vector<T, LineAllocator<T>>;

/// Makes room for n values without keeping the old ones. Sizes that go up and down a little, as those of samples do,
/// find room without a new allocation and without doubling.
template <class T>
void resize_anew(Buffer<T>& buffer, std::size_t n) {
    if (buffer.capacity() < n) {
        Buffer<T>().swap(buffer);
        buffer.reserve(n + n / 64);
    }
    buffer.resize(n);
}

}  // namespace coterie
