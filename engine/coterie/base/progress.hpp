// base/progress.hpp: how long native work asks whether it should stop.
//
// The caller owns the question (in Python: has Ctrl-C been pressed?). The engine asks it between pieces of
// work of a few milliseconds, on the thread that called, never from a worker.
#pragma once

#include <chrono>

#include "coterie/base/error.hpp"

namespace coterie {

class StopRequest {
public:
    using Question = bool (*)();

    StopRequest() = default;
    explicit StopRequest(Question should_stop) : should_stop_(should_stop) {}

    /// Throws Interrupted if the caller wants to stop. Cheap: the question is put at most every 20 ms.
    void check() {
        if (should_stop_ == nullptr) return;
        const auto now = std::chrono::steady_clock::now();
        if (now - last_ < std::chrono::milliseconds(20)) return;
        last_ = now;
        if (should_stop_()) throw Interrupted();
    }

private:
    Question should_stop_ = nullptr;
    std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace coterie
