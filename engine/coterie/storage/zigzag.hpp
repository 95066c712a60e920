// storage/zigzag.hpp: differences of unsigned numbers as numbers that are small for either sign.
#pragma once

#include <concepts>

namespace coterie {

/// 0, -1, 1, -2, ... (modulo 2^bits) as 0, 1, 2, 3, ...
template <std::unsigned_integral T>
constexpr T zigzag(T difference) {
    constexpr int kTop = 8 * sizeof(T) - 1;
    return static_cast<T>(static_cast<T>(difference << 1) ^ static_cast<T>(T{0} - static_cast<T>(difference >> kTop)));
}

template <std::unsigned_integral T>
constexpr T unzigzag(T value) {
    return static_cast<T>(static_cast<T>(value >> 1) ^ static_cast<T>(T{0} - static_cast<T>(value & 1)));
}

}  // namespace coterie
