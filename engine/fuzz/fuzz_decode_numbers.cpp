// Any bytes are numbers or are refused; numbers that were decoded are the same after coding and decoding them again.
#include "bytes.hpp"
#include "coterie/base/error.hpp"
#include "coterie/storage/coded_numbers.hpp"

namespace {

using namespace coterie;

void check_again(std::span<const std::byte> items, std::size_t item_size) {
    const std::vector<std::uint8_t> coded = code_numbers(items, item_size);
    if (coded.empty()) return;  // not shorter than the items
    std::vector<std::byte> again(items.size());
    decode_numbers(coded, item_size, again);
    fuzz::expect(std::ranges::equal(items, again));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::ByteReader bytes({data, size});
    const std::size_t item_size = std::size_t{1} << (bytes.number<std::uint8_t>() & 3);
    std::vector<std::uint64_t> room(bytes.number<std::uint16_t>() % 4096);  // aligned for items of every size
    const std::span<std::byte> items = std::as_writable_bytes(std::span(room)).first(room.size() * item_size);
    try {
        decode_numbers(bytes.rest(), item_size, items);
        check_again(items, item_size);
    } catch (const InvalidInput&) {
    }
    return 0;
}
