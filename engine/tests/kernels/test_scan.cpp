// The best threshold: every table finds the first of the best that the slow scan finds.
#include "random_inputs.hpp"
#include "reference/scan.hpp"

namespace coterie::tests {
namespace {

using reference::BinStats;

struct Node {
    std::vector<BinStats> bins;
    bool counted;

    Cell total() const {
        Cell sum = 0;
        for (const BinStats& bin : bins) sum += reference::cell_of(bin, counted);
        return sum;
    }
    ScanTask task(float l2 = 0, float min_hessian = 1, std::uint32_t min_rows = 0, float beat = -1) const {
        return {.total = total(),
                .l2 = l2,
                .min_hessian = min_hessian,
                .counted = counted,
                .min_rows = min_rows,
                .beat = beat};
    }
};

void check_scan(const Node& node, const ScanTask& task, Location where = Location::current()) {
    Buffer<Cell> cells((node.bins.size() + 7) / 8 * 8, 0);
    for (std::size_t bin = 0; bin < node.bins.size(); ++bin)
        cells[bin] = reference::cell_of(node.bins[bin], node.counted);
    const ScanResult slow = reference::slow_scan(node.bins, task);
    for (const Kernels* table : kernel_tables()) {
        const ScanResult found = table->split.scan(cells.data(), static_cast<int>(node.bins.size()), task);
        check_equal(found.gain, slow.gain, where);
        if (slow.gain <= task.beat) continue;
        check_equal(found.last, slow.last, where);
        check_equal(found.missing_left, slow.missing_left, where);
    }
}

/// Bins with few distinct gradients, so that gains tie; a fifth of them empty.
Node random_node(std::uint64_t seed, std::size_t n_bins, bool counted, bool missing) {
    Node node{.bins = std::vector<BinStats>(n_bins), .counted = counted};
    for (std::size_t bin = missing ? 0 : 1; bin < n_bins; ++bin) {
        const std::uint64_t draw = bits_at(seed, bin);
        if (draw % 5 == 0) continue;
        const bool coarse = seed % 3 == 0;
        node.bins[bin] = {.gradient = coarse ? static_cast<std::int64_t>(draw >> 8 & 3) - 1
                                             : static_cast<std::int64_t>(draw >> 8 & 0x1ffff) - 0x10000,
                          .hessian = static_cast<std::int64_t>(coarse ? 2 : draw >> 32 & 0xff),
                          .n = static_cast<std::uint32_t>(1 + (draw >> 48 & 0x7f))};
    }
    return node;
}

const Test random_nodes("the best threshold is the first of the best, with ties, empty bins and missing rows", [] {
    for (std::uint64_t seed = 0; seed < 600; ++seed) {
        const std::size_t n_bins = seed < 40 ? 1 + seed : 1 + bits_at(77, seed) % 256;
        for (const bool counted : {false, true}) {
            const Node node = random_node(seed, n_bins, counted, seed % 2 == 0);
            for (const float l2 : {0.0f, 2.5f})
                for (const float min_hessian : {1.0f, 100.0f}) check_scan(node, node.task(l2, min_hessian));
        }
    }
});

const Test rows_per_child("a child with too few rows is never offered when cells count them", [] {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        const Node node = random_node(seed, 1 + bits_at(78, seed) % 256, true, seed % 2 == 0);
        for (const std::uint32_t min_rows : {1u, 20u, 700u, 5000u, 65'535u})
            check_scan(node, node.task(0.5f, 1, min_rows));
    }
});

const Test to_beat("only a gain above the one to beat is reported", [] {
    for (std::uint64_t seed = 0; seed < 100; ++seed)
        for (const bool counted : {false, true}) {
            const Node node = random_node(seed, 2 + bits_at(79, seed) % 255, counted, seed % 2 == 0);
            const float best = reference::slow_scan(node.bins, node.task()).gain;
            for (const float beat : {-1.0f, 0.0f, best, std::nextafter(best, 0.0f), std::nextafter(best, 1e30f)})
                check_scan(node, node.task(0, 1, 0, beat));
        }
});

const Test by_hand("the best threshold of three bins is the one found by hand", [] {
    // Gradients -4, -4, 6 with hessians of 2: bin 3 alone on the right gives 64/4 + 36/2 = 34.
    const Node node{.bins = {{}, {-4, 2, 2}, {-4, 2, 2}, {6, 2, 2}}, .counted = true};
    check_scan(node, node.task());
    const ScanResult best = reference::slow_scan(node.bins, node.task());
    check_equal(best.gain, 34.0f);
    check_equal(best.last, Bin{2});
});

const Test full_fields("fields that are almost full do not spill when missing rows go right", [] {
    // total + missing would not fit: 2^31 of hessian, 2^16 rows, 2^22 of a counted hessian.
    const Node plain{.bins = {{500, 900'000'000, 0}, {-4000, 600'000'000, 0}, {3000, 600'000'000, 0}, {500, 40, 0}},
                     .counted = false};
    check_scan(plain, plain.task());
    for (const std::uint32_t missing : {15'536u, 15'540u, 15'555u}) {  // of 50,000
        const Node counted{
            .bins = {{500, 1000, missing}, {-4000, 1000, 20'000}, {3000, 1000, 10'000}, {500, 1000, 20'000 - missing}},
            .counted = true};
        check_scan(counted, counted.task(0, 1, 20));
    }
    const Node most{.bins = {{500, 1000, 10}, {-4000, 1000, 40'000}, {3000, 1000, 20'000}, {500, 1000, 5525}},
                    .counted = true};
    check_scan(most, most.task(0, 1, 20));
    const Node heavy{.bins = {{500, 3'000'000, 9}, {-4000, 600'000, 9}, {3000, 500'000, 9}, {500, 90'000, 9}},
                     .counted = true};
    check_scan(heavy, heavy.task(0, 1, 2));
});

const Test extremes("gradients at the ends of their field keep their sign", [] {
    // The masses of all bins together fill the field: 2^31 - 1, and 2^25 - 1 where rows are counted.
    for (const std::int64_t sign : {-1, 1}) {
        const Node one{.bins = {{}, {sign * 2'147'483'640, 1'000'000'000, 0}, {sign * 7, 1'000'000'000, 0}},
                       .counted = false};
        check_scan(one, one.task());
        const Node two{
            .bins = {{3, 5, 0}, {sign * -1'000'000'000, 900'000'000, 0}, {sign * 1'147'483'644, 1'000'000'000, 0}},
            .counted = false};
        check_scan(two, two.task());
        const Node counted{.bins = {{sign * -16'000'000, 2'000'000, 30'000},
                                    {sign * 17'554'426, 2'000'000, 30'000},
                                    {5, 90'000, 4000}},
                           .counted = true};
        check_scan(counted, counted.task());
        const Node counted_one{.bins = {{sign * 33'554'430, 4'000'000, 60'000}, {sign, 90'000, 5535}}, .counted = true};
        check_scan(counted_one, counted_one.task());
    }
});

const Test subtracting("a parent minus a child is the sibling", [] {
    for (const std::size_t n : awkward_sizes()) {
        Buffer<Cell> parent(n), child(n);
        for (std::size_t i = 0; i < n; ++i) parent[i] = bits_at(1, i), child[i] = bits_at(2, i);
        for (const Kernels* table : kernel_tables()) {
            Buffer<Cell> sibling = parent;
            table->split.subtract(sibling.data(), child.data(), n);
            for (std::size_t i = 0; i < n; ++i) check_equal(sibling[i], parent[i] - child[i]);
        }
    }
});

}  // namespace
}  // namespace coterie::tests
