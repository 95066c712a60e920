// base/progress.hpp: how long native work checks whether it should stop.
//
// The caller gives the check (in Python: has Ctrl-C been pressed?). The engine calls it between pieces of
// work of a few milliseconds, on the thread that called, never from a worker.
#pragma once

#include <chrono>

#include "coterie/base/error.hpp"

namespace coterie {

class StopRequest {
public:
    using ShouldStop = bool (*)();

    StopRequest() = default;
    explicit StopRequest(ShouldStop should_stop) : should_stop_(should_stop) {}

    /// Throws Interrupted if the caller wants to stop. Cheap: `should_stop` is called at most every 20 ms.
    void check() {
        if (should_stop_ == nullptr) return;
        const auto now = std::chrono::steady_clock::now();
        if (now - last_ < std::chrono::milliseconds(20)) return;
        last_ = now;
        if (should_stop_()) throw Interrupted();
    }

private:
    ShouldStop should_stop_ = nullptr;
    std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace coterie
