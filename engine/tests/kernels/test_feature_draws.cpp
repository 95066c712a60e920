// What a node draws: the same features and shares in every table, each feature once, all of them as often.
#include <bit>
#include <cmath>
#include <set>

#include "random_inputs.hpp"

namespace coterie::tests {
namespace {

struct Drawn {
    std::vector<std::uint32_t> features;
    std::vector<std::uint32_t> shares;
};

/// All features, some at a time.
Drawn draw_all(const Kernels& table, std::uint64_t seed, const std::vector<std::uint32_t>& features, std::size_t step) {
    FeatureChoice choice{.seed = seed,
                         .features = features.data(),
                         .n = features.size(),
                         .left = ~std::uint64_t{0} >> (kMaxChoices - features.size())};
    Drawn drawn;
    while (choice.n_drawn < features.size()) {
        const std::size_t n = std::min(step, features.size() - choice.n_drawn);
        std::uint32_t own[kMaxDraws];
        std::uint32_t share[kMaxDraws];
        table.feature_draws.draw(choice, n, own, share);
        drawn.features.insert(drawn.features.end(), own, own + n);
        drawn.shares.insert(drawn.shares.end(), share, share + n);
    }
    check_equal(choice.left, std::uint64_t{0});
    return drawn;
}

const Test same("every table draws the same features and shares, however many at a time", [] {
    for (const std::size_t n : {1, 2, 7, 8, 9, 28, 63, 64}) {
        std::vector<std::uint32_t> features;
        for (std::size_t i = 0; i < n; ++i) features.push_back(static_cast<std::uint32_t>(1000 - 3 * i));
        for (std::uint64_t seed = 0; seed < 20; ++seed) {
            const Drawn once = draw_all(generic_kernels(), seed, features, 1);
            check_equal(std::set(once.features.begin(), once.features.end()).size(), n);
            for (const Kernels* table : kernel_tables())
                for (const std::size_t step : {1, 5, 8}) {
                    const Drawn other = draw_all(*table, seed, features, step);
                    check_equal(other.features, once.features);
                    check_equal(other.shares, once.shares);
                }
        }
    }
});

const Test even("every pair of features is drawn about as often", [] {
    constexpr std::size_t kNodes = 60'000;
    const std::vector<std::uint32_t> features{0, 1, 2, 3, 4, 5};
    std::vector<double> count(36, 0.0);
    for (std::uint64_t node = 0; node < kNodes; ++node) {
        const Drawn drawn = draw_all(generic_kernels(), bits_at(3, node), features, 8);
        ++count[6 * drawn.features[0] + drawn.features[1]];
    }
    for (std::size_t pair = 0; pair < 36; ++pair) {
        const double expected = pair / 6 == pair % 6 ? 0.0 : kNodes / 30.0;
        check_near(count[pair], expected, 4.5 * std::sqrt(expected));
    }
});

}  // namespace
}  // namespace coterie::tests
