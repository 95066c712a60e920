// boosting/split_search.hpp: the best split of an open leaf, from its histogram.
#pragma once

#include "coterie/base/parallel.hpp"
#include "coterie/boosting/split_rules.hpp"

namespace coterie {

class SplitSearch {
public:
    SplitSearch(const BinnedMatrix& matrix, const HistogramLayout& layout, const SplitRules& rules,
                const RowPartition& partition);

    /// Finds the best split of each leaf, of at most two. If `sibling` is given, the cells of the first leaf are
    /// still its parent's, and those of the sibling are taken from them first: tile by tile, so that a tile is still
    /// in the cache when it is scanned. `fill`, if given, is called for each tile before its cells are read. Splits
    /// that gain no more than `least_gain` are not of interest: they may be found or not.
    void find(std::span<const LeafCells> leaves, const Cell* sibling, double least_gain, Scratch& scratch,
              int n_threads, const ChunkTask* fill = nullptr) const;

private:
    /// A lane of one numeric feature without a direction; of other lanes n_bins is 0.
    struct PlainLane {
        FeatureIndex feature = 0;
        int n_bins = 0;
        std::size_t offset = 0;
    };
    void scan_tile(const Tile& tile, const Cell* cells, const Ranking& ranking, float& beat,
                   std::span<Candidate> candidates) const;
    void scan_lane(std::uint32_t lane, const Cell* cells, const Ranking& ranking, float& beat,
                   std::span<Candidate> candidates) const;
    Split choose(const LeafCells& leaf, const Ranking& ranking, std::span<Candidate> candidates, Scratch& scratch,
                 int n_threads) const;

    const BinnedMatrix& matrix_;
    const HistogramLayout& layout_;
    const GrowOptions& options_;
    const SplitRules& rules_;
    const RowPartition& partition_;
    std::vector<PlainLane> plain_lanes_;  // by lane
};

}  // namespace coterie
