#include "coterie/base/parallel.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <mutex>
#include <string>
#include <thread>

#if defined(__linux__)
#include <pthread.h>
#include <sched.h>
#elif defined(__APPLE__)
#include <pthread.h>
#endif
#if defined(_MSC_VER) && !defined(__clang__)
#include <intrin.h>
#elif defined(__x86_64__)
#include <immintrin.h>
#endif

namespace coterie {
namespace {

constexpr int kMaxThreads = 256;
// Longer than the serial steps between two parallel ones of a tree: a thread that sleeps in between is late for each.
constexpr auto kSpin = std::chrono::microseconds(100);
constexpr int kChecksPerTime = 32;
constexpr std::size_t kLine = 64;  // bytes that move between cores together

thread_local bool inside_a_chunk = false;

void relax() {
#if defined(__x86_64__) || defined(_M_X64)
    _mm_pause();
#elif defined(__aarch64__)
    asm volatile("isb" ::: "memory");  // about as long as a pause on x86; `yield` takes no time at all on most cores
#elif defined(_M_ARM64)
    __isb(_ARM64_BARRIER_SY);
#else
    std::this_thread::yield();
#endif
}

struct alignas(kLine) Job {
    ChunkTask task;
    WorkStealingRanges left;  // a single one if chunks are taken in order
    std::mutex failure_lock;
    std::exception_ptr failure;

    void work(std::size_t thread) {
        inside_a_chunk = true;
        for (std::size_t chunk; (chunk = left.take(thread)) != WorkStealingRanges::kNone;) {
            try {
                task(chunk);
            } catch (...) {
                const std::lock_guard hold(failure_lock);
                if (!failure) failure = std::current_exception();
                left.abandon();
            }
        }
        inside_a_chunk = false;
    }
};

// A semaphore that also counts who works, both in one word: no helper starts after the permits were revoked.
class HelperSemaphore {
public:
    void release(std::uint32_t n_permits) { word_.store(std::uint64_t{n_permits} << 32, std::memory_order_release); }
    bool try_acquire() {
        std::uint64_t word = word_.load(std::memory_order_acquire);
        while (word >> 32 != 0)
            if (word_.compare_exchange_weak(word, word - kPermit + 1, std::memory_order_acq_rel)) return true;
        return false;
    }
    /// True if no helper is left at work.
    bool finish() { return static_cast<std::uint32_t>(word_.fetch_sub(1)) == 1; }
    void revoke() { word_.fetch_and(kPermit - 1, std::memory_order_acq_rel); }
    bool idle() const { return static_cast<std::uint32_t>(word_.load()) == 0; }

private:
    static constexpr std::uint64_t kPermit = std::uint64_t{1} << 32;

    std::atomic<std::uint64_t> word_{0};  // permits in the upper half, helpers at work in the lower
};

// True as soon as `ready` is; false if that takes longer than kSpin.
template <class Ready>
bool spin_until(Ready ready) {
    if (ready()) return true;
    for (const auto until = std::chrono::steady_clock::now() + kSpin; std::chrono::steady_clock::now() < until;)
        for (int check = 0; check < kChecksPerTime; ++check) {  // reading the clock takes longer than a check
            if (ready()) return true;
            relax();
        }
    return ready();
}

class Pool {
public:
    /// Runs the job with up to n_helpers helpers; false if another thread has the pool.
    bool run(Job& job, int n_helpers) {
        const std::unique_lock mine(in_use_, std::try_to_lock);
        if (!mine.owns_lock()) return false;
        start_helpers(n_helpers);
        job_.store(&job, std::memory_order_relaxed);
        helpers_.release(static_cast<std::uint32_t>(std::min(n_helpers, n_helpers_)));
        round_.fetch_add(1);
        if (n_sleeping_.load() > 0) {
            const std::lock_guard hold(lock_);
            wake_.notify_all();
        }
        job.work(0);
        helpers_.revoke();
        if (!spin_until([&] { return helpers_.idle(); })) sleep_until_idle();
        return true;
    }

private:
    void start_helpers(int wanted) {
        while (n_helpers_ < std::min(wanted, kMaxThreads)) {
            try {
                std::thread([this, thread = static_cast<std::size_t>(n_helpers_) + 1] { serve(thread); }).detach();
            } catch (const std::system_error&) {
                return;  // no more threads to be had: the ones we have do the work
            }
            ++n_helpers_;
        }
    }

    void serve(std::size_t thread) {
        for (std::uint32_t seen = 0;; seen = wait_for_round_after(seen)) {
            if (!helpers_.try_acquire()) continue;
            job_.load(std::memory_order_relaxed)->work(thread);
            if (helpers_.finish() && caller_sleeps_.load()) {
                const std::lock_guard hold(lock_);
                done_.notify_all();
            }
        }
    }

    // A thread announces that it will sleep before its last check, and a thread publishes its news before it looks for
    // sleepers: one of them sees the other.
    std::uint32_t wait_for_round_after(std::uint32_t seen) {
        const auto is_new = [&] { return round_.load() != seen; };
        if (!spin_until(is_new)) {
            std::unique_lock hold(lock_);
            n_sleeping_.fetch_add(1);
            wake_.wait(hold, is_new);
            n_sleeping_.fetch_sub(1);
        }
        return round_.load();
    }

