#include "coterie/binning/bin_mapper.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <mutex>
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

// The rows that decide, and what they weigh.
struct CutSample {
    std::vector<RowIndex> rows;
    std::vector<double> weight;  // empty: 1 for every row
};

FeatureBins numeric_bins(std::span<const double> values, std::span<const double> weight, ValueType type, int max_bins) {
    const bool narrow = type == ValueType::float32 || type == ValueType::uint8;
    FeatureBins bins;
    bins.cuts = choose_cuts(distinct_values(values, weight, narrow), max_bins);
    // Floats cannot tell a cut from the float just below it, so the latter is the exact threshold.
    if (type == ValueType::float32)
        for (double& cut : bins.cuts) cut = static_cast<double>(float_below(cut));
    bins.n_bins = static_cast<int>(bins.cuts.size()) + 2;
    return bins;
}

// Buffers for the values of a group, as many as there are groups at once. Groups take them one after the other: memory
// that is new for each would cost more than the reading.
class ScratchBuffers {
public:
    Buffer<double> take() {
        const std::lock_guard hold(lock_);
        if (free_.empty()) return {};
        Buffer<double> buffer = std::move(free_.back());
        free_.pop_back();
        return buffer;
    }
    void give_back(Buffer<double> buffer) {
        const std::lock_guard hold(lock_);
        free_.push_back(std::move(buffer));
    }

private:
    std::mutex lock_;
    std::vector<Buffer<double>> free_;
};

// Bins of features [begin, end): the sample is read row by row, then cut column by column.
void fit_group(const TableView& table, const CutSample& sample, int max_bins, std::size_t begin, std::size_t end,
               ScratchBuffers& scratch, std::vector<FeatureBins>& features) {
    const std::size_t n = sample.rows.size();
    Buffer<double> values = scratch.take();
    resize_anew(values, n * (end - begin));
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t feature = begin; feature < end; ++feature)
            values[(feature - begin) * n + i] = table.columns[feature].value(sample.rows[i]);
    for (std::size_t feature = begin; feature < end; ++feature) {
        if (table.n_levels[feature] > 0)
            features[feature] = nominal_bins(feature, table.n_levels[feature]);
        else
            features[feature] = numeric_bins({values.data() + (feature - begin) * n, n}, sample.weight,
                                             table.columns[feature].type, max_bins);
    }
    scratch.give_back(std::move(values));
}

std::vector<double> gathered(std::span<const double> values, Communicator& communicator) {
    std::vector<std::uint64_t> bits;
    for (const double value : values) bits.push_back(std::bit_cast<std::uint64_t>(value));
    std::vector<double> all;
    for (const std::uint64_t each : communicator.gather(bits)) all.push_back(std::bit_cast<double>(each));
    return all;
}

// Each worker sees the samples of all, feature by feature, and finds the cuts that one would find.
void fit_together(const TableView& table, const CutSample& sample, int max_bins, Communicator& communicator,
                  std::vector<FeatureBins>& features) {
    const std::vector<double> weight = gathered(sample.weight, communicator);
    for (std::size_t feature = 0; feature < features.size(); ++feature) {
        if (table.n_levels[feature] > 0) {
            features[feature] = nominal_bins(feature, table.n_levels[feature]);
            continue;
        }
        std::vector<double> values;
        for (const RowIndex row : sample.rows) values.push_back(table.columns[feature].value(row));
        features[feature] = numeric_bins(gathered(values, communicator), weight, table.columns[feature].type, max_bins);
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
                         int n_threads, StopRequest stop, const Slice& slice) {
    require(max_bins >= 2 && max_bins <= 255,
            "max_bins must be between 2 and 255; " + std::to_string(max_bins) + " was given.");
    require(weight.empty() || weight.size() == table.n_rows, "The weights differ in length from the table.");
    CutSample sample;
    sample.rows = sample_rows(
        {.n_rows = table.n_rows, .first_row = slice.first_row, .n_total = slice.sum_of(table.n_rows)}, weight, seed);
    if (!weight.empty())
        for (const RowIndex row : sample.rows) sample.weight.push_back(weight[row]);
    std::vector<FeatureBins> features(table.columns.size());
    if (slice.shared()) {
        fit_together(table, sample, max_bins, *slice.communicator, features);
        return BinMapper(std::move(features));
    }
    // Neighbouring features lie in the same cache lines of a row-major table: they are sampled together.
    const auto n_together = std::clamp<std::size_t>(
        (features.size() + static_cast<std::size_t>(n_threads) - 1) / static_cast<std::size_t>(n_threads), 1, 16);
    const std::size_t n_groups = (features.size() + n_together - 1) / n_together;
    const auto n_at_once = static_cast<std::size_t>(2 * n_threads);  // groups between two checks for a request to stop
    ScratchBuffers scratch;
    for (std::size_t first = 0; first < n_groups; first += n_at_once) {
        stop.check();
        const std::size_t n = std::min(n_at_once, n_groups - first);
        const int threads = sample.rows.size() * features.size() > 50'000 ? n_threads : 1;
        parallel_for(n, threads, [&](std::size_t group) {
            const std::size_t begin = (first + group) * n_together;
            fit_group(table, sample, max_bins, begin, std::min(features.size(), begin + n_together), scratch, features);
        });
    }
    return BinMapper(std::move(features));
}

BinMapper BinMapper::from_cuts(std::span<const std::vector<double>> cuts, std::span<const std::int32_t> n_levels) {
    require(cuts.size() == n_levels.size(), "There must be cuts, or none, for each feature.");
    std::vector<FeatureBins> features;
    for (std::size_t feature = 0; feature < cuts.size(); ++feature) {
        const std::vector<double>& own = cuts[feature];
        const std::string which = "Feature " + std::to_string(feature);
        require(n_levels[feature] == 0 || own.empty(), which + " is nominal and has cuts.");
        const auto descends = [](double low, double high) { return !(low < high); };
        require(std::ranges::adjacent_find(own, descends) == own.end() &&
                    std::ranges::none_of(own, [](double cut) { return std::isnan(cut); }),
                which + " has cuts that do not ascend.");
        if (n_levels[feature] > 0)
            features.push_back(nominal_bins(feature, n_levels[feature]));
        else
            features.push_back({.nominal = false, .n_bins = static_cast<int>(own.size()) + 2, .cuts = own});
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
