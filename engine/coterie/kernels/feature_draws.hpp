// kernels/feature_draws.hpp: the features that a node of a forest draws, without replacement.
#pragma once

#include <cstddef>
#include <cstdint>

namespace coterie {

inline constexpr std::size_t kMaxChoices = 64;  // features among which the kernel draws
inline constexpr std::size_t kMaxDraws = 8;     // at once

/// What is left to be drawn by a node. Draw i is a hash of the node's seed and of i: half of its bits say which of the
/// features that are left, the other half are the share of a random threshold.
struct FeatureChoice {
    std::uint64_t seed = 0;
    const std::uint32_t* features = nullptr;  // n of them
    std::size_t n = 0;                        // kMaxChoices at most
    std::size_t n_drawn = 0;
    std::uint64_t left = 0;  // positions in `features`, one bit each
};

/// The hash of a draw.
constexpr std::uint64_t draw_position(std::uint64_t seed, std::uint64_t draw) {
    return seed + (draw + 1) * 0x9e3779b97f4a7c15ull;
}

struct FeatureDrawKernels {
    // n_draws more, kMaxDraws at most; both outputs have room for kMaxDraws.
    void (*draw)(FeatureChoice& choice, std::size_t n_draws, std::uint32_t* drawn, std::uint32_t* shares);
};

namespace generic {
FeatureDrawKernels feature_draw_kernels();
}
namespace avx512 {
FeatureDrawKernels feature_draw_kernels();
}

}  // namespace coterie
