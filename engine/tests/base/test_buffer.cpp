// Memory for the hot loops begins on a cache line.
#include <cstdint>

#include "check.hpp"
#include "coterie/base/buffer.hpp"

namespace coterie::tests {
namespace {

const Test aligned("a buffer begins on a cache line, a large one on a large page", [] {
    for (const std::size_t size : {1u, 3u, 1000u, 70'000u}) {
        const Buffer<double> buffer(size, 0.0);
        check_equal(reinterpret_cast<std::uintptr_t>(buffer.data()) % kCacheLine, std::uintptr_t{0});
    }
    const Buffer<std::uint8_t> large(2 * kLargePage, 0);
    check_equal(reinterpret_cast<std::uintptr_t>(large.data()) % kLargePage, std::uintptr_t{0});
});

const Test too_large("requesting more memory than any machine has is refused, not wrapped around", [] {
    check_throws<std::bad_alloc>([] { LineAllocator<double>().allocate(std::size_t{1} << 62); }, "bad_alloc");
});

const Test keeps_values("a buffer that grows keeps what it held", [] {
    Buffer<int> buffer(3, 7);
    buffer.resize(1000, 8);
    check_equal(buffer[2], 7);
    check_equal(buffer[3], 8);
});

}  // namespace
}  // namespace coterie::tests
