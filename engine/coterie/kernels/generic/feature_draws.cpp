// kernels/generic/feature_draws.cpp: what drawing features means.
#include "coterie/kernels/feature_draws.hpp"

#include <bit>
#include <cstring>

#include "coterie/base/random.hpp"

namespace coterie::generic {
namespace {

#include "coterie/kernels/shared/bits.inl"

// The position of bit number `rank` among those that are set, by halves.
std::size_t position_of(std::uint64_t bits, std::uint32_t rank) {
    std::size_t position = 0;
    for (int width = 32; width > 0; width /= 2) {
        const std::uint32_t below = count_bits(bits & ((std::uint64_t{1} << width) - 1));
        const bool above = rank >= below;
        rank -= above ? below : 0;
        bits >>= above ? width : 0;
        position += above ? static_cast<std::size_t>(width) : 0;
    }
    return position;
}

void draw(FeatureChoice& choice, std::size_t n_draws, std::uint32_t* drawn, std::uint32_t* shares) {
    for (std::size_t i = 0; i < n_draws; ++i) {
        const std::uint64_t bits = mix(draw_position(choice.seed, choice.n_drawn));
        const std::uint64_t n_left = choice.n - choice.n_drawn++;
        const std::size_t position =
            position_of(choice.left, static_cast<std::uint32_t>(((bits >> 32) * n_left) >> 32));
        choice.left ^= std::uint64_t{1} << position;
        drawn[i] = choice.features[position];
        shares[i] = static_cast<std::uint32_t>(bits);
    }
}

}  // namespace

FeatureDrawKernels feature_draw_kernels() { return {.draw = draw}; }

}  // namespace coterie::generic
