// Long work asks now and then whether it should stop.
#include <thread>

#include "check.hpp"
#include "coterie/base/progress.hpp"

namespace coterie::tests {
namespace {

int n_questions = 0;

bool count_and_go_on() {
    ++n_questions;
    return false;
}

bool stop_now() { return true; }

const Test nobody_asks("without a question work never stops", [] {
    StopRequest stop;
    for (int step = 0; step < 1000; ++step) stop.check();
});

const Test rarely("the question is put rarely, however often it is checked", [] {
    n_questions = 0;
    const auto begin = std::chrono::steady_clock::now();  // before the request looks at its clock
    StopRequest stop(&count_and_go_on);
    while (n_questions < 3) stop.check();
    check(std::chrono::steady_clock::now() - begin >= std::chrono::milliseconds(60),
          "three questions take three waits");
});

const Test answered("a yes ends the work with Interrupted", [] {
    StopRequest stop(&stop_now);
    std::this_thread::sleep_for(std::chrono::milliseconds(25));
    check_throws<Interrupted>([&] { stop.check(); }, "interrupted");
});

}  // namespace
}  // namespace coterie::tests
