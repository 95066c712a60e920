// The best split of one feature: levels against every subset, thresholds with counted rows against every threshold.
#include <cmath>

#include "coterie/split/best_split.hpp"
#include "coterie/split/constrained.hpp"
#include "coterie/split/nominal.hpp"
#include "random_inputs.hpp"
#include "reference/histogram.hpp"

namespace coterie::tests {
namespace {

using reference::BinStats;

struct Node {
    std::vector<BinStats> bins;
    std::vector<Cell> cells;
    std::vector<std::uint32_t> counts;
    SplitTask task;
};

/// Every row weighs 1, so a bin's hessian is its number of rows; some bins are empty.
Node random_node(std::uint64_t seed, std::size_t n_bins) {
    Node node{.bins = std::vector<BinStats>(n_bins), .cells = {}, .counts = {}, .task = {}};
    for (std::size_t bin = 0; bin < n_bins; ++bin) {
        const std::uint64_t draw = bits_at(seed, bin);
        const auto n = static_cast<std::uint32_t>(draw % 12);
        if (n == 0) continue;
        node.bins[bin] = {.gradient = static_cast<std::int64_t>(draw >> 20 & 0xff) - 128, .hessian = n, .n = n};
    }
    for (const BinStats& bin : node.bins) {
        node.cells.push_back(reference::cell_of(bin, false));
        node.counts.push_back(bin.n);
        node.task.total += node.cells.back();
        node.task.n_rows += bin.n;
    }
    node.cells.resize(264, 0);
    return node;
}

const Test every_subset("the levels sent left are the best of all subsets", [] {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        const std::size_t n_bins = 2 + seed % 8;
        const Node node = random_node(seed, n_bins);
        float best = -1;
        for (unsigned subset = 0; subset < 1u << n_bins; ++subset) {
            Cell left = 0;
            for (std::size_t bin = 0; bin < n_bins; ++bin)
                if (subset >> bin & 1) left += node.cells[bin];
            best = std::max(best, gain_of_split(left, node.task.scan()));
        }
        const Candidate found = best_levels(node.cells.data(), static_cast<int>(n_bins), node.task);
        check_near(found.gain, best, 1e-5 * std::abs(static_cast<double>(best)));
    }
});

const Test left_levels("a nominal split names its left levels, and their sum is the left child", [] {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        const Node node = random_node(seed, 200);
        const FeatureBins bins{.nominal = true, .n_bins = 200, .cuts = {}};
        const Candidate found = best_candidate(bins, node.cells.data(), node.task, 0);
        const Split split = spell_out(found, 5, bins, node.cells.data(), node.task, {});
        check_equal(split.feature, 5u);
        std::array<Bin, kMaxBins> table;
        const BinRule rule = rule_of(split, table);
        Cell left = 0;
        for (int bin = 0; bin < 200; ++bin)
            if (passes(rule, static_cast<Bin>(bin))) left += node.cells[static_cast<std::size_t>(bin)];
        check_equal(left, split.left_total);
        check_equal(gain_of_split(left, node.task.scan()), found.gain);
        check_equal(passes(rule, kMissingBin), split.missing_left);
    }
});

const Test free_threshold("a threshold without limits is the one that the scan finds", [] {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        const Node node = random_node(seed, 1 + seed * 4);
        const auto n_bins = static_cast<int>(node.bins.size());
        const Candidate slow = best_threshold_within(node.cells.data(), n_bins, node.task, 0);
        const ScanResult fast = kernels().split.scan(node.cells.data(), n_bins, node.task.scan());
        check_equal(fast.gain, slow.gain);
        if (slow.gain < 0) continue;
        check_equal(fast.last, slow.last);
        check_equal(fast.missing_left, slow.missing_left);
    }
});

const Test counted_rows("with counts each child keeps its rows, and no better threshold does", [] {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        const Node node = random_node(seed, 100);
        const RowCounts rows{.counts = node.counts, .least = 60};
        const Candidate found = best_threshold_within(node.cells.data(), 100, node.task, 0, rows);
        float best = -1;
        for (const bool missing_left : {false, true}) {
            Cell left = missing_left ? node.cells[0] : 0;
            std::uint32_t n_left = missing_left ? node.counts[0] : 0;
            for (std::size_t bin = 1; bin < 100; ++bin) {
                left += node.cells[bin];
                n_left += node.counts[bin];
                if (n_left >= 60 && node.task.n_rows - n_left >= 60)
                    best = std::max(best, gain_of_split(left, node.task.scan()));
            }
        }
        check_equal(found.gain, best);
    }
});

const Test in_order("a monotone feature splits in its direction or not at all", [] {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        const Node node = random_node(seed, 50);
        for (const int direction : {-1, 1}) {
            const Candidate found = best_threshold_within(node.cells.data(), 50, node.task, direction);
            if (found.gain < 0) continue;
            Cell left_cell = found.missing_left ? node.cells[0] : 0;
            for (std::size_t bin = 1; bin <= found.last; ++bin) left_cell += node.cells[bin];
            const Sums left = sums_of(left_cell, false);
            const Sums right = sums_of(node.task.total - left_cell, false);
            const double left_value = -double(left.gradient) / left.hessian;
            const double right_value = -double(right.gradient) / right.hessian;
            check(direction * (right_value - left_value) >= 0, "the values are in order");
        }
    }
});

const Test bounded("a node whose values are bounded gains what the clipped values gain", [] {
    // Left: g = -8, h = 2 has the value 4, clipped to 3: gain 2 * 8 * 3 - 2 * 9 = 30. Right: g = 4, h = 4, value -1: 4.
    Node node{.bins = {{}, {-8, 2, 2}, {4, 4, 4}}, .cells = {}, .counts = {}, .task = {}};
    for (const BinStats& bin : node.bins) {
        node.cells.push_back(reference::cell_of(bin, false));
        node.task.total += node.cells.back();
    }
    node.task.bounds = {.low = -2, .high = 3};
    const Candidate found = best_threshold_within(node.cells.data(), 3, node.task, 0);
    check_equal(found.gain, 34.0f);
    check_equal(found.last, Bin{1});
});

}  // namespace
}  // namespace coterie::tests
