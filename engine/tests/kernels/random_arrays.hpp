// tests/kernels/random_arrays.hpp: sizes around every vector width, and arrays to feed the kernels with.
#pragma once

#include <bit>
#include <concepts>

#include "check.hpp"
#include "coterie/base/buffer.hpp"
#include "coterie/base/random.hpp"
#include "coterie/kernels/kernels.hpp"

namespace coterie::tests {

inline constexpr std::size_t kSizes[] = {0, 1, 2, 7, 8, 9, 31, 32, 33, 63, 64, 65, 257, 1000, 2049};

inline std::uint64_t bits_at(std::uint64_t seed, std::size_t i) { return random_bits(seed, Purpose::row_sample, i); }
inline double unit_at(std::uint64_t seed, std::size_t i) { return random_unit(seed, Purpose::threshold, i); }

inline Buffer<Bin> random_bins(std::uint64_t seed, std::size_t n) {
    Buffer<Bin> bins(n);
    for (std::size_t i = 0; i < n; ++i) bins[i] = static_cast<Bin>(bits_at(seed, i));
    return bins;
}

inline Buffer<float> random_floats(std::uint64_t seed, std::size_t n, double low, double high) {
    Buffer<float> values(n);
    for (std::size_t i = 0; i < n; ++i) values[i] = static_cast<float>(low + (high - low) * unit_at(seed, i));
    return values;
}

/// Equal bit for bit: 0 and -0 differ, NaN equals itself.
template <class T>
void check_same_bits(const Buffer<T>& received, const Buffer<T>& expected,
                     std::source_location where = std::source_location::current()) {
    check_equal(received.size(), expected.size(), where);
    for (std::size_t i = 0; i < received.size(); ++i) {
        if constexpr (std::same_as<T, float>) {
            check_equal(std::bit_cast<std::uint32_t>(received[i]), std::bit_cast<std::uint32_t>(expected[i]), where);
        } else {
            check_equal(received[i], expected[i], where);
        }
    }
}

}  // namespace coterie::tests
