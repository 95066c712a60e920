// Numbers become fewer bytes and the same numbers again; bytes that are no numbers are refused.
#include "coterie/storage/coded_numbers.hpp"

#include <bit>
#include <cstring>
#include <numeric>

#include "check.hpp"
#include "coterie/base/error.hpp"
#include "coterie/base/random.hpp"

namespace coterie::tests {
namespace {

template <class T>
std::vector<std::uint8_t> coded(const std::vector<T>& items) {
    return code_numbers(std::as_bytes(std::span(items)), sizeof(T));
}

template <class T>
std::vector<T> decoded(const std::vector<std::uint8_t>& bytes, std::size_t n) {
    std::vector<T> items(n);
    decode_numbers(bytes, sizeof(T), std::as_writable_bytes(std::span(items)));
    return items;
}

template <class T>
std::size_t check_again(const std::vector<T>& items, Location where = Location::current()) {
    const std::vector<std::uint8_t> bytes = coded(items);
    if (bytes.empty()) return items.size() * sizeof(T);
    check_equal(decoded<T>(bytes, items.size()), items, where);
    return bytes.size();
}

// Numbers below 2^bits, of a seed.
template <class T>
std::vector<T> drawn(std::size_t n, std::size_t bits, std::uint64_t seed) {
    std::vector<T> items(n);
    for (std::size_t i = 0; i < n; ++i)
        items[i] = static_cast<T>(bits == 0 ? 0 : random_bits(seed, Purpose::row_draw, i) >> (64 - bits));
    return items;
}

const Test widths("numbers of any width and any number of them come back", [] {
    std::uint64_t seed = 0;
    for (const std::size_t n : {1u, 2u, 127u, 128u, 129u, 1000u})
        for (std::size_t bits = 0; bits <= 64; ++bits) {
            check_again(drawn<std::uint64_t>(n, bits, ++seed));
            if (bits <= 32) check_again(drawn<std::uint32_t>(n, bits, ++seed));
            if (bits <= 16) check_again(drawn<std::uint16_t>(n, bits, ++seed));
            if (bits <= 8) check_again(drawn<std::uint8_t>(n, bits, ++seed));
        }
});

const Test few("two distinct numbers take a bit each, one takes none", [] {
    std::vector<double> items(8000, 0.25);
    check_equal(check_again(items), 1 + 4 + 8u);
    for (std::size_t i = 0; i < items.size(); i += 3) items[i] = -1e300;
    check_equal(check_again(items), 1 + 4 + 2 * 8 + 1000u);
});

const Test ascending("numbers that ascend take the bits of their steps", [] {
    std::vector<std::uint32_t> items(12'800);
    for (std::size_t i = 0; i < items.size(); ++i) items[i] = static_cast<std::uint32_t>(1'000'000 + 5 * i + i % 2);
    check(check_again(items) < 12'800, "a byte each is more than enough");
});

const Test no_gain("numbers without any order stay as they are", [] {
    check(coded(drawn<std::uint64_t>(1000, 64, 7)).empty(), "there is nothing to gain");
    check(coded(std::vector<double>()).empty(), "there is nothing at all");
    check(coded(std::vector<std::uint8_t>{3, 5, 13}).empty(), "fewer bytes than a sixteenth can be taken from");
});

const Test signs("steps down are as short as steps up, and go round at the ends", [] {
    std::vector<std::uint16_t> items;
    for (int i = 0; i < 2000; ++i) items.push_back(static_cast<std::uint16_t>(3 - 7 * i));
    check(check_again(items) < 2 * items.size() / 3, "a few bits each");
});

const Test damage("bytes that are cut off, too many, or say the impossible are refused", [] {
    const std::vector<std::uint32_t> items = drawn<std::uint32_t>(300, 9, 1);
    const std::vector<std::uint8_t> bytes = coded(items);
    const auto refused = [&](std::vector<std::uint8_t> other, std::string_view phrase, std::size_t n = 300) {
        check_throws<InvalidInput>([&] { decoded<std::uint32_t>(other, n); }, phrase);
    };
    refused({}, "too early");
    refused({bytes.begin(), bytes.end() - 1}, "too early");
    std::vector<std::uint8_t> other = bytes;
    other.push_back(0);
    refused(other, "comes after the last");
    refused(bytes, "too early", 400);
    refused(bytes, "comes after the last", 200);
    other = bytes;
    other[0] = 9;
    refused(other, "unknown form");
    other = {2, 33, 0, 0, 0, 0};
    refused(other, "impossible width");
    refused({1, 0, 0, 0, 0}, "impossible number of distinct");
    refused({1, 2, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0}, "do not ascend", 3);
    refused({1, 3, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 0xff}, "not there", 3);
    check_throws<InvalidInput>([&] { code_numbers({}, 3); }, "3 bytes");
});

}  // namespace
}  // namespace coterie::tests
