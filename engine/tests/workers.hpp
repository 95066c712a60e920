// tests/workers.hpp: several workers in one process, a thread each, that exchange what they have through one table.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "coterie/base/communicator.hpp"

namespace coterie::tests {

/// Where workers meet. Each call is checked: all must make the same one with as many values. A mutex and a
/// condition variable, not std::barrier: that of GCC 12 loses wake-ups on Windows, where there are no futexes.
class Meeting {
public:
    explicit Meeting(std::size_t n_workers) : n_expected_(n_workers), calls_(n_workers), values_(n_workers) {}

    /// What all workers passed to the call, once all are there.
    const std::vector<std::vector<std::uint64_t>>& exchange(std::size_t worker, char call,
                                                            std::span<const std::uint64_t> values) {
        arrive_and_wait();  // nobody reads what was passed to the last call
        calls_[worker] = std::string(1, call) + (call == 'g' ? "" : std::to_string(values.size()));
        values_[worker].assign(values.begin(), values.end());
        arrive_and_wait();
        if (n_absent_ > 0) throw std::logic_error("A worker waits for one that is not there: " + calls_[worker] + ".");
        if (!std::ranges::all_of(calls_, [&](const std::string& each) { return each == calls_[0]; }))
            throw std::logic_error("Workers make different calls: " + calls_[0] + " and others.");
        if (worker == 0) ++n_calls_;
        return values_;
    }

    /// The worker makes no more calls; those that wait for it go on, and find that it is not there.
    void leave() {
        const std::scoped_lock hold(lock_);
        ++n_left_;
        --n_expected_;
        if (n_arrived_ == n_expected_) go_on();
    }

    std::size_t n_calls() const { return n_calls_; }

private:
    void arrive_and_wait() {
        std::unique_lock hold(lock_);
        const std::uint64_t phase = phase_;
        if (++n_arrived_ == n_expected_)
            go_on();
        else
            all_here_.wait(hold, [&] { return phase_ != phase; });
    }

    void go_on() {  // all have come that will come
        n_absent_ = n_left_;
        n_arrived_ = 0;
        ++phase_;
        all_here_.notify_all();
    }

    std::mutex lock_;
    std::condition_variable all_here_;
    std::size_t n_expected_;
    std::size_t n_arrived_ = 0;
    std::size_t n_left_ = 0;
    std::size_t n_absent_ = 0;
    std::uint64_t phase_ = 0;
    std::vector<std::string> calls_;
    std::vector<std::vector<std::uint64_t>> values_;
    std::size_t n_calls_ = 0;
};

class SimulatedWorker final : public Communicator {
public:
    SimulatedWorker(Meeting& meeting, std::size_t number) : meeting_(meeting), number_(number) {}

    void sum(std::span<std::uint64_t> values) override {
        const auto& all = meeting_.exchange(number_, 's', values);
        std::ranges::fill(values, 0);
        for (const auto& each : all)
            for (std::size_t i = 0; i < values.size(); ++i) values[i] += each[i];
    }
    void max(std::span<std::uint64_t> values) override {
        for (const auto& each : meeting_.exchange(number_, 'm', values))
            for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::max(values[i], each[i]);
    }
    std::vector<std::uint64_t> gather(std::span<const std::uint64_t> values) override {
        std::vector<std::uint64_t> joined;
        for (const auto& each : meeting_.exchange(number_, 'g', values))
            joined.insert(joined.end(), each.begin(), each.end());
        return joined;
    }

private:
    Meeting& meeting_;
    std::size_t number_;
};

/// Calls work(slice, worker) for each worker, whose slices have these numbers of rows; throws what one of them throws.
/// Returns how many exchanges there were.
inline std::size_t run_workers(std::span<const std::size_t> n_rows,
                               const std::function<void(const Slice&, std::size_t)>& work) {
    Meeting meeting(n_rows.size());
    std::mutex lock;
    std::exception_ptr failure;
    std::vector<std::thread> threads;
    std::uint64_t first_row = 0;
    for (std::size_t worker = 0; worker < n_rows.size(); ++worker) {
        threads.emplace_back([&, worker, first_row] {
            SimulatedWorker own(meeting, worker);
            try {
                work({.communicator = &own, .first_row = first_row}, worker);
            } catch (...) {
                const std::scoped_lock guard(lock);
                if (!failure) failure = std::current_exception();
            }
            meeting.leave();
        });
        first_row += n_rows[worker];
    }
    for (std::thread& thread : threads) thread.join();
    if (failure) std::rethrow_exception(failure);
    return meeting.n_calls();
}

}  // namespace coterie::tests
