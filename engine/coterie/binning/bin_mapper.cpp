#include "coterie/binning/bin_mapper.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "coterie/base/buffer.hpp"
#include "coterie/base/error.hpp"
#include "coterie/base/parallel.hpp"
#include "coterie/binning/bin_edges.hpp"

namespace coterie {

float float_below(double cut) {
    const auto nearest = static_cast<float>(cut);
    if (static_cast<double>(nearest) <= cut) return nearest;
    return std::nextafter(nearest, -std::numeric_limits<float>::infinity());
}

namespace {

template <class Float, class Convert>
CutTable<Float> cut_table(const std::vector<double>& cuts, Convert convert) {
    CutTable<Float> table;
    table.n_cuts = cuts.size();
    constexpr Float kNever = std::numeric_limits<Float>::infinity();
    std::fill(std::begin(table.cuts), std::end(table.cuts), kNever);
    std::transform(cuts.begin(), cuts.end(), table.cuts, convert);
    for (int k = 0; k < 16; ++k) table.pivots[k] = k < 15 ? table.cuts[16 * k + 15] : kNever;
    return table;
}

FeatureBins nominal_bins(std::size_t feature, int n_levels) {
    require(n_levels < kMaxBins, "Feature " + std::to_string(feature) + " has " + std::to_string(n_levels) +
                                     " levels; the engine takes at most 255.");
    return {.nominal = true, .n_bins = n_levels + 1, .cuts = {}};
}

// Bins of features [begin, end): the sample is read row by row, then cut column by column.
void fit_group(const TableView& table, std::span<const RowIndex> rows, std::span<const double> weight, int max_bins,
               std::size_t begin, std::size_t end, std::vector<FeatureBins>& features) {
    Buffer<double> sample(rows.size() * (end - begin));
    for (std::size_t i = 0; i < rows.size(); ++i)
        for (std::size_t feature = begin; feature < end; ++feature)
            sample[(feature - begin) * rows.size() + i] = table.columns[feature].value(rows[i]);
    for (std::size_t feature = begin; feature < end; ++feature) {
        FeatureBins& bins = features[feature];
        if (table.n_levels[feature] > 0) {
            bins = nominal_bins(feature, table.n_levels[feature]);
            continue;
        }
        const ValueType type = table.columns[feature].type;
        const bool narrow = type == ValueType::float32 || type == ValueType::uint8;
        const std::span<const double> values(sample.data() + (feature - begin) * rows.size(), rows.size());
        bins.cuts = choose_cuts(distinct_values(values, weight, narrow), max_bins);
        // Floats cannot tell a cut from the float just below it, so the latter is the honest threshold.
        if (type == ValueType::float32)
            for (double& cut : bins.cuts) cut = static_cast<double>(float_below(cut));
        bins.n_bins = static_cast<int>(bins.cuts.size()) + 2;
    }
}

}  // namespace

BinMapper::BinMapper(std::vector<FeatureBins> features) : features_(std::move(features)) {
    float_tables_.reserve(features_.size());
    double_tables_.reserve(features_.size());
    for (const FeatureBins& feature : features_) {
        require(feature.n_bins >= 1 && feature.n_bins <= kMaxBins && feature.cuts.size() < 255,
                "A feature may have at most 256 bins.");
        float_tables_.push_back(cut_table<float>(feature.cuts, float_below));
        double_tables_.push_back(cut_table<double>(feature.cuts, [](double cut) { return cut; }));
    }
}

BinMapper BinMapper::fit(const TableView& table, std::span<const double> weight, int max_bins, std::uint64_t seed,
                         int n_threads, StopRequest stop) {
    require(max_bins >= 2 && max_bins <= 255,
            "max_bins must be between 2 and 255; " + std::to_string(max_bins) + " was given.");
    require(weight.empty() || weight.size() == table.n_rows, "The weights differ in length from the table.");
    const std::vector<RowIndex> rows = sample_rows(table.n_rows, weight, seed);
    std::vector<double> sample_weight;
    if (!weight.empty())
        for (const RowIndex row : rows) sample_weight.push_back(weight[row]);
    std::vector<FeatureBins> features(table.columns.size());
    // Neighbouring features lie in the same cache lines of a row-major table: they are sampled together.
    const auto n_together = std::clamp<std::size_t>(
        (features.size() + static_cast<std::size_t>(n_threads) - 1) / static_cast<std::size_t>(n_threads), 1, 16);
    const std::size_t n_groups = (features.size() + n_together - 1) / n_together;
    const auto n_at_once = static_cast<std::size_t>(2 * n_threads);  // groups between two questions whether to stop
    for (std::size_t first = 0; first < n_groups; first += n_at_once) {
        stop.check();
        const std::size_t n = std::min(n_at_once, n_groups - first);
        const int threads = rows.size() * features.size() > 50'000 ? n_threads : 1;
        parallel_for(n, threads, [&](std::size_t group) {
            const std::size_t begin = (first + group) * n_together;
            fit_group(table, rows, sample_weight, max_bins, begin, std::min(features.size(), begin + n_together),
                      features);
        });
    }
    return BinMapper(std::move(features));
}

void BinMapper::map(FeatureIndex feature, const ColumnView& column, std::size_t begin, std::size_t n, Bin* out) const {
    const FeatureBins& bins = features_[feature];
    const std::byte* data = column.data + static_cast<std::ptrdiff_t>(begin) * column.stride;
    if (bins.nominal) {
        double codes[256];
        column.read(begin, n, codes);
        for (std::size_t i = 0; i < n; ++i)
            out[i] = codes[i] >= 0 && codes[i] < bins.n_bins - 1 ? static_cast<Bin>(static_cast<int>(codes[i]) + 1)
                                                                 : kMissingBin;
    } else if (column.type == ValueType::float32) {
        kernels().binning.map_float(data, column.stride, n, float_tables_[feature], out);
    } else if (column.type == ValueType::float64) {
        kernels().binning.map_double(data, column.stride, n, double_tables_[feature], out);
    } else {
        double values[256];
        column.read(begin, n, values);
        kernels().binning.map_double(reinterpret_cast<const std::byte*>(values), sizeof(double), n,
                                     double_tables_[feature], out);
    }
}

}  // namespace coterie
