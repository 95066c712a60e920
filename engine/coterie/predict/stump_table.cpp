#include "coterie/predict/stump_table.hpp"

#include <algorithm>
#include <string>

#include "coterie/base/error.hpp"
#include "coterie/base/parallel.hpp"

namespace coterie {
namespace {

constexpr std::size_t kBlock = 256;  // rows that a mapper takes at a time
constexpr std::size_t kStripe = 4096 * kBlock;

bool is_used(const FeatureBins& feature) { return feature.n_bins > 1; }

// What the bins of rows add to their sums. A function of its own, because GCC 12 otherwise reads everything that the
// surrounding function objects refer to again for each row: a third of the time of a batch. One score, as two classes
// have, needs no loop over scores.
[[gnu::noinline]] void add_votes(std::span<const Bin> bins, const double* votes, std::size_t n_scores, double* sums) {
    if (n_scores == 1) {
        for (std::size_t row = 0; row < bins.size(); ++row) sums[row] += votes[bins[row]];
        return;
    }
    for (const Bin bin : bins) {
        const double* const own = votes + bin * n_scores;
        for (std::size_t k = 0; k < n_scores; ++k) sums[k] += own[k];
        sums += n_scores;
    }
}

}  // namespace

StumpTable::StumpTable(std::vector<FeatureBins> features, std::vector<double> votes, std::size_t n_scores)
    : mapper_(std::move(features)), votes_(std::move(votes)), n_scores_(n_scores) {
    std::size_t n_bins = 1;
    for (const FeatureBins& feature : mapper_.features()) {
        first_bins_.push_back(n_bins);
        if (is_used(feature)) n_bins += static_cast<std::size_t>(feature.n_bins);
    }
    require(n_scores > 0 && votes_.size() == n_bins * n_scores, "There must be " + std::to_string(n_bins * n_scores) +
                                                                    " votes; there are " +
                                                                    std::to_string(votes_.size()) + ".");
}

void StumpTable::scores(const TableView& table, std::span<double> out, int n_threads, StopRequest stop) const {
    require(table.columns.size() == mapper_.features().size(), "The table has " + std::to_string(table.columns.size()) +
                                                                   " columns; the stumps were made for " +
                                                                   std::to_string(mapper_.features().size()) + ".");
    require(out.size() == table.n_rows * n_scores_, "There must be room for each score of each row.");
    const auto fill = [&](std::size_t begin, std::size_t end) {
        Bin bins[kBlock];
        const std::size_t n = end - begin;
        double* const sums = out.data() + begin * n_scores_;
        for (std::size_t row = 0; row < n; ++row) std::copy_n(votes_.data(), n_scores_, sums + row * n_scores_);
        for (std::size_t i = 0; i < table.columns.size(); ++i) {
            if (!is_used(mapper_.features()[i])) continue;
            mapper_.map(static_cast<FeatureIndex>(i), table.columns[i], begin, n, bins);
            const std::span<const Bin> of_rows(bins, n);
            add_votes(of_rows, votes_.data() + first_bins_[i] * n_scores_, n_scores_, sums);
        }
    };
    for (std::size_t stripe = 0; stripe < table.n_rows; stripe += kStripe) {
        stop.check();
        const std::size_t n = std::min(kStripe, table.n_rows - stripe);
        const int threads = n * table.columns.size() > 50'000 ? n_threads : 1;
        parallel_ranges(n, kBlock, threads,
                        [&](std::size_t begin, std::size_t end) { fill(stripe + begin, stripe + end); });
    }
}

}  // namespace coterie
