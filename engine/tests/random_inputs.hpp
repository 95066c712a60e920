// tests/random_inputs.hpp: arrays of random bits and numbers, sizes with awkward tails, and equality bit for bit.
#pragma once

#include <array>
#include <bit>
#include <limits>

#include "check.hpp"
#include "coterie/base/buffer.hpp"
#include "coterie/base/random.hpp"
#include "coterie/kernels/kernels.hpp"

namespace coterie::tests {

inline std::uint64_t bits_at(std::uint64_t seed, std::size_t i) { return random_bits(seed, Purpose::row_sample, i); }
inline double unit_at(std::uint64_t seed, std::size_t i) { return random_unit(seed, Purpose::threshold, i); }

/// Every tail from 0 to 100, then sizes around the kernels' own chunks.
inline std::vector<std::size_t> awkward_sizes() {
    std::vector<std::size_t> sizes;
    for (std::size_t n = 0; n <= 100; ++n) sizes.push_back(n);
    for (const std::size_t n : {255u, 256u, 257u, 1000u, 1023u, 1024u, 1025u, 2049u}) sizes.push_back(n);
    return sizes;
}

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

/// Numbers at the edges of a floating-point type.
template <class Float>
std::vector<Float> edge_values() {
    using Limits = std::numeric_limits<Float>;
    std::vector<Float> values{0, Limits::infinity(), Limits::max(), Limits::min(), Limits::denorm_min(), 1};
    for (std::size_t i = 0, n = values.size(); i < n; ++i) values.push_back(-values[i]);
    return values;
}

/// The definition, and the table in use here; under COTERIE_ISA=generic they are one.
inline std::array<const Kernels*, 2> kernel_tables() { return {&generic_kernels(), &kernels()}; }

/// Equal bit for bit: 0 and -0 differ, NaN equals itself.
template <class A, class B>
void check_same_bits(const A& received, const B& expected, Location where = Location::current()) {
    check_equal(received.size(), expected.size(), where);
    for (std::size_t i = 0; i < received.size(); ++i) {
        if constexpr (std::same_as<typename A::value_type, float>) {
            check_equal(std::bit_cast<std::uint32_t>(received[i]), std::bit_cast<std::uint32_t>(expected[i]), where);
        } else {
            check_equal(received[i], expected[i], where);
        }
    }
}

}  // namespace coterie::tests
