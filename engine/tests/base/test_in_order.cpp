// What threads add in any order is used in the order of its numbers, by one of them at a time.
#include <atomic>
#include <memory>

#include "check.hpp"
#include "coterie/base/in_order.hpp"
#include "coterie/base/parallel.hpp"

namespace coterie::tests {
namespace {

using Number = std::unique_ptr<std::size_t>;  // moved, never copied

const Test backwards("items that come backwards wait for the first", [] {
    std::vector<std::size_t> used;
    InOrder<Number> items(4, [&](Number& item) { used.push_back(*item); });
    for (const std::size_t number : {3u, 2u, 1u}) items.add(number, std::make_unique<std::size_t>(number));
    check(used.empty(), "nothing is due");
    items.add(0, std::make_unique<std::size_t>(0));
    check_equal(used, std::vector<std::size_t>{0, 1, 2, 3});
});

const Test by_threads("all items of several threads are used once, in order, and never two at a time", [] {
    for (const int n_threads : {1, 2, 3, 8}) {
        std::vector<std::size_t> used;
        std::atomic<int> users = 0;
        std::atomic<bool> alone = true;
        InOrder<Number> items(500, [&](Number& item) {
            if (++users > 1) alone = false;
            used.push_back(*item);
            --users;
        });
        parallel_for(500, n_threads, [&](std::size_t i) { items.add(i, std::make_unique<std::size_t>(i)); });
        check(alone, "one user at a time");
        check_equal(used.size(), std::size_t{500});
        for (std::size_t i = 0; i < used.size(); ++i) check_equal(used[i], i);
    }
});

}  // namespace
}  // namespace coterie::tests
