// Rows that a tree sees: drawn at random, the same for any number of threads, and right on average.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "boosting/problems.hpp"
#include "coterie/base/error.hpp"
#include "coterie/boosting/row_sample.hpp"
#include "random_inputs.hpp"

namespace coterie::tests {
namespace {

constexpr std::size_t kRows = 60'000;
constexpr RowSampling kUniform{.method = SamplingMethod::uniform, .share = 0.3};
constexpr RowSampling kBySize{.method = SamplingMethod::minimal_variance, .share = 0.3};
constexpr RowSampling kBayesian{.method = SamplingMethod::bayesian, .share = 1};

struct Loss {
    Buffer<float> gradient = random_floats(1, kRows, -1, 1);
    Buffer<float> hessian = random_floats(2, kRows, 0, 0.25);
    std::vector<RowIndex> rows;

    Derivatives derivatives() const { return {.gradient = gradient, .hessian = hessian, .rows = rows}; }
};

RowSample drawn(const Derivatives& derivatives, const RowSampling& sampling, std::uint64_t seed = 1, int n_threads = 1,
                const Slice& slice = {}) {
    RowSample sample;
    draw_rows(derivatives, sampling, seed, slice, n_threads, sample);
    return sample;
}

double sum(std::span<const float> values) { return std::accumulate(values.begin(), values.end(), 0.0); }

const Test sums("samples hold about their share of the rows, in order, and sums are right on average", [] {
    const Loss loss;
    for (const RowSampling& sampling : {kUniform, kBySize, kBayesian}) {
        double gradient = 0;
        double hessian = 0;
        for (std::uint64_t seed = 0; seed < 30; ++seed) {
            const RowSample sample = drawn(loss.derivatives(), sampling, seed);
            check_near(static_cast<double>(sample.rows.size()) / kRows, sampling.share, 0.01);
            check(std::ranges::is_sorted(sample.rows), "rows ascend");
            gradient += sum(sample.gradient) / 30;
            hessian += sum(sample.hessian) / 30;
        }
        check_near(gradient, sum(loss.gradient), 150);
        check_near(hessian, sum(loss.hessian), 0.01 * sum(loss.hessian));
    }
});

const Test threads("threads and the seed: the first changes nothing, the second does", [] {
    const Loss loss;
    for (const RowSampling& sampling : {kUniform, kBySize, kBayesian}) {
        const RowSample one = drawn(loss.derivatives(), sampling);
        for (const int n_threads : {2, 5}) {
            const RowSample many = drawn(loss.derivatives(), sampling, 1, n_threads);
            check_same_bits(many.rows, one.rows);
            check_same_bits(many.gradient, one.gradient);
            check_same_bits(many.hessian, one.hessian);
        }
        check(drawn(loss.derivatives(), sampling, 2).gradient != one.gradient, "another seed, another sample");
    }
});

const Test by_size("rows of large derivatives are seen more often and count less", [] {
    Loss loss;
    for (std::size_t row = 0; row < kRows; ++row) {
        loss.gradient[row] = row % 10 == 0 ? 2.0f : 0.1f;
        loss.hessian[row] = 0.01f;
    }
    const RowSample sample = drawn(loss.derivatives(), kBySize);
    std::size_t n_large = 0;
    for (std::size_t i = 0; i < sample.rows.size(); ++i) {
        const bool large = sample.rows[i] % 10 == 0;
        n_large += large;
        check(large == (sample.gradient[i] == 2.0f), "a large row counts once");
        check(large || sample.gradient[i] > 0.2f, "a small row counts for several");
    }
    check_equal(n_large, kRows / 10);
});

const Test subset("only rows that take part are drawn", [] {
    Loss loss;
    for (RowIndex row = 5; row < kRows; row += 7) loss.rows.push_back(row);
    for (const RowSampling& sampling : {kUniform, kBySize, kBayesian, RowSampling{}}) {
        const RowSample sample = drawn(loss.derivatives(), sampling);
        check_near(static_cast<double>(sample.rows.size()), sampling.share * static_cast<double>(loss.rows.size()),
                   150);
        for (const RowIndex row : sample.rows) check_equal(row % 7, 5u);
    }
});

const Test nobody("a share that draws nobody draws one row", [] {
    Loss loss;
    for (const SamplingMethod method : {SamplingMethod::uniform, SamplingMethod::minimal_variance})
        for (const double share : {1e-300, 1e-12}) {
            const RowSample sample = drawn(loss.derivatives(), {.method = method, .share = share});
            check_equal(sample.rows.size(), std::size_t{1});
            check(std::isfinite(sample.gradient[0]) && sample.hessian[0] > 0, "and it counts for all");
        }
});

const Test refused("shares and rows that cannot be are refused", [] {
    Loss loss;
    for (const double share : {0.0, -1.0, 1.5})
        check_throws<InvalidInput>(
            [&] { drawn(loss.derivatives(), {.method = SamplingMethod::uniform, .share = share}); }, "share of rows");
    loss.rows = {1, static_cast<RowIndex>(kRows)};
    check_throws<InvalidInput>([&] { drawn(loss.derivatives(), {}); }, "not in the table");
});

/// Sums of the derivatives of all rows that reach each leaf, by the walk down the finished tree.
void check_predictions(const Problem& problem, const GrowOptions& options, const RowSampling& sampling,
                       bool few_leaves) {
    const auto matrix = binned(problem.table, 1);
    std::vector<Tree> trees;
    std::vector<float> one_scores;
    for (const int n_threads : {1, 3}) {
        TreeGrower grower(matrix, options, n_threads);
        trees.push_back(
            grower.grow({.gradient = problem.gradient, .hessian = problem.hessian, .rows = {}}, 42, {}, sampling));
        std::vector<float> scores(problem.gradient.size(), 0.0f);
        grower.add_predictions(scores);
        if (n_threads == 1) one_scores = scores;
        check(scores == one_scores, "threads do not change a score");
    }
    const Tree& tree = trees[0];
    check(same(trees[1], tree), "threads do not change a tree");
    std::size_t n_leaves = 0;
    for (NodeIndex node = 0; node < tree.n_nodes(); ++node) n_leaves += tree.is_leaf(node);
    check((n_leaves <= 256) == few_leaves && n_leaves > 10, "the tree is of the wanted size");
    std::vector<double> gradient(tree.n_nodes()), hessian(tree.n_nodes());
    std::vector<std::uint32_t> count(tree.n_nodes());
    for (std::size_t row = 0; row < problem.gradient.size(); ++row) {
        NodeIndex node = 0;
        while (!tree.is_leaf(node)) {
            const double value = problem.table.values[static_cast<std::size_t>(tree.feature[node])][row];
            bool left = tree.missing_left[node] != 0;
            if (!std::isnan(value)) {
                if (tree.levels[node] < 0) {
                    left = value <= tree.threshold[node];
                } else {
                    const auto level = static_cast<std::size_t>(value);
                    left =
                        tree.level_bits[4 * static_cast<std::size_t>(tree.levels[node]) + level / 64] >> (level % 64) &
                        1;
                }
            }
            node = tree.left[node] + (left ? 0 : 1);
        }
        gradient[node] += static_cast<double>(problem.gradient[row]);
        hessian[node] += problem.hessian.empty() ? 1.0 : static_cast<double>(problem.hessian[row]);
        ++count[node];
        check_equal(one_scores[row], static_cast<float>(tree.value[node]));
    }
    for (NodeIndex node = 0; node < tree.n_nodes(); ++node)
        if (tree.is_leaf(node)) {
            check_equal(tree.n_rows[node], count[node]);
            check_near(tree.value[node], -gradient[node] / (hessian[node] + options.l2), 1e-6);
            check_near(tree.cover[node], hessian[node], 1e-6 * (1 + hessian[node]));
        }
    check_equal(tree.n_rows[0], static_cast<std::uint32_t>(problem.gradient.size()));
}

const Test predictions("a tree grown on a sample has values from all rows, and every row gets its prediction", [] {
    const Problem problem = random_problem(3, 20'000, 8);
    for (const RowSampling& sampling : {kUniform, kBySize, kBayesian}) {
        check_predictions(problem, {.max_leaf_nodes = 40, .min_samples_leaf = 5, .l2 = 0.5}, sampling, true);
        check_predictions(problem, {.max_leaf_nodes = 400, .min_samples_leaf = 2, .l2 = 0.5}, sampling, false);
    }
});

}  // namespace
}  // namespace coterie::tests
