// base/random.hpp: random numbers without state.
//
// A number is a hash of where it is used: (seed, purpose, position). Nothing is advanced, so threads,
// batches and workers cannot change a result.
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
    tree_features = 8,
    level_features = 9,
    level_order = 10,
    forest_tree = 11,
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

/// About normal with mean 0 and variance 1: the sum of the eight bytes of a hash. It ends at 4.9 deviations, costs no
/// logarithm, and has the same bits on every machine.
constexpr float random_normal(std::uint64_t seed, Purpose purpose, std::uint64_t position) {
    std::uint64_t bits = random_bits(seed, purpose, position);
    bits = (bits & 0x00ff00ff00ff00ffull) + (bits >> 8 & 0x00ff00ff00ff00ffull);
    const auto sum = static_cast<std::int32_t>((bits * 0x0001000100010001ull) >> 48);
    return static_cast<float>(sum - 1020) * (1.0f / 209.02153f);  // sqrt(8 * (256^2 - 1) / 12)
}

}  // namespace coterie
