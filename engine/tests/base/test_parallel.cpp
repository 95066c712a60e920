// The pool runs every chunk once, from whichever thread and however many threads there are.
#include <atomic>
#include <cstdlib>
#include <thread>

#include "check.hpp"
#include "coterie/base/parallel.hpp"

#if defined(__linux__) || defined(__APPLE__)
#include <sys/wait.h>
#include <unistd.h>
#endif

namespace coterie::tests {
namespace {

// How often each chunk ran.
std::vector<int> visits(std::size_t n_chunks, int n_threads, Sharing sharing = Sharing::in_order) {
    std::vector<std::atomic<int>> counts(n_chunks);
    parallel_for(n_chunks, n_threads, [&](std::size_t chunk) { ++counts[chunk]; }, sharing);
    return {counts.begin(), counts.end()};
}

const Test each_chunk_once("every chunk runs exactly once for any number of threads", [] {
    for (const int n_threads : {1, 2, 3, 8})
        for (const std::size_t n_chunks : {0u, 1u, 2u, 7u, 1000u})
            for (const Sharing sharing : {Sharing::in_order, Sharing::work_stealing})
                check_equal(visits(n_chunks, n_threads, sharing), std::vector<int>(n_chunks, 1));
});

const Test own_range_first(
    "a thread takes the chunks of its own range in order, then those of another from the end", [] {
        WorkStealingRanges ranges(10, 3);  // 0 to 2, 3 to 5, 6 to 9
        check_equal(ranges.take(1), std::size_t{3});
        check_equal(ranges.take(0), std::size_t{0});
        check_equal(ranges.take(4),
                    std::size_t{4});  // a fourth and a fifth thread share ranges with the first and the second
        check_equal(ranges.take(1), std::size_t{5});
        for (const std::size_t chunk : {9u, 8u, 7u, 6u, 2u, 1u}) check_equal(ranges.take(1), chunk);
        for (const std::size_t thread : {0u, 1u, 2u}) check_equal(ranges.take(thread), WorkStealingRanges::kNone);
    });

const Test many_small("a hundred thousand jobs of two chunks lose none and run none twice", [] {
    std::vector<std::uint32_t> counts(2);
    for (std::uint32_t round = 1; round <= 100'000; ++round) {
        parallel_for(2, 2, [&](std::size_t chunk) { ++counts[chunk]; });
        check(counts[0] == round && counts[1] == round, "both chunks ran, and are done when the call returns");
    }
});

const Test ranges_cover("ranges cover the items in pieces of the requested size", [] {
    std::vector<std::size_t> lengths(4);
    parallel_ranges(10, 3, 2, [&](std::size_t begin, std::size_t end) { lengths[begin / 3] = end - begin; });
    check_equal(lengths, std::vector<std::size_t>{3, 3, 3, 1});
});

const Test errors_arrive("an error in a chunk reaches the caller, and the pool still works after it", [] {
    check_throws<std::runtime_error>(
        [] {
            parallel_for(100, 4, [](std::size_t chunk) {
                if (chunk == 57) throw std::runtime_error("chunk 57 has a problem");
            });
        },
        "chunk 57");
    check_equal(visits(100, 4), std::vector<int>(100, 1));
});

const Test nested("a parallel loop inside a chunk runs on the thread of the chunk", [] {
    std::vector<int> on_one_thread(6);
    parallel_for(6, 3, [&](std::size_t chunk) {
        const auto outer = std::this_thread::get_id();
        bool same = true;
        parallel_for(50, 3, [&](std::size_t) { same &= std::this_thread::get_id() == outer; });
        on_one_thread[chunk] = same;
    });
    check_equal(on_one_thread, std::vector<int>(6, 1));
});

const Test many_callers("callers in several threads share the pool without losing work", [] {
    std::atomic<int> total{0};
    std::vector<std::thread> callers;
    for (int caller = 0; caller < 4; ++caller)
        callers.emplace_back([&] {
            for (int round = 0; round < 50; ++round) parallel_for(20, 3, [&](std::size_t) { ++total; });
        });
    for (auto& caller : callers) caller.join();
    check_equal(total.load(), 4 * 50 * 20);
});

/// True if so many chunks of a call are under way at the same time. A chunk that waits in vain goes on in the end.
bool all_meet(std::size_t n, int n_threads) {
    std::atomic<std::size_t> arrived{0};
    parallel_for(n, n_threads, [&](std::size_t) {
        ++arrived;
        for (int look = 0; look < 1'000'000 && arrived < n; ++look) std::this_thread::yield();
        if (arrived < n) arrived = 2 * n;  // nobody else need wait
    });
    return arrived == n;
}

const Test two_callers("a caller beside another has half of the threads that it requests, and its own helpers", [] {
    std::atomic<bool> inside{false}, done{false};
    std::thread other([&] {
        parallel_for(2, 2, [&](std::size_t) {
            inside = true;
            while (!done) std::this_thread::yield();
        });
    });
    while (!inside) std::this_thread::yield();
    const bool two = all_meet(2, 4), three = all_meet(3, 4);
    done = true;
    other.join();
    check(two, "two of four threads are this caller's");
    check(!three, "the other two are not");
    check(all_meet(3, 4), "a caller alone has all threads");
});

const Test requests("as many threads as requested are used, but no more than are available", [] {
    check(available_threads() >= 1, "there is at least one thread");
    check_equal(usable_threads(1), 1);
    check_equal(usable_threads(0), available_threads());
    check_equal(usable_threads(100'000), available_threads());
});

#if (defined(__linux__) || defined(__APPLE__)) && !defined(__SANITIZE_THREAD__)
/// True if two chunks are under way at the same time, which takes a helper.
bool two_meet() {
    static std::atomic<int> arrived, met;
    arrived = met = 0;
    parallel_for(2, 2, [](std::size_t) {
        const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(10);
        for (++arrived; arrived < 2 && std::chrono::steady_clock::now() < until;) std::this_thread::yield();
        met += arrived == 2;
    });
    return met == 2;
}

// ThreadSanitizer does not follow threads that are started after a fork, so it does not see this test.
const Test fork("the child of a fork starts its own helpers", [] {
    if (std::getenv("COTERIE_TESTS_UNDER_QEMU") != nullptr) return;  // its assertions fail if the child starts threads
    check(two_meet(), "the parent has a helper");
    const pid_t child = ::fork();
    if (child == 0) {
        ::alarm(30);
        ::_exit(two_meet() && visits(100, 4) == std::vector<int>(100, 1) ? 0 : 1);
    }
    int status = -1;
    ::waitpid(child, &status, 0);
    check(WIFEXITED(status), "the child ends by itself");
    check_equal(WEXITSTATUS(status), 0);
});
#endif

}  // namespace
}  // namespace coterie::tests
