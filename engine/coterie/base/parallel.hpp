// base/parallel.hpp: our own small pool of threads.
//
// Words
//   chunk    a piece of work with a number; the grid of chunks never depends on the number of threads
//   caller   the thread that asks; it works too, and returns when every chunk is done
//   helper   a pooled thread; it spins for a few microseconds after its work, then sleeps
// Promises
//   - A fork leaves the child without helpers, and the child makes its own when it needs them.
//   - Calls from inside a chunk, and calls while another thread has the pool, run on the calling thread alone.
//   - The first exception thrown by a chunk reaches the caller.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <type_traits>

namespace coterie {

/// Threads this process may use: COTERIE_NUM_THREADS if set, else the least of the affinity mask, the
/// cgroup quota and OMP_NUM_THREADS; at least 1.
int available_threads();

/// Threads to use when the user asked for `requested` (0: as many as available).
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

void run_chunks(std::size_t n_chunks, int n_threads, ChunkTask task);

/// Calls body(chunk) for every chunk in [0, n_chunks), on at most n_threads threads.
template <class F>
void parallel_for(std::size_t n_chunks, int n_threads, F&& body) {
    if (n_chunks == 0) return;
    if (n_threads <= 1 || n_chunks == 1) {
        for (std::size_t chunk = 0; chunk < n_chunks; ++chunk) body(chunk);
        return;
    }
    auto& callable = body;
    run_chunks(n_chunks, n_threads, ChunkTask(callable));
}

/// Calls body(begin, end) for consecutive ranges of `size` items; the last may be shorter.
template <class F>
void parallel_ranges(std::size_t n_items, std::size_t size, int n_threads, F&& body) {
    const std::size_t n_chunks = (n_items + size - 1) / size;
    auto on_chunk = [&](std::size_t chunk) { body(chunk * size, std::min(n_items, (chunk + 1) * size)); };
    parallel_for(n_chunks, n_threads, on_chunk);
}

}  // namespace coterie
