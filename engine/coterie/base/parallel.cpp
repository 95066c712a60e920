#include "coterie/base/parallel.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
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
#if defined(__x86_64__) || defined(_M_X64)
#include <immintrin.h>
#endif

namespace coterie {
namespace {

constexpr int kMostThreads = 256;
// Longer than the serial steps between two parallel ones of a tree: a helper that slept would be late for each.
constexpr auto kSpin = std::chrono::microseconds(100);

thread_local bool inside_a_chunk = false;

void relax() {
#if defined(__x86_64__) || defined(_M_X64)
    _mm_pause();
#else
    std::this_thread::yield();
#endif
}

struct Job {
    ChunkTask task;
    std::size_t n_chunks;
    std::atomic<std::size_t> next{0};
    std::mutex failure_lock;
    std::exception_ptr failure;

    void work() {
        inside_a_chunk = true;
        for (std::size_t chunk; (chunk = next.fetch_add(1, std::memory_order_relaxed)) < n_chunks;) {
            try {
                task(chunk);
            } catch (...) {
                const std::lock_guard hold(failure_lock);
                if (!failure) failure = std::current_exception();
                next.store(n_chunks, std::memory_order_relaxed);
            }
        }
        inside_a_chunk = false;
    }
};

class Pool {
public:
    /// Runs the job with up to n_helpers helpers; false if another thread has the pool.
    bool run(Job& job, int n_helpers) {
        const std::unique_lock mine(in_use_, std::try_to_lock);
        if (!mine.owns_lock()) return false;
        start_helpers(n_helpers);
        {
            const std::lock_guard hold(lock_);
            job_ = &job;
            invitations_ = std::min(n_helpers, n_helpers_);
            round_.fetch_add(1, std::memory_order_release);
        }
        wake_.notify_all();
        job.work();
        std::unique_lock hold(lock_);
        job_ = nullptr;
        invitations_ = 0;
        done_.wait(hold, [&] { return busy_ == 0; });
        return true;
    }

private:
    void start_helpers(int wanted) {
        while (n_helpers_ < std::min(wanted, kMostThreads)) {
            try {
                std::thread([this] { serve(); }).detach();
            } catch (const std::system_error&) {
                return;  // no more threads to be had: the ones we have do the work
            }
            ++n_helpers_;
        }
    }

    void serve() {
        std::uint32_t seen = 0;
        for (;;) {
            const auto until = std::chrono::steady_clock::now() + kSpin;
            while (round_.load(std::memory_order_acquire) == seen && std::chrono::steady_clock::now() < until) relax();
            std::unique_lock hold(lock_);
            wake_.wait(hold, [&] { return round_.load(std::memory_order_relaxed) != seen; });
            seen = round_.load(std::memory_order_relaxed);
            if (job_ == nullptr || invitations_ == 0) continue;
            --invitations_;
            ++busy_;
            Job& job = *job_;
            hold.unlock();
            job.work();
            hold.lock();
            if (--busy_ == 0) done_.notify_all();
        }
    }

    std::mutex in_use_;
    std::mutex lock_;
    std::condition_variable wake_;
    std::condition_variable done_;
    std::atomic<std::uint32_t> round_{0};
    Job* job_ = nullptr;
    int invitations_ = 0;
    int busy_ = 0;
    int n_helpers_ = 0;
};

std::atomic<Pool*> the_pool{nullptr};
std::mutex making_the_pool;

// The child of a fork has one thread and a copy of locks in an unknown state: it forgets the parent's pool,
// whose memory is left alone on purpose, and starts anew.
void forget_the_pool() {
    the_pool.store(nullptr);
    new (&making_the_pool) std::mutex;
    inside_a_chunk = false;
}

Pool& pool() {
    if (Pool* existing = the_pool.load(std::memory_order_acquire)) return *existing;
    const std::lock_guard hold(making_the_pool);
    if (Pool* existing = the_pool.load(std::memory_order_acquire)) return *existing;
#if defined(__linux__) || defined(__APPLE__)
    static const int registered = pthread_atfork(nullptr, nullptr, forget_the_pool);
    static_cast<void>(registered);
#endif
    auto* fresh = std::make_unique<Pool>().release();  // lives as long as the process: helpers never end
    the_pool.store(fresh, std::memory_order_release);
    return *fresh;
}

int positive_number_in(const char* variable) {
    const char* text = std::getenv(variable);
    if (text == nullptr) return 0;
    const long number = std::strtol(text, nullptr, 10);
    return number > 0 && number <= kMostThreads ? static_cast<int>(number) : 0;
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
    if (!(file >> quota >> period) || quota == "max" || period <= 0) return kMostThreads;
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
    const int available = std::min(available_threads(), kMostThreads);
    return requested <= 0 ? available : std::min(requested, available);
}

void run_chunks(std::size_t n_chunks, int n_threads, ChunkTask task) {
    if (!inside_a_chunk && n_threads > 1 && n_chunks > 1) {
        Job job{.task = task, .n_chunks = n_chunks, .next = {}, .failure_lock = {}, .failure = {}};
        const int n_helpers =
            static_cast<int>(std::min<std::size_t>(n_chunks, static_cast<std::size_t>(n_threads))) - 1;
        if (pool().run(job, n_helpers)) {
            if (job.failure) std::rethrow_exception(job.failure);
            return;
        }
    }
    for (std::size_t chunk = 0; chunk < n_chunks; ++chunk) task(chunk);
}

}  // namespace coterie
