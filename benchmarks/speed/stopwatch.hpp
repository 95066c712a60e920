// benchmarks/speed/stopwatch.hpp: cycles, measured on the thread that works, best of several runs.
#pragma once

#include <time.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>

namespace coterie::bench {

inline double cpu_seconds() {
    timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// The clock in GHz, from a chain of dependent additions of one cycle each.
inline double clock_ghz() {
    static const double ghz = [] {
        double best = 0;
        for (int run = 0; run < 7; ++run) {
            std::uint64_t x = 1;
            constexpr int kAdds = 20'000'000;
            const double begin = cpu_seconds();
            for (int i = 0; i < kAdds; i += 4) {
#if defined(__x86_64__)
                asm volatile("add $1,%0\n add $1,%0\n add $1,%0\n add $1,%0\n" : "+r"(x));
#else
                asm volatile("add %0,%0,#1\n add %0,%0,#1\n add %0,%0,#1\n add %0,%0,#1\n" : "+r"(x));
#endif
            }
            best = std::max(best, kAdds / (cpu_seconds() - begin) * 1e-9);
        }
        return best;
    }();
    return ghz;
}

template <class F>
double best_seconds(int runs, F&& work) {
    double best = 1e30;
    for (int run = 0; run < runs; ++run) {
        const double begin = cpu_seconds();
        work();
        best = std::min(best, cpu_seconds() - begin);
    }
    return best;
}

inline void report(const char* what, double seconds, double units, const char* unit, double target_cycles) {
    const double cycles = seconds * clock_ghz() * 1e9 / units;
    std::printf("%-46s %8.2f cycles per %-7s target %6.1f   %s\n", what, cycles, unit, target_cycles,
                cycles <= target_cycles ? "ok" : "above");
}

}  // namespace coterie::bench
