// base/parallel.hpp: our own small pool of threads.
//
// Words
//   chunk    a piece of work with a number; callers whose results depend on the grid of chunks choose it without regard
//            to the number of threads
//   caller   the thread that starts the work; it works too, and returns when every chunk is done
//   helper   a pooled thread; it spins for a tenth of a millisecond after its work, then sleeps
//   range    the chunks that a thread takes first, in order: neighbours, and the same ones each time there are as many.
//            What it wrote last time is then still in its cache, and not in another core's. Who has done its own range
//            steals from those of others, from the end
// Promises
//   - A fork leaves the child without helpers, and the child makes its own when it needs them.
//   - Calls from inside a chunk run on the calling thread alone.
//   - Callers at the same time share the threads: each of two has half of those that it requests.
//   - The first exception thrown by a chunk reaches the caller.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

namespace coterie {

/// Threads this process may use: COTERIE_NUM_THREADS if set, else the least of the affinity mask, the
/// cgroup quota and OMP_NUM_THREADS; at least 1.
int available_threads();

/// Threads to use when the user requested so many (0: as many as available).
int usable_threads(int requested);

/// A reference to something callable with a chunk number; lives no longer than the call.
class ChunkTask {
public:
    template <class F>
        requires(!std::is_same_v<std::remove_cvref_t<F>, ChunkTask>)
    ChunkTask(F& body)
        : body_(const_cast<void*>(static_cast<const void*>(std::addressof(body)))),
          call_([](void* target, std::size_t chunk) { (*static_cast<F*>(target))(chunk); }) {}

    void operator()(std::size_t chunk) const { call_(body_, chunk); }

private:
    void* body_;
    void (*call_)(void*, std::size_t);
};

/// Chunks that several threads take, each from a range of its own first; who has none left steals from another range.
class WorkStealingRanges {
public:
    static constexpr std::size_t kMaxRanges = 16;
    static constexpr std::size_t kNone = ~std::size_t{0};

    /// n_chunks is less than 2^32.
    WorkStealingRanges(std::size_t n_chunks, std::size_t n_ranges)
        : n_(std::clamp<std::size_t>(n_ranges, 1, kMaxRanges)) {
        for (std::size_t k = 0; k < n_; ++k)
            left_[k].range.store(n_chunks * k / n_ << 32 | n_chunks * (k + 1) / n_, std::memory_order_relaxed);
    }

    /// The next chunk for a thread, or kNone when all are taken. More threads than ranges share them.
    std::size_t take(std::size_t thread) {
        const std::size_t own = thread % n_;
        std::uint64_t range = left_[own].range.load(std::memory_order_relaxed);
        while (first_of(range) < end_of(range))
            if (left_[own].range.compare_exchange_weak(range, range + kFirst, std::memory_order_relaxed))
                return first_of(range);
        for (std::size_t other = own + 1; other < own + n_; ++other) {
            std::atomic<std::uint64_t>& stolen_from = left_[other % n_].range;
            range = stolen_from.load(std::memory_order_relaxed);
            while (first_of(range) < end_of(range))
                if (stolen_from.compare_exchange_weak(range, range - 1, std::memory_order_relaxed))
                    return end_of(range) - 1;
        }
        return kNone;
    }

    void abandon() {
        for (std::size_t k = 0; k < n_; ++k) left_[k].range.store(0, std::memory_order_relaxed);
    }

private:
    static constexpr std::uint64_t kFirst = std::uint64_t{1} << 32;
    static std::size_t first_of(std::uint64_t range) { return range >> 32; }
    static std::size_t end_of(std::uint64_t range) { return static_cast<std::uint32_t>(range); }

    struct alignas(64) Left {                 // a cache line each
        std::atomic<std::uint64_t> range{0};  // first in the upper half, end in the lower
    };
    std::size_t n_;
    std::array<Left, kMaxRanges> left_;
};

/// In order: chunk after chunk, whoever is free. Work stealing: each thread the chunks of its own range first.
enum class Sharing : std::uint8_t { in_order, work_stealing };

void run_chunks(std::size_t n_chunks, int n_threads, Sharing sharing, ChunkTask task);

/// Calls body(chunk) for every chunk in [0, n_chunks), on at most n_threads threads.
template <class F>
void parallel_for(std::size_t n_chunks, int n_threads, F&& body, Sharing sharing = Sharing::in_order) {
    if (n_chunks == 0) return;
    if (n_threads <= 1 || n_chunks == 1) {
        for (std::size_t chunk = 0; chunk < n_chunks; ++chunk) body(chunk);
        return;
    }
    auto& callable = body;
    run_chunks(n_chunks, n_threads, sharing, ChunkTask(callable));
}

/// Calls body(begin, end) for consecutive ranges of `size` items, with work stealing; the last may be shorter.
template <class F>
void parallel_ranges(std::size_t n_items, std::size_t size, int n_threads, F&& body) {
    const std::size_t n_chunks = (n_items + size - 1) / size;
    auto on_chunk = [&](std::size_t chunk) { body(chunk * size, std::min(n_items, (chunk + 1) * size)); };
    parallel_for(n_chunks, n_threads, on_chunk, Sharing::work_stealing);
}

}  // namespace coterie
