// Stumps of one feature against a search of all splits there are.
#include "coterie/split/stump_split.hpp"

#include <cmath>

#include "random_inputs.hpp"

namespace coterie::tests {
namespace {

constexpr StumpScore kScores[] = {StumpScore::error, StumpScore::gini, StumpScore::exponential};

std::vector<std::uint64_t> random_weights(std::uint64_t seed, std::size_t n_bins, std::size_t n_classes,
                                          bool some_missing) {
    std::vector<std::uint64_t> weights(n_bins * n_classes);
    for (std::size_t i = 0; i < weights.size(); ++i) {
        const bool missing = i < n_classes;
        weights[i] = bits_at(seed, i) % 5 == 0 || (missing && !some_missing) ? 0 : bits_at(seed, i) >> 30;
    }
    return weights;
}

double score_of_sides(StumpScore score, const std::vector<std::uint64_t>& weights, std::size_t n_classes,
                      const std::vector<int>& right) {
    std::vector<std::uint64_t> sides[2] = {std::vector<std::uint64_t>(n_classes),
                                           std::vector<std::uint64_t>(n_classes)};
    for (std::size_t i = 0; i < weights.size(); ++i) sides[right[i / n_classes]][i % n_classes] += weights[i];
    return side_score(score, sides[0]) + side_score(score, sides[1]);
}

std::vector<int> sides_of(const Stump& stump, std::size_t n_bins) {
    return {stump.right.begin(), stump.right.begin() + static_cast<std::ptrdiff_t>(n_bins)};
}

const Test numeric("a numeric stump is the best of all thresholds and both sides for missing values", [] {
    for (std::uint64_t seed = 0; seed < 40; ++seed)
        for (const StumpScore score : kScores)
            for (const std::size_t n_classes : {2u, 3u}) {
                if (score == StumpScore::exponential && n_classes > 2) continue;
                const std::size_t n_bins = 2 + seed % 9;
                const auto weights = random_weights(seed, n_bins, n_classes, seed % 2 == 0);
                double best = -1e300;
                for (std::size_t cut = 1; cut <= n_bins; ++cut)
                    for (int missing = 0; missing < 2; ++missing) {
                        std::vector<int> right(n_bins);
                        for (std::size_t bin = 1; bin < n_bins; ++bin) right[bin] = bin >= cut;
                        right[0] = missing;
                        best = std::max(best, score_of_sides(score, weights, n_classes, right));
                    }
                const FeatureBins bins{.nominal = false, .n_bins = static_cast<int>(n_bins), .cuts = {}};
                ScoredStump found{.stump = {}, .score = -1e300};
                improve_stump(score, {.feature = 4, .bins = bins, .weights = weights, .n_classes = n_classes}, 0,
                              found);
                if (n_bins == 2 && seed % 2 == 1) continue;  // one bin and nothing missing: there is no split
                check_near(found.score, best, 1e-12 * std::abs(best));
                check_near(score_of_sides(score, weights, n_classes, sides_of(found.stump, n_bins)), best,
                           1e-12 * std::abs(best));
            }
});

const Test every_subset("the levels on the right are the best of all subsets, for two classes", [] {
    for (std::uint64_t seed = 0; seed < 40; ++seed)
        for (const StumpScore score : kScores) {
            const std::size_t n_bins = 3 + seed % 6;
            const auto weights = random_weights(100 + seed, n_bins, 2, true);
            double best = -1e300;
            for (unsigned subset = 0; subset < 1u << n_bins; ++subset) {
                std::vector<int> right(n_bins);
                for (std::size_t bin = 0; bin < n_bins; ++bin) right[bin] = subset >> bin & 1;
                best = std::max(best, score_of_sides(score, weights, 2, right));
            }
            const FeatureBins bins{.nominal = true, .n_bins = static_cast<int>(n_bins), .cuts = {}};
            ScoredStump found{.stump = {}, .score = -1e300};
            improve_stump(score, {.feature = 0, .bins = bins, .weights = weights, .n_classes = 2}, 0, found);
            check_near(score_of_sides(score, weights, 2, sides_of(found.stump, n_bins)), best, 1e-9 * std::abs(best));
        }
});

const Test pairs("with several classes the error is the least of all pairs of predictions", [] {
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        const std::size_t n_bins = 3 + seed % 5, n_classes = 3 + seed % 3;
        const auto weights = random_weights(200 + seed, n_bins, n_classes, true);
        double best = -1e300;
        for (unsigned subset = 0; subset < 1u << n_bins; ++subset) {
            std::vector<int> right(n_bins);
            for (std::size_t bin = 0; bin < n_bins; ++bin) right[bin] = subset >> bin & 1;
            best = std::max(best, score_of_sides(StumpScore::error, weights, n_classes, right));
        }
        const FeatureBins bins{.nominal = true, .n_bins = static_cast<int>(n_bins), .cuts = {}};
        ScoredStump found{.stump = {}, .score = -1e300};
        improve_stump(StumpScore::error, {.feature = 0, .bins = bins, .weights = weights, .n_classes = n_classes}, 0,
                      found);
        check_near(found.score, best, 1e-12 * best);
    }
});

const Test first_stays("of stumps that differ by less than the tolerance the first stays", [] {
    const std::vector<std::uint64_t> weights{0, 0, 5, 0, 0, 0, 0, 5};
    const FeatureBins bins{.nominal = false, .n_bins = 4, .cuts = {}};
    ScoredStump best{.stump = {}, .score = 9};
    improve_stump(StumpScore::error, {.feature = 1, .bins = bins, .weights = weights, .n_classes = 2}, 1, best);
    check_equal(best.stump.feature, -1);
    improve_stump(StumpScore::error, {.feature = 2, .bins = bins, .weights = weights, .n_classes = 2}, 0, best);
    check_equal(best.stump.feature, 2);
    check_equal(sides_of(best.stump, 4), std::vector<int>{0, 0, 1, 1});
});

}  // namespace
}  // namespace coterie::tests
