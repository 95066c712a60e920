// tests/boosting/problems.hpp: tables with something to learn, grown trees, and whether two trees are the same.
#pragma once

#include <cmath>

#include "coterie/boosting/grow_tree.hpp"
#include "tables_by_hand.hpp"

namespace coterie::tests {

struct Problem {
    Columns table;
    std::vector<float> gradient;
    std::vector<float> hessian = {};  // empty: 1 for every row
};

inline Problem random_problem(std::uint64_t seed, std::size_t n_rows, std::size_t n_features) {
    Problem problem{.table = random_columns(seed, n_rows, n_features), .gradient = std::vector<float>(n_rows)};
    for (std::size_t row = 0; row < n_rows; ++row) {
        const double first = problem.table.values[0][row];
        const double level = problem.table.values[3][row];
        const double y = (std::isnan(first) ? 0.7 : std::sin(6 * first)) + (std::fmod(level, 3) == 1 ? 0.5 : 0.0) +
                         0.3 * random_unit(seed, Purpose::bootstrap, row);
        problem.gradient[row] = static_cast<float>(-y);
    }
    return problem;
}

inline std::shared_ptr<const BinnedMatrix> binned(const Columns& table, int n_threads) {
    auto mapper = std::make_shared<const BinMapper>(BinMapper::fit(table.view(), {}, 255, 1, n_threads));
    return std::make_shared<const BinnedMatrix>(table.view(), std::move(mapper), n_threads);
}

inline Tree grow(const Problem& problem, const GrowOptions& options, int n_threads = 1) {
    TreeGrower grower(binned(problem.table, n_threads), options, n_threads);
    const TableView values = problem.table.view();
    return grower.grow({.gradient = problem.gradient, .hessian = problem.hessian, .rows = {}}, 42, {}, {}, &values);
}

inline bool same(const Tree& a, const Tree& b) {
    // A nominal split has NaN for its threshold, so thresholds are compared where they count.
    for (NodeIndex node = 0; node < std::min(a.n_nodes(), b.n_nodes()); ++node)
        if (a.levels[node] < 0 && a.threshold[node] != b.threshold[node]) return false;
    return a.feature == b.feature && a.levels == b.levels && a.missing_left == b.missing_left && a.left == b.left &&
           a.value == b.value && a.gain == b.gain && a.cover == b.cover && a.n_rows == b.n_rows &&
           a.level_bits == b.level_bits && a.linear == b.linear;
}

}  // namespace coterie::tests
