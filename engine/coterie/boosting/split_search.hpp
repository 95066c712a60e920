// boosting/split_search.hpp: the best split of an open leaf, from its histogram.
#pragma once

#include "coterie/base/parallel.hpp"
#include "coterie/boosting/split_rules.hpp"

namespace coterie {

/// What is done to cells before they are read, chunk by chunk of tiles.
struct CellWork {
    std::span<const TileRange> chunks;  // empty: tile by tile
    const ChunkTask* fill = nullptr;    // called for each chunk first
    const Cell* subtracted = nullptr;   // what the first leaf's cells, still its parent's, have too much
};

class SplitSearch {
public:
    SplitSearch(const BinnedMatrix& matrix, const HistogramLayout& layout, const SplitRules& rules,
                const RowPartition& partition);

    /// Finds the best split of each leaf, of at most two. Their cells are made ready as `work` says: chunk by chunk, so
    /// that they are still in the cache when they are scanned. Splits that gain no more than `least_gain` are not of
    /// interest: they may be found or not.
    void find(std::span<const LeafCells> leaves, const CellWork& work, double least_gain, Scratch& scratch,
              int n_threads) const;

private:
    /// A bundle of one numeric feature without a direction; of other bundles n_bins is 0.
    struct PlainBundle {
        FeatureIndex feature = 0;
        int n_bins = 0;
        std::size_t offset = 0;
    };
    void scan_tile(const Tile& tile, const Cell* cells, const Ranking& ranking, float& beat,
                   std::span<Candidate> candidates) const;
    void scan_bundle(std::uint32_t bundle, const Cell* cells, const Ranking& ranking, float& beat,
                     std::span<Candidate> candidates) const;
    Split choose(const LeafCells& leaf, const Ranking& ranking, std::span<Candidate> candidates, Scratch& scratch,
                 int n_threads) const;

    const BinnedMatrix& matrix_;
    const HistogramLayout& layout_;
    const GrowOptions& options_;
    const SplitRules& rules_;
    const RowPartition& partition_;
    std::vector<PlainBundle> plain_bundles_;  // by bundle
};

}  // namespace coterie
