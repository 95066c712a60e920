// boosting/split_search.hpp: the best split of an open leaf, from its histogram.
//
// Words
//   desk     what one thread needs to work on a leaf by itself; several leaves at once need several desks
#pragma once

#include <limits>

#include "coterie/base/parallel.hpp"
#include "coterie/base/random.hpp"
#include "coterie/boosting/open_leaf.hpp"
#include "coterie/boosting/options.hpp"
#include "coterie/histogram/layout.hpp"
#include "coterie/histogram/marginal.hpp"
#include "coterie/split/best_split.hpp"

namespace coterie {

struct Desk {
    Marks marks;
    std::vector<Candidate> candidates;
    std::array<Bin, kMaxBins> rule_table{};
};

/// What is the same for all leaves of a tree.
struct TreeFacts {
    Units units;
    std::uint64_t seed = 0;
    double noise = 0;           // what one split gains by chance, rounded units; 0 if nobody asks
    bool counted = false;       // cells count rows: exact, and only possible on fewer than 2^16 of them
    bool flat_hessian = false;  // 1 for every row

    double hessian(Cell cell) const { return static_cast<double>(sums_of(cell, counted).hessian); }
    double gradient(Cell cell) const { return static_cast<double>(sums_of(cell, counted).gradient); }
};

/// How the candidates of one leaf are compared.
struct Contest {
    SplitTask task;
    bool plain = false;  // gains alone decide: every feature is allowed, and nothing limits an answer
    float least = -std::numeric_limits<float>::infinity();  // ranks up to this one are not of interest
    std::vector<std::uint8_t> allowed;                      // one flag per feature, or nothing if all are allowed
    double parent = 0;                                      // gain of the leaf itself, rounded units
    float noise = 0;                                        // standard deviation, rounded units
    std::uint64_t first_draw = 0;                           // of the noise, for feature 0
};

/// A leaf with its histogram.
struct LeafCells {
    OpenLeaf* leaf;
    Cell* cells;
};

/// Leaves, or the outputs of one leaf, that are to have one split.
struct SharedLeaves {
    std::span<const LeafCells> leaves;
    const OpenLeaf& first;                // stands for all of them when features and noise are drawn
    std::span<const LeafCells> sorters;   // one of them sorts the levels of a nominal feature
    std::span<const double> level_costs;  // per sorter: what sorting one more level by noise alone would gain
};

struct GainSums;

class SplitSearch {
public:
    SplitSearch(const BinnedMatrix& matrix, const HistogramLayout& layout, const GrowOptions& options,
                RowPartition& partition);

    void start(const TreeFacts& facts) { facts_ = facts; }

    bool may_split(const OpenLeaf& leaf) const;

    /// Finds the best split of each leaf, of at most two. If `sibling` is given, the cells of the first leaf are
    /// still its parent's, and those of the sibling are taken from them first: tile by tile, so that a tile is still
    /// in the cache when it is scanned. `fill`, if given, is called for each tile before its cells are read. Splits
    /// that gain no more than `least_gain` are not of interest: they may be found or not.
    void find(std::span<const LeafCells> leaves, const Cell* sibling, double least_gain, Desk& desk, int n_threads,
              const ChunkTask* fill = nullptr) const;

    /// The split that gains most when all leaves share it; its gain is the sum of theirs, and nothing if there is none.
    Split find_shared(const SharedLeaves& shared, Desk& desk, int n_threads) const;

    /// The shared split as one leaf sees it: what it sends left, and what it gains.
    Split own_part(const Split& shared, const LeafCells& leaf) const;

private:
    struct Level;
    /// A lane of one numeric feature without a direction; of other lanes n_bins is 0.
    struct PlainLane {
        FeatureIndex feature = 0;
        int n_bins = 0;
        std::size_t offset = 0;
    };
    void sum_lane(std::uint32_t lane, const Level& level, std::span<Candidate> candidates) const;
    Candidate count_feature(FeatureIndex feature, const Level& level) const;
    void start_sums(FeatureIndex feature, const Cell* own, std::size_t k, const Level& level, GainSums& sums) const;
    Candidate best_of(const GainSums& sums, FeatureIndex feature, const Level& level) const;
    void add_leaf(FeatureIndex feature, const Cell* own, std::size_t k, const Level& level, const RowCounts& rows,
                  GainSums& sums) const;
    bool keeps_enough_rows(const Split& split, const Level& level, Desk& desk, int n_threads) const;
    SplitTask task_of(const OpenLeaf& leaf) const;
    std::vector<std::uint8_t> allowed_features(const OpenLeaf& leaf) const;
    void keep_share(std::vector<std::uint8_t>& allowed, double share, Purpose purpose, std::uint64_t first_draw) const;
    Contest contest_of(const OpenLeaf& leaf, double least_gain = 0) const;
    float noise_of(const Contest& contest, FeatureIndex feature) const;
    void rank(Candidate& candidate, const Contest& contest, float noise) const;
    void scan_tile(const Tile& tile, const Cell* cells, const Contest& contest, float& beat,
                   std::span<Candidate> candidates) const;
    void scan_lane(std::uint32_t lane, const Cell* cells, const Contest& contest, float& beat,
                   std::span<Candidate> candidates) const;
    const Cell* feature_cells(const Cell* cells, FeatureIndex feature, LaneCells& room) const;
    bool surely_enough_rows(Cell child) const;
    Split choose(const LeafCells& leaf, const Contest& contest, std::span<Candidate> candidates, Desk& desk,
                 int n_threads) const;

    const BinnedMatrix& matrix_;
    const HistogramLayout& layout_;
    const GrowOptions& options_;
    RowPartition& partition_;
    std::vector<PlainLane> plain_lanes_;  // by lane
    TreeFacts facts_;
};

}  // namespace coterie
