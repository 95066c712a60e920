// binning/bin_mapper.hpp: how each feature's values become bins: what fit learned of the columns.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "coterie/base/column_view.hpp"
#include "coterie/base/communicator.hpp"
#include "coterie/base/progress.hpp"
#include "coterie/kernels/kernels.hpp"

namespace coterie {

/// Bins of one feature. Bin 0 is missing; a numeric value v has bin 1 + (number of cuts below v); level k of a
/// nominal feature has bin k + 1.
struct FeatureBins {
    bool nominal = false;
    int n_bins = 1;            // with the missing bin
    std::vector<double> cuts;  // ascending; rows with value <= cuts[b - 1] have bin <= b
};

/// The largest float that is not above the cut: for a float x, x <= cut and x <= float_below(cut) are the same.
float float_below(double cut);

class BinMapper {
public:
    /// Chooses the cuts from the table, which may be a slice. max_bins counts value bins, 2 .. 255; weight may be
    /// empty.
    static BinMapper fit(const TableView& table, std::span<const double> weight, int max_bins, std::uint64_t seed,
                         int n_threads, StopRequest stop = {}, const Slice& slice = {});

    /// Bins by cuts that were chosen elsewhere: ascending for each feature; a nominal one has levels and no cuts.
    static BinMapper from_cuts(std::span<const std::vector<double>> cuts, std::span<const std::int32_t> n_levels);

    explicit BinMapper(std::vector<FeatureBins> features);

    const std::vector<FeatureBins>& features() const { return features_; }

    /// Bins of rows [begin, begin + n) of one feature, n <= 256.
    void map(FeatureIndex feature, const ColumnView& column, std::size_t begin, std::size_t n, Bin* out) const;

private:
    std::vector<FeatureBins> features_;
    std::vector<CutTable<float>> float_tables_;
    std::vector<CutTable<double>> double_tables_;
};

}  // namespace coterie