    void sleep_until_idle() {
        std::unique_lock hold(lock_);
        caller_sleeps_.store(true);
        done_.wait(hold, [&] { return helpers_.idle(); });
        caller_sleeps_.store(false);
    }

    std::mutex in_use_;
    alignas(kLine) HelperSemaphore helpers_;  // what helpers look at first is in one line
    std::atomic<Job*> job_{nullptr};
    std::atomic<std::uint32_t> round_{0};
    std::atomic<int> n_sleeping_{0};
    std::atomic<bool> caller_sleeps_{false};
    alignas(kLine) std::mutex lock_;
    std::condition_variable wake_;
    std::condition_variable done_;
    int n_helpers_ = 0;
};

// A pool serves one caller at a time; callers at the same time have one each.
constexpr std::size_t kMaxPools = 4;
std::array<std::atomic<Pool*>, kMaxPools> the_pools{};
std::mutex making_a_pool;
std::atomic<int> n_callers{0};  // inside run_chunks

class Caller {
public:
    Caller() : n_(n_callers.fetch_add(1, std::memory_order_relaxed) + 1) {}
    ~Caller() { n_callers.fetch_sub(1, std::memory_order_relaxed); }
    Caller(const Caller&) = delete;
    Caller& operator=(const Caller&) = delete;

    /// This caller's share of so many threads.
    int share_of(int n_threads) const { return std::max(1, n_threads / n_); }

private:
    int n_;
};

#if defined(__linux__) || defined(__APPLE__)
// The child of a fork has one thread and a copy of locks in an unknown state: it forgets the parent's
// pools, whose memory is left alone on purpose, and starts anew.
void forget_the_pools() {
    for (std::atomic<Pool*>& pool : the_pools) pool.store(nullptr);
    new (&making_a_pool) std::mutex;
    n_callers.store(0);
    inside_a_chunk = false;
}
#endif

Pool& pool(std::size_t which) {
    std::atomic<Pool*>& entry = the_pools[which];
    if (Pool* existing = entry.load(std::memory_order_acquire)) return *existing;
    const std::lock_guard hold(making_a_pool);
    if (Pool* existing = entry.load(std::memory_order_acquire)) return *existing;
#if defined(__linux__) || defined(__APPLE__)
    static const int registered = pthread_atfork(nullptr, nullptr, forget_the_pools);
    static_cast<void>(registered);
#endif
    auto* fresh = std::make_unique<Pool>().release();  // lives as long as the process: helpers never end
    entry.store(fresh, std::memory_order_release);
    return *fresh;
}

int positive_number_in(const char* variable) {
    const char* text = std::getenv(variable);
    if (text == nullptr) return 0;
    const long number = std::strtol(text, nullptr, 10);
    return number > 0 && number <= kMaxThreads ? static_cast<int>(number) : 0;
}

int threads_of_the_machine() {
#if defined(__linux__)
    cpu_set_t mask;
    if (sched_getaffinity(0, sizeof(mask), &mask) == 0) return std::max(1, CPU_COUNT(&mask));
#endif
    return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

int threads_of_the_cgroup() {
    std::ifstream file("/sys/fs/cgroup/cpu.max");
    std::string quota;
    double period = 0;
    if (!(file >> quota >> period) || quota == "max" || period <= 0) return kMaxThreads;
    const double cores = std::strtod(quota.c_str(), nullptr) / period;
    return std::max(1, static_cast<int>(cores + 0.999));
}

}  // namespace

int available_threads() {
    if (const int forced = positive_number_in("COTERIE_NUM_THREADS")) return forced;
    static const int machine = std::min(threads_of_the_machine(), threads_of_the_cgroup());
    const int openmp = positive_number_in("OMP_NUM_THREADS");
    return openmp > 0 ? std::min(openmp, machine) : machine;
}

int usable_threads(int requested) {
    const int available = std::min(available_threads(), kMaxThreads);
    return requested <= 0 ? available : std::min(requested, available);
}

void run_chunks(std::size_t n_chunks, int n_threads, Sharing sharing, ChunkTask task) {
    if (!inside_a_chunk && n_threads > 1 && n_chunks > 1) {
        const Caller caller;
        const std::size_t n_working = std::min(n_chunks, static_cast<std::size_t>(caller.share_of(n_threads)));
        Job job{.task = task,
                .left = WorkStealingRanges(n_chunks, sharing == Sharing::work_stealing ? n_working : 1),
                .failure_lock = {},
                .failure = {}};
        for (std::size_t which = 0; which < kMaxPools && n_working > 1; ++which)
            if (pool(which).run(job, static_cast<int>(n_working) - 1)) {
                if (job.failure) std::rethrow_exception(job.failure);
                return;
            }
    }
    for (std::size_t chunk = 0; chunk < n_chunks; ++chunk) task(chunk);
}

}  // namespace coterie
