// An array owns its values, or looks at memory that somebody keeps.
#include "coterie/base/array.hpp"

#include "check.hpp"

namespace coterie::tests {
namespace {

const Test own("an array of its own reads like the vector it was made of", [] {
    const Array<int> array(std::vector<int>{3, 1, 2});
    check_equal(array.size(), 3u);
    check_equal(array[1], 1);
    check(!array.is_lent(), "nobody lends it");
    check_equal(std::vector<int>(array.begin(), array.end()), std::vector<int>{3, 1, 2});
    check(Array<int>().empty(), "an array of nothing");
});

const Test lent("a lent array is not copied, and its memory lives as long as the last copy of it", [] {
    auto memory = std::make_shared<std::vector<int>>(std::vector<int>{5, 6, 7});
    const std::weak_ptr<std::vector<int>> watched = memory;
    Array<int> array(std::span<const int>(*memory).subspan(1), memory);
    const Array<int> copy = array;
    check_equal(copy.data(), memory->data() + 1);
    memory.reset();
    array = Array<int>();
    check_equal(copy[1], 7);
    check(!watched.expired(), "the copy needs it");
});

const Test changed("whoever changes a lent array gets one of its own", [] {
    const auto memory = std::make_shared<std::vector<int>>(std::vector<int>{5, 6});
    Array<int> array(std::span<const int>(*memory), memory);
    array.own()[0] = 1;
    check_equal(array[0], 1);
    check_equal((*memory)[0], 5);
    check(!array.is_lent(), "it is its own now");
});

}  // namespace
}  // namespace coterie::tests
