#include "coterie/forest/recoding.hpp"

#include <algorithm>
#include <atomic>
#include <functional>
#include <limits>
#include <utility>

#include "coterie/base/error.hpp"
#include "coterie/base/parallel.hpp"

namespace coterie {
namespace {

double threshold_above(const ForestRows& rows, std::size_t feature, std::uint32_t code) {
    const RankedFeature& ranks = rows.table.features[feature];
    if (code + 1 == ranks.n_codes) return std::numeric_limits<double>::infinity();
    return ranks.threshold_above(static_cast<Code>(code));
}

// The code of each threshold of a feature; entry 0 is what is missing.
std::vector<Code> codes_of(const ForestRows& rows, std::size_t feature, const Array<double>& thresholds) {
    require(rows.n_levels[feature] == 0 || thresholds.empty(), "The trees to go on from are those of another table.");
    const std::uint32_t n_codes = rows.table.features[feature].n_codes;
    std::vector<Code> codes(1, 0);
    std::uint32_t at = 1;
    for (const double threshold : thresholds) {
        while (at < n_codes && threshold_above(rows, feature, at) < threshold) ++at;
        require(at < n_codes && threshold_above(rows, feature, at) == threshold,
                "The trees to go on from compare with values that these rows do not have.");
        codes.push_back(static_cast<Code>(at));
    }
    return codes;
}

}  // namespace

Recoding::Recoding(const ForestRows& rows, GrownTrees trees, int n_threads)
    : thresholds_(rows.n_features()), first_(rows.n_features(), 0) {
    std::size_t n = 1;
    for (std::size_t feature = 0; feature < rows.n_features(); ++feature)
        if (rows.n_levels[feature] == 0) {
            first_[feature] = n;
            n += rows.table.features[feature].n_codes;
        }
    code_.assign(n, 0);
    std::vector<std::atomic<std::uint8_t>> used(n);
    parallel_for(trees.size(), n_threads, [&](std::size_t tree) {
        for (const PackedNode& node : trees[tree]->nodes) {
            // Most are known to be used, and a line that nobody writes to can be in the caches of all threads.
            std::atomic<std::uint8_t>& mark = used[index_of(node)];
            if (mark.load(std::memory_order_relaxed) == 0) mark.store(1, std::memory_order_relaxed);
        }
    });
    parallel_for(rows.n_features(), n_threads, [&](std::size_t feature) {
        if (rows.n_levels[feature] == 0) keep_used(rows, feature, used.data() + first_[feature]);
    });
}

void Recoding::keep_used(const ForestRows& rows, std::size_t feature, const std::atomic<std::uint8_t>* is_used) {
    const std::uint32_t n_codes = rows.table.features[feature].n_codes;
    std::uint16_t* const new_code = code_.data() + first_[feature];
    std::vector<double>& thresholds = thresholds_[feature];
    std::uint16_t next = 1;
    for (std::uint32_t code = 1; code < n_codes; ++code) {
        new_code[code] = next;
        if (is_used[code].load(std::memory_order_relaxed) == 0) continue;
        const double threshold = threshold_above(rows, feature, code);
        // Codes without values, and the last one before them, mean the same.
        if (!thresholds.empty() && thresholds.back() == threshold) {
            new_code[code] = static_cast<std::uint16_t>(next - 1);
            continue;
        }
        ++next;
        thresholds.push_back(threshold);
    }
}

void Recoding::apply(PackedTree& tree) const {
    for (PackedNode& node : tree.nodes.own()) {
        const std::size_t index = index_of(node);
        node.code = index != 0 ? code_[index] : node.code;
    }
}

void Recoding::apply(ForestRows& rows, int n_threads) const {
    Buffer<Code>& codes = rows.table.codes.own();
    parallel_ranges(rows.n_places(), 16'384, n_threads, [&](std::size_t begin, std::size_t end) {
        for (std::size_t feature = 0; feature < rows.n_features(); ++feature) {
            if (rows.n_levels[feature] > 0) continue;
            for (std::size_t place = begin; place < end; ++place) {
                Code& code = codes[place * rows.table.row_stride + feature * rows.table.feature_stride];
                code = code_[first_[feature] + code];
            }
        }
    });
}

std::vector<Array<double>> Recoding::take_thresholds() && {
    return {std::make_move_iterator(thresholds_.begin()), std::make_move_iterator(thresholds_.end())};
}

std::vector<Array<double>> all_thresholds(const ForestRows& rows, GrownTrees trees, int n_threads) {
    constexpr std::size_t kManyNodes = 16;  // bytes of nodes for each of thresholds
    std::size_t n_codes = 0;
    std::size_t n_nodes = 0;
    for (std::size_t feature = 0; feature < rows.n_features(); ++feature)
        n_codes += rows.n_levels[feature] > 0 ? 0 : rows.table.features[feature].n_codes;
    for (const auto& tree : trees) n_nodes += tree->nodes.size();
    if (kManyNodes * n_codes * sizeof(double) > n_nodes * sizeof(PackedNode)) return {};
    std::vector<Array<double>> thresholds(rows.n_features());
    std::atomic<bool> ascend = true;
    parallel_for(rows.n_features(), n_threads, [&](std::size_t feature) {
        if (rows.n_levels[feature] > 0) return;
        const RankedFeature& own = rows.table.features[feature];
        std::vector<double> all;
        for (std::uint32_t code = 1; code + (own.has_missing ? 0 : 1) < own.n_codes; ++code)
            all.push_back(threshold_above(rows, feature, code));
        if (std::ranges::adjacent_find(all, std::greater_equal<>()) != all.end()) ascend = false;
        thresholds[feature] = std::move(all);
    });
    return ascend ? thresholds : std::vector<Array<double>>();
}

std::vector<std::shared_ptr<PackedTree>> with_codes_of(const ForestRows& rows, const TreeGroup& group) {
    std::vector<std::vector<Code>> codes;
    for (std::size_t feature = 0; feature < rows.n_features(); ++feature)
        codes.push_back(codes_of(rows, feature, group.thresholds[feature]));
    std::vector<std::shared_ptr<PackedTree>> trees;
    for (const auto& tree : group.trees) {
        auto copy = std::make_shared<PackedTree>(*tree);
        for (PackedNode& node : copy->nodes.own()) {
            if (node.is_leaf() || node.is_nominal()) continue;
            const std::vector<Code>& own = codes[node.feature()];
            require(node.code < own.size(), "A tree to go on from compares with a threshold that it does not have.");
            node.code = own[node.code];
        }
        trees.push_back(std::move(copy));
    }
    return trees;
}

}  // namespace coterie
