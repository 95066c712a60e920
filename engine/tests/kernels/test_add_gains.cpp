// Gains of all thresholds, added up over leaves: every table adds what the slow gain says.
#include "random_inputs.hpp"
#include "reference/scan.hpp"

namespace coterie::tests {
namespace {

using reference::BinStats;

BinStats plus(const BinStats& a, const BinStats& b) {
    return {a.gradient + b.gradient, a.hessian + b.hessian, a.n + b.n};
}

BinStats minus(const BinStats& a, const BinStats& b) {
    return {a.gradient - b.gradient, a.hessian - b.hessian, a.n - b.n};
}

std::vector<BinStats> random_bins(std::uint64_t seed, std::size_t n_bins) {
    std::vector<BinStats> bins(n_bins);
    for (std::size_t bin = 0; bin < n_bins; ++bin) {
        const std::uint64_t draw = bits_at(seed, bin);
        if (draw % 4 == 0) continue;
        const auto n = static_cast<std::uint32_t>(1 + (draw >> 8) % 9);
        bins[bin] = {static_cast<std::int64_t>(draw >> 20 & 0x3ff) - 512, 3 * n, n};
    }
    return bins;
}

void check_gains(std::span<const BinStats> bins, bool counted, float l2, float min_hessian, std::uint32_t min_rows) {
    Buffer<Cell> cells((bins.size() + 7) / 8 * 8, 0);
    ScanTask task{
        .total = 0, .l2 = l2, .min_hessian = min_hessian, .counted = counted, .min_rows = min_rows, .beat = -1};
    BinStats total;
    for (std::size_t bin = 0; bin < bins.size(); ++bin) {
        cells[bin] = reference::cell_of(bins[bin], counted);
        task.total += cells[bin];
        total = plus(total, bins[bin]);
    }
    constexpr float parent = 17.5f;
    for (const bool missing_left : {false, true}) {
        std::vector<float> slow(264);
        for (std::size_t bin = 0; bin < slow.size(); ++bin) slow[bin] = static_cast<float>(bin) / 3;
        const std::vector<float> before = slow;
        BinStats left = missing_left ? bins[0] : BinStats{};
        for (std::size_t bin = 1; bin < bins.size(); ++bin) {
            left = plus(left, bins[bin]);
            const float gain = reference::slow_gain(left, minus(total, left), task);
            if (gain >= 0) slow[bin] += gain - parent;
        }
        for (const Kernels* table : kernel_tables()) {
            std::vector<float> sums = before;
            table->split.add_gains(cells.data(), static_cast<int>(bins.size()), task, parent, missing_left,
                                   sums.data());
            for (std::size_t bin = 1; bin < bins.size(); ++bin) check_equal(sums[bin], slow[bin]);
            for (std::size_t bin = (bins.size() + 7) / 8 * 8; bin < sums.size(); ++bin)
                check_equal(sums[bin], before[bin]);
        }
    }
}

const Test random_leaves("gains of random leaves are added where both children are heavy enough", [] {
    for (std::uint64_t seed = 0; seed < 120; ++seed) {
        const std::vector<BinStats> bins = random_bins(seed, 2 + bits_at(5, seed) % 255);
        for (const bool counted : {false, true})
            for (const float l2 : {0.0f, 2.5f}) {
                check_gains(bins, counted, l2, 1, 1);
                check_gains(bins, counted, l2, 30, 25);
                check_gains(bins, counted, l2, 1e6f, 1);
            }
    }
});

const Test empty_leaf("an empty leaf adds nothing", [] {
    check_gains(std::vector<BinStats>(40), true, 0, 1, 0);
    check_gains(std::vector<BinStats>(40), false, 1, 1, 0);
});

}  // namespace
}  // namespace coterie::tests
