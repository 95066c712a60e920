// Long work checks now and then whether it should stop.
#include <thread>

#include "check.hpp"
#include "coterie/base/progress.hpp"

namespace coterie::tests {
namespace {

int n_checks = 0;

bool count_and_go_on() {
    ++n_checks;
    return false;
}

bool stop_now() { return true; }

const Test no_check("without a check work never stops", [] {
    StopRequest stop;
    for (int step = 0; step < 1000; ++step) stop.check();
});

const Test rarely("the callback is called rarely, however often work checks", [] {
    n_checks = 0;
    const auto begin = std::chrono::steady_clock::now();  // before the request looks at its clock
    StopRequest stop(&count_and_go_on);
    while (n_checks < 3) stop.check();
    check(std::chrono::steady_clock::now() - begin >= std::chrono::milliseconds(60), "three calls take three waits");
});

const Test stopped("a check that returns true ends the work with Interrupted", [] {
    StopRequest stop(&stop_now);
    std::this_thread::sleep_for(std::chrono::milliseconds(25));
    check_throws<Interrupted>([&] { stop.check(); }, "interrupted");
});

}  // namespace
}  // namespace coterie::tests
