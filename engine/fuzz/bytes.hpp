// fuzz/bytes.hpp: the arguments of a decoder as one string of bytes, which a fuzzer can change, and back.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace coterie::fuzz {

/// Takes numbers and arrays from the front; where there is too little, as much as there is.
class ByteReader {
public:
    explicit ByteReader(std::span<const std::uint8_t> left) : left_(left) {}

    template <class T>
    T number() {
        T value{};
        copy(&value, sizeof(T));
        return value;
    }
    /// The number of items in two bytes, then the items.
    template <class T>
    std::vector<T> array() {
        std::vector<T> items(std::min<std::size_t>(number<std::uint16_t>(), left_.size() / sizeof(T)));
        copy(items.data(), items.size() * sizeof(T));
        return items;
    }
    std::span<const std::uint8_t> rest() const { return left_; }

private:
    void copy(void* to, std::size_t n) {
        n = std::min(n, left_.size());
        if (n > 0) std::memcpy(to, left_.data(), n);
        left_ = left_.subspan(n);
    }

    std::span<const std::uint8_t> left_;
};

/// Appends what ByteReader takes.
class ByteWriter {
public:
    template <class T>
    void number(T value) {
        append(&value, sizeof(T));
    }
    template <class T>
    void array(const std::vector<T>& items) {
        number(static_cast<std::uint16_t>(items.size()));
        append(items.data(), items.size() * sizeof(T));
    }
    const std::vector<std::uint8_t>& bytes() const { return bytes_; }

private:
    void append(const void* from, std::size_t n) {
        const auto* const first = static_cast<const std::uint8_t*>(from);
        bytes_.insert(bytes_.end(), first, first + n);
    }

    std::vector<std::uint8_t> bytes_;
};

/// Ends the program, which a fuzzer reports as a finding.
inline void expect(bool holds) {
    if (!holds) __builtin_trap();
}

}  // namespace coterie::fuzz
