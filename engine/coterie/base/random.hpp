// base/random.hpp: random numbers without state.
//
// A number is a hash of where it is used: (seed, purpose, position). Nothing is advanced, so threads,
// batches and workers cannot change an answer.
#pragma once

#include <cstdint>

namespace coterie {

/// What a random number is for; streams of different purposes never meet.
enum class Purpose : std::uint64_t {
    row_sample = 1,
    rounding = 2,
    feature_draw = 3,
    threshold = 4,
    bootstrap = 5,
    split_noise = 6,
    row_draw = 7,
};

constexpr std::uint64_t mix(std::uint64_t x) {
    x ^= x >> 30;
    x *= 0xbf58476d1ce4e5b9ull;
    x ^= x >> 27;
    x *= 0x94d049bb133111ebull;
    x ^= x >> 31;
    return x;
}

constexpr std::uint64_t random_bits(std::uint64_t seed, Purpose purpose, std::uint64_t position) {
    const std::uint64_t stream = mix(seed + 0x9e3779b97f4a7c15ull * static_cast<std::uint64_t>(purpose));
    return mix(stream ^ (position * 0xd1342543de82ef95ull + 0x2545f4914f6cdd1dull));
}

/// Uniform in [0, 1) with 53 random bits.
constexpr double random_unit(std::uint64_t seed, Purpose purpose, std::uint64_t position) {
    return static_cast<double>(random_bits(seed, purpose, position) >> 11) * 0x1.0p-53;
}

/// Uniform in {0, ..., n - 1}; n > 0.
constexpr std::uint32_t random_below(std::uint64_t seed, Purpose purpose, std::uint64_t position, std::uint32_t n) {
    return static_cast<std::uint32_t>(((random_bits(seed, purpose, position) >> 32) * n) >> 32);
}

}  // namespace coterie
