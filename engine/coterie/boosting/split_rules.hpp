// boosting/split_rules.hpp: which splits of a leaf are allowed, and how its candidates are compared.
#pragma once

#include <limits>
#include <vector>

#include "coterie/base/random.hpp"
#include "coterie/boosting/open_leaf.hpp"
#include "coterie/boosting/options.hpp"
#include "coterie/boosting/rounding_noise.hpp"
#include "coterie/histogram/layout.hpp"
#include "coterie/histogram/marginal.hpp"
#include "coterie/split/best_split.hpp"

namespace coterie {

/// What work on one leaf needs besides the leaf; leaves that are worked on at the same time have one each.
struct Scratch {
    Marks marks;
    std::vector<Candidate> candidates;
    std::array<Bin, kMaxBins> rule_table{};
};

/// How the candidates of one leaf are compared.
struct Ranking {
    SplitTask task;
    bool plain = false;  // gains alone decide: every feature is allowed, and nothing limits a value
    float least = -std::numeric_limits<float>::infinity();  // ranks up to this one are not of interest
    std::vector<std::uint8_t> allowed;                      // one flag per feature, or nothing if all are allowed
    double parent = 0;                                      // gain of the leaf itself, rounded units
    double rounding = 0;                                    // what rounding alone can gain, if noise is added to ranks
    float noise = 0;                                        // standard deviation, rounded units
    std::uint64_t first_draw = 0;                           // of the noise, for feature 0
};

/// A leaf with its histogram.
struct LeafCells {
    OpenLeaf* leaf;
    Cell* cells;
};

class SplitRules {
public:
    static constexpr double kFloatErrors = 0x1p-21;  // of a gain in float32, relative

    SplitRules(const BinnedMatrix& matrix, const HistogramLayout& layout, const GrowOptions& options)
        : matrix_(matrix), layout_(layout), options_(options) {
        for (const FeatureBins& bins : matrix.features()) n_candidates_ += static_cast<std::size_t>(bins.n_bins);
    }

    void start(const TreeFacts& facts) { facts_ = facts; }
    const TreeFacts& facts() const { return facts_; }
    const GrowOptions& options() const { return options_; }

    /// Large enough and not too deep.
    bool splittable(const OpenLeaf& leaf) const;

    SplitTask task_of(const OpenLeaf& leaf) const;

    Ranking ranking_of(const OpenLeaf& leaf, double least_gain = 0) const;
    float noise_of(const Ranking& ranking, FeatureIndex feature) const;
    void rank(Candidate& candidate, const Ranking& ranking, float noise) const;

    /// For a split of this feature that was chosen from all candidates.
    RoundingNoise rounding_noise(FeatureIndex feature) const;

    /// What candidates of the leaves, whose gains are compared as float32, seem to gain at most if only their rounding
    /// differs.
    template <class Leaves>
    double seeming_gain(const Leaves& leaves, double parents) const {
        RoundingNoise noise(facts_, n_candidates_, 1);
        for (const OpenLeaf* leaf : leaves) noise.add_scale(*leaf);
        return noise.limit() + kFloatErrors * parents;
    }

    /// 1, -1 or 0 for a monotone feature.
    int direction_of(FeatureIndex feature) const { return options_.monotone.empty() ? 0 : options_.monotone[feature]; }

    /// The hessian proves that enough rows are in the child.
    bool surely_enough_rows(Cell child) const;

    /// The cells of one feature, in the histogram itself or summed up in `bundle_scratch`.
    const Cell* feature_cells(const Cell* cells, FeatureIndex feature, BundleCells& bundle_scratch) const;

private:
    std::vector<std::uint8_t> allowed_features(const OpenLeaf& leaf) const;
    void keep_share(std::vector<std::uint8_t>& allowed, double share, Purpose purpose, std::uint64_t first_draw) const;

    const BinnedMatrix& matrix_;
    const HistogramLayout& layout_;
    const GrowOptions& options_;
    TreeFacts facts_;
    std::size_t n_candidates_ = 0;
};

}  // namespace coterie
