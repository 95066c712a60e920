#include "coterie/split/nominal.hpp"

#include <algorithm>

#include "coterie/split/constrained.hpp"

namespace coterie {
namespace {

struct Level {
    double key;
    Bin bin;
};

// Bins of the node by smoothed gradient over hessian; equal keys by bin.
std::size_t sorted_levels(const Cell* cells, int n_bins, const SplitTask& task, std::array<Level, kMaxBins>& levels) {
    std::size_t n = 0;
    const Sums total = task.sums(task.total);
    const double centre = static_cast<double>(total.gradient) / std::max(1.0, static_cast<double>(total.hessian));
    for (int bin = 0; bin < n_bins; ++bin) {
        if (cells[bin] == 0) continue;
        const Sums sums = task.sums(cells[bin]);
        const double gradient = static_cast<double>(sums.gradient) + centre * static_cast<double>(task.level_smoothing);
        const double hessian = static_cast<double>(sums.hessian) + static_cast<double>(task.level_smoothing);
        levels[n++] = {gradient / std::max(hessian, 1e-9), static_cast<Bin>(bin)};
    }
    std::sort(levels.begin(), levels.begin() + static_cast<std::ptrdiff_t>(n),
              [](const Level& a, const Level& b) { return a.key < b.key || (a.key == b.key && a.bin < b.bin); });
    return n;
}

}  // namespace

std::size_t order_of_levels(const Cell* cells, int n_bins, const SplitTask& task, std::span<Bin, kMaxBins> order) {
    std::array<Level, kMaxBins> levels;
    const std::size_t n = sorted_levels(cells, n_bins, task, levels);
    for (std::size_t i = 0; i < n; ++i) order[i] = levels[i].bin;
    return n;
}

Candidate best_levels(const Cell* cells, int n_bins, const SplitTask& task, const RowCounts& rows) {
    Candidate best;
    best.nominal = true;
    std::array<Level, kMaxBins> levels;
    const std::size_t n = sorted_levels(cells, n_bins, task, levels);
    best.n_levels = static_cast<std::uint16_t>(n);
    const ScanTask scan = task.scan(task.level_l2);
    const double l2 = static_cast<double>(task.l2) + static_cast<double>(task.level_l2);
    SplitTask shrinking = task;
    shrinking.bounds = {};
    Cell left = 0;
    std::uint32_t n_left = 0;
    for (std::size_t i = 0; i + 1 < n; ++i) {
        left += cells[levels[i].bin];
        if (!rows.counts.empty()) {
            n_left += rows.counts[levels[i].bin];
            if (n_left < rows.least || task.n_rows - n_left < rows.least) continue;
        }
        const float gain = task.l1 > 0 ? gain_within(left, shrinking, l2, 0) : gain_of_split(left, scan);
        if (gain > best.gain) {
            best.gain = gain;
            best.n_levels_left = static_cast<std::uint16_t>(i + 1);
        }
    }
    return best;
}

LevelSet left_bins_of(const Candidate& candidate, const Cell* cells, int n_bins, const SplitTask& task) {
    std::array<Level, kMaxBins> levels;
    sorted_levels(cells, n_bins, task, levels);
    LevelSet set{};
    for (std::size_t i = 0; i < candidate.n_levels_left; ++i)
        set[levels[i].bin / 64] |= std::uint64_t{1} << (levels[i].bin % 64);
    return set;
}

}  // namespace coterie
