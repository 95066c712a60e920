// predict/stump_table.hpp: all stumps of a model as one table: what each bin of each feature adds to the scores.
//
// A stump looks at one feature, so stumps of the same feature can be summed in advance: a row costs one lookup for
// each feature that a stump splits on, however many stumps there are.
#pragma once

#include "coterie/binning/bin_mapper.hpp"

namespace coterie {

class StumpTable {
public:
    /// The votes of bin b of a feature are at votes[(first bin of the feature + b) * n_scores], the start comes first:
    /// what every row has. A feature without bins is not looked at.
    StumpTable(std::vector<FeatureBins> features, std::vector<double> votes, std::size_t n_scores);

    const std::vector<FeatureBins>& features() const { return mapper_.features(); }
    const std::vector<double>& votes() const { return votes_; }
    std::size_t n_scores() const { return n_scores_; }

    /// Fills out[row * n_scores + score].
    void scores(const TableView& table, std::span<double> out, int n_threads, StopRequest stop = {}) const;

private:
    BinMapper mapper_;
    std::vector<double> votes_;
    std::size_t n_scores_;
    std::vector<std::size_t> first_bins_;
};

}  // namespace coterie
