// The histogram pool: slots come back, the limit holds, and the environment can set it.
#include <cstdlib>

#include "check.hpp"
#include "coterie/base/error.hpp"
#include "coterie/base/memory.hpp"
#include "coterie/histogram/pool.hpp"

namespace coterie::tests {
namespace {

constexpr std::size_t kCells = 1000;
constexpr std::size_t kSlotBytes = (kCells + 8) * sizeof(Cell);

const Test limit("a pool has as many slots as its bytes allow, and never fewer than three", [] {
    HistogramPool pool(kCells, 1, 5 * kSlotBytes + 1);
    check_equal(pool.n_spare(), std::size_t{5});
    check_equal(pool.n_bytes(), std::size_t{0});
    for (int i = 0; i < 5; ++i) pool.acquire();
    check_equal(pool.n_spare(), std::size_t{0});
    check_equal(pool.n_bytes(), 5 * kSlotBytes);
    check_throws<InvalidInput>([&] { pool.acquire(); }, "full");
    check_equal(HistogramPool(kCells, 1, 1).n_spare(), HistogramPool::kMinSlots);
    check_equal(HistogramPool(kCells, 2, 10 * kSlotBytes).n_spare(), std::size_t{5});
});

const Test again("a slot that is released is the next to be acquired, and a new tree has all of them", [] {
    HistogramPool pool(kCells, 1, 4 * kSlotBytes);
    pool.acquire();
    const int second = pool.acquire();
    pool.release(second);
    check_equal(pool.acquire(), second);
    pool.clear();
    check_equal(pool.n_spare(), std::size_t{4});
    check_equal(pool.n_bytes(), 2 * kSlotBytes);
});

const Test slack("cells behind the last of each output are zero", [] {
    HistogramPool pool(kCells, 3, 0);
    const int slot = pool.acquire();
    for (std::size_t output = 0; output < 3; ++output)
        for (std::size_t i = 0; i < 8; ++i) check_equal(pool.cells(slot, output)[kCells + i], Cell{0});
});

const Test share("without a limit of its own, a pool may take an eighth of the memory", [] {
    check(physical_memory() > (std::size_t{1} << 24), "there is memory");
    check_equal(default_histogram_bytes(), physical_memory() / 8);
});

}  // namespace
}  // namespace coterie::tests
