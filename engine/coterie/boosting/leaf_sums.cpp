#include "coterie/boosting/leaf_sums.hpp"

#include <algorithm>

#include "coterie/base/parallel.hpp"

namespace coterie {
namespace {

constexpr std::size_t kChunk = 16'384;

}  // namespace

NodeSums rounded_sums(const OpenLeaf& leaf, const TreeFacts& facts) {
    return {.gradient = facts.gradient(leaf.total) * facts.units.gradient,
            .hessian = facts.hessian(leaf.total) * facts.units.hessian,
            .bounds = leaf.bounds};
}

FixedSums exact_sums(const RowRange& rows, const RowPartition& partition, const Derivatives& derivatives,
                     const SumUnits& units) {
    FixedSums sums;
    const auto add = [&](RowIndex row) {
        sums.gradient += units.gradient(static_cast<double>(derivatives.gradient[row]));
        sums.hessian +=
            units.hessian(derivatives.hessian.empty() ? 1.0 : static_cast<double>(derivatives.hessian[row]));
    };
    if (rows.implicit)
        for (RowIndex row = 0; row < rows.n; ++row) add(row);
    else
        for (const Record record : partition.records(rows)) add(row_of(record));
    return sums;
}

RoutedSums sum_by_leaf(const RoutedRows& routed, const SumUnits& units, const Slice& slice, int n_threads) {
    const bool all = routed.rows.empty() && !routed.nobody;
    const std::size_t n_rows = all ? routed.leaf_of_row.size() : routed.rows.size();
    const std::size_t n_chunks = std::max<std::size_t>(1, (n_rows + kChunk - 1) / kChunk);
    std::vector<RoutedSums> sums(n_chunks, RoutedSums(routed.leaf_of_row.n_leaves(), routed.gradients.size(), units));
    parallel_ranges(n_rows, kChunk, n_threads, [&](std::size_t begin, std::size_t end) {
        RoutedSums& own = sums[begin / kChunk];
        for (std::size_t i = begin; i < end; ++i) {
            const std::size_t row = all ? i : routed.rows[i];
            own.add(routed.leaf_of_row[row], routed.gradients, routed.hessian.empty() ? 1.0f : routed.hessian[row],
                    row);
        }
    });
    for (std::size_t chunk = 1; chunk < n_chunks; ++chunk) sums[0].add(sums[chunk]);
    sums[0].reduce(slice);
    return std::move(sums[0]);
}

void set_covers(Tree& tree, std::span<const NodeIndex> leaves, const RoutedSums& sums) {
    for (std::size_t leaf = 0; leaf < leaves.size(); ++leaf) {
        tree.cover[leaves[leaf]] = sums.hessian(leaf);
        tree.n_rows[leaves[leaf]] = sums.n_rows(leaf);
    }
    for (auto node = static_cast<NodeIndex>(tree.n_nodes()); node-- > 0;) {
        if (tree.is_leaf(node)) continue;
        const NodeIndex left = tree.left[node];
        tree.cover[node] = tree.cover[left] + tree.cover[left + 1];
        tree.n_rows[node] = tree.n_rows[left] + tree.n_rows[left + 1];
    }
}

}  // namespace coterie
