#include "coterie/explain/shap.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "coterie/base/buffer.hpp"
#include "coterie/base/error.hpp"
#include "coterie/base/parallel.hpp"
#include "coterie/explain/shap_tree.hpp"

namespace coterie {
namespace {

constexpr std::size_t kBatchBytes = std::size_t{32} << 20;  // of trees that are ready at the same time
constexpr std::size_t kBlockRows = 16;                      // that pass a tree while it is in the cache
constexpr std::size_t kStripeRows = 4096;                   // between two checks for a request to stop

void check(const TreeSource& trees, const TableView& table) {
    require(table.columns.size() == trees.n_features, "The trees were grown on " + std::to_string(trees.n_features) +
                                                          " features; the table has " +
                                                          std::to_string(table.columns.size()) + ".");
}

// Calls on_row(prepared tree, values of the row, row): for every row all trees in their order.
template <class OnRow>
void for_trees_and_rows(const TreeSource& trees, const TableView& table, bool for_pairs, int n_threads,
                        StopRequest& stop, OnRow on_row) {
    check(trees, table);
    const std::size_t d = trees.n_features;
    for (std::size_t next = 0; next < trees.n_trees;) {
        std::vector<PreparedTree> ready;
        for (std::size_t bytes = 0; next < trees.n_trees && bytes < kBatchBytes; ++next) {
            stop.check();
            ready.emplace_back(trees.get(next), trees.first_output(next), for_pairs);
            bytes += ready.back().n_bytes();
        }
        for (std::size_t stripe = 0; stripe < table.n_rows; stripe += kStripeRows) {
            stop.check();
            const std::size_t n = std::min(kStripeRows, table.n_rows - stripe);
            parallel_ranges(n, 4 * kBlockRows, n_threads, [&](std::size_t begin, std::size_t end) {
                Buffer<double> values(kBlockRows * d);
                for (std::size_t block = begin; block < end; block += kBlockRows) {
                    const std::size_t n_now = std::min(kBlockRows, end - block);
                    for (std::size_t feature = 0; feature < d; ++feature)
                        table.columns[feature].read(stripe + block, n_now, values.data() + feature, d);
                    for (const PreparedTree& tree : ready)
                        for (std::size_t i = 0; i < n_now; ++i) on_row(tree, values.data() + i * d, stripe + block + i);
                }
            });
        }
    }
}

// What the row's own leaf adds to its constant value, divided among the features of its terms.
template <class Add>
void for_linear_terms(const Tree& tree, const double* values, Add add) {
    if (tree.linear.empty()) return;
    const NodeIndex leaf = leaf_of(tree, values);
    const LinearLeaves& linear = tree.linear;
    const std::size_t begin = linear.first_term[leaf];
    const std::size_t end = linear.first_term[leaf + 1];
    const double more =
        linear_prediction(tree, leaf, [&](FeatureIndex feature) { return values[feature]; }) - tree.value[leaf];
    if (begin == end || more == 0.0) return;
    std::vector<double> parts;
    double sum = 0.0;
    double size = 0.0;
    for (std::size_t term = begin; term < end; ++term) {
        const double value = values[linear.feature[term]];
        const double inside = std::clamp(value, linear.least[term], linear.most[term]);
        parts.push_back(linear.slope[term] * (inside - linear.centre[term]));
        sum += parts.back();
        size += std::fabs(parts.back());
    }
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const double weight = size > 0.0 ? std::fabs(parts[i]) / size : 1.0 / static_cast<double>(parts.size());
        add(static_cast<std::size_t>(linear.feature[begin + i]), parts[i] + (more - sum) * weight);
    }
}

struct Scratch {
    std::vector<std::uint8_t> ways;
    Buffer<double> numbers;
    Buffer<double> sums;
    Buffer<double> pairs;

    void fit(const PreparedTree& tree, bool for_pairs) {
        const std::size_t n_nodes = tree.tree().n_nodes();
        const std::size_t d = tree.features().size();
        const std::size_t k = tree.tree().n_outputs;
        if (ways.size() < n_nodes) ways.resize(n_nodes);
        grow(numbers, (2 * n_nodes + d) * tree.n_points());
        grow(sums, k * d * tree.n_points());
        std::fill_n(sums.data(), k * d * tree.n_points(), 0.0);
        if (!for_pairs) return;
        grow(pairs, k * d * d);
        std::fill_n(pairs.data(), k * d * d, 0.0);
    }

private:
    static void grow(Buffer<double>& buffer, std::size_t n) {
        if (buffer.size() < n) buffer.resize(n);
    }
};

// The SHAP value of the i-th feature of the tree.
double total(const PreparedTree& tree, const double* sums, std::size_t output, std::size_t i) {
    const std::size_t n = tree.n_points();
    const double* const own = sums + (output * tree.features().size() + i) * n;
    double lanes[4] = {0.0, 0.0, 0.0, 0.0};
    for (std::size_t q = 0; q < n; q += 4)
        for (std::size_t k = 0; k < 4; ++k) lanes[k] += own[q + k];
    return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
}

/// Of a! b! / (a + b + 1)!.
class Orders {
public:
    double operator()(std::size_t a, std::size_t b) {
        if (a + b >= kMaxKept) {  // paths with this many features come from files; a table would be their square
            const auto log_factorial = [](std::size_t n) { return std::lgamma(static_cast<double>(n) + 1.0); };
            return std::exp(log_factorial(a) + log_factorial(b) - log_factorial(a + b + 1));
        }
        while (rows_.size() <= a + b) {  // row n: a from 0 to n
            const std::size_t n = rows_.size();
            std::vector<double>& row = rows_.emplace_back();
            double ways = 1.0;
            for (std::size_t k = 0; k <= n; ++k) {
                row.push_back(1.0 / (ways * static_cast<double>(n + 1)));
                ways *= static_cast<double>(n - k) / static_cast<double>(k + 1);
            }
        }
        return rows_[a + b][a];
    }

private:
    static constexpr std::size_t kMaxKept = 1024;

    std::vector<std::vector<double>> rows_;
};

/// Two rows in one tree. Where they part, one leaf or the other is reached depending on whether the feature takes part.
class Duel {
public:
    struct Sums {
        double with = 0.0;     // for features that take the row's side
        double without = 0.0;  // for features that take the other's
    };
    struct Fork {
        std::size_t feature;
        NodeIndex others;
        std::size_t n_with;
        std::size_t n_without;
        Sums here;  // of the row's side, once it is known
    };
    struct Scratch {
        std::vector<std::uint8_t> sides;  // per feature: 0 undecided, 1 the row's, 2 the other's
        std::vector<Fork> open;
        Orders orders;
    };

    Duel(const Tree& tree, std::size_t output, const double* row, const double* other, double* out, Scratch& scratch)
        : tree_(tree),
          output_(output),
          row_(row),
          other_(other),
          out_(out),
          sides_(scratch.sides),
          orders_(scratch.orders),
          open_(scratch.open) {}

    /// Down to every leaf that one of the rows could reach, and back. The way back is a list of our own: trees from
    /// files may be deeper than the stack.
    void run() {
        open_.clear();
        Sums sums = descend(0, 0, 0);
        while (!open_.empty()) {
            Fork& fork = open_.back();
            const std::size_t feature = fork.feature;
            if (sides_[feature] == 1) {
                fork.here = sums;
                sides_[feature] = 2;
                sums = descend(fork.others, fork.n_with, fork.n_without + 1);
                continue;
            }
            sides_[feature] = 0;
            out_[feature] += fork.here.with + sums.without;
            sums = {fork.here.with + sums.with, fork.here.without + sums.without};
            open_.pop_back();
        }
    }

private:
    // To the next leaf, on the row's own side of every fork.
    Sums descend(NodeIndex node, std::size_t n_with, std::size_t n_without) {
        while (!tree_.is_leaf(node)) {
            const auto feature = static_cast<std::size_t>(tree_.feature[node]);
            const NodeIndex mine = tree_.left[node] + !goes_left(tree_, node, row_[feature]);
            const NodeIndex others = tree_.left[node] + !goes_left(tree_, node, other_[feature]);
            node = sides_[feature] == 2 ? others : mine;
            if (mine == others || sides_[feature] != 0) continue;
            open_.push_back(
                {.feature = feature, .others = others, .n_with = n_with, .n_without = n_without, .here = {}});
            sides_[feature] = 1;
            ++n_with;
        }
        const double value = tree_.value[node * tree_.n_outputs + output_];
        return {n_with > 0 ? value * orders_(n_with - 1, n_without) : 0.0,
                n_without > 0 ? -value * orders_(n_with, n_without - 1) : 0.0};
    }

    const Tree& tree_;
    std::size_t output_;
    const double* row_;
    const double* other_;
    double* out_;
    std::vector<std::uint8_t>& sides_;
    Orders& orders_;
    std::vector<Fork>& open_;
};

}  // namespace

TreeSource TreeSource::of(const Forest& forest) {
    return {.n_trees = forest.trees.size(),
            .n_features = forest.n_features,
            .n_outputs = forest.n_outputs,
            .get = [&forest](std::size_t i) { return forest.trees[i]; },
            .first_output = [&forest](std::size_t i) { return std::size_t{forest.first_output[i]}; }};
}

TreeSource TreeSource::of(const PackedForest& forest) {
    return {.n_trees = forest.n_trees(),
            .n_features = forest.n_features,
            .n_outputs = forest.n_columns,
            .get = [&forest](std::size_t i) { return std::make_shared<const Tree>(unpack(forest, i)); },
            .first_output = [](std::size_t) { return std::size_t{0}; }};
}

void add_shap_values(const TreeSource& trees, const TableView& table, std::span<double> out, int n_threads,
                     StopRequest stop) {
    const std::size_t width = trees.n_features + 1;
    require(out.size() == table.n_rows * trees.n_outputs * width, "There must be room for every value.");
    for_trees_and_rows(
        trees, table, false, n_threads, stop, [&](const PreparedTree& tree, const double* values, std::size_t row) {
            thread_local Scratch scratch;
            scratch.fit(tree, false);
            tree.find_ways(values, scratch.ways.data());
            kernels().shap.row(tree.view(), scratch.ways.data(), scratch.numbers.data(), scratch.sums.data());
            double* const first = out.data() + (row * trees.n_outputs + tree.first_output()) * width;
            for (std::size_t k = 0; k < tree.tree().n_outputs; ++k) {
                double* const own = first + k * width;
                for (std::size_t i = 0; i < tree.features().size(); ++i)
                    own[tree.features()[i]] += total(tree, scratch.sums.data(), k, i);
                own[width - 1] += tree.expected()[k];
            }
            for_linear_terms(tree.tree(), values, [&](std::size_t feature, double part) { first[feature] += part; });
        });
}

void add_shap_interactions(const TreeSource& trees, const TableView& table, std::span<double> out, int n_threads,
                           StopRequest stop) {
    const std::size_t width = trees.n_features + 1;
    require(out.size() == table.n_rows * trees.n_outputs * width * width, "There must be room for every pair.");
    for_trees_and_rows(
        trees, table, true, n_threads, stop, [&](const PreparedTree& tree, const double* values, std::size_t row) {
            thread_local Scratch scratch;
            scratch.fit(tree, true);
            tree.find_ways(values, scratch.ways.data());
            const ShapTree view = tree.view();
            kernels().shap.row(view, scratch.ways.data(), scratch.numbers.data(), scratch.sums.data());
            kernels().shap.interactions(view, scratch.ways.data(), scratch.numbers.data(), scratch.pairs.data());
            const std::size_t d = tree.features().size();
            for (std::size_t k = 0; k < tree.tree().n_outputs; ++k) {
                double* const own = out.data() + (row * trees.n_outputs + tree.first_output() + k) * width * width;
                for (std::size_t a = 0; a < d; ++a) {
                    const std::size_t to = tree.features()[a];
                    double rest = total(tree, scratch.sums.data(), k, a);
                    for (std::size_t b = 0; b < d; ++b) {
                        if (a == b) continue;
                        const double pair = scratch.pairs[(k * d + std::max(a, b)) * d + std::min(a, b)];
                        own[to * width + tree.features()[b]] += pair;
                        rest -= pair;
                    }
                    own[to * width + to] += rest;
                }
                own[width * width - 1] += tree.expected()[k];
                for_linear_terms(tree.tree(), values,
                                 [&](std::size_t feature, double part) { own[feature * width + feature] += part; });
            }
        });
}

void add_interventional_values(const TreeSource& trees, const TableView& table, const TableView& background,
                               std::span<double> out, int n_threads, StopRequest stop) {
    check(trees, background);
    const std::size_t d = trees.n_features;
    const std::size_t width = d + 1;
    const std::size_t n_others = background.n_rows;
    require(n_others > 0, "The background has no rows.");
    require(out.size() == table.n_rows * trees.n_outputs * width, "There must be room for every value.");
    std::vector<double> others(n_others * d);
    for (std::size_t feature = 0; feature < d; ++feature)
        background.columns[feature].read(0, n_others, others.data() + feature, d);
    const double share = 1.0 / static_cast<double>(n_others);
    for_trees_and_rows(
        trees, table, false, n_threads, stop, [&](const PreparedTree& tree, const double* values, std::size_t row) {
            thread_local Duel::Scratch scratch;
            thread_local std::vector<double> sums;
            const Tree& own = tree.tree();
            scratch.sides.assign(d, 0);
            double* const first = out.data() + (row * trees.n_outputs + tree.first_output()) * width;
            for (std::size_t k = 0; k < own.n_outputs; ++k) {
                sums.assign(width, 0.0);
                for (std::size_t other = 0; other < n_others; ++other) {
                    const double* const its = others.data() + other * d;
                    Duel(own, k, values, its, sums.data(), scratch).run();
                    sums[d] += own.values_of(leaf_of(own, its))[k];
                }
                for (std::size_t i = 0; i < width; ++i) first[k * width + i] += sums[i] * share;
            }
            for_linear_terms(own, values, [&](std::size_t feature, double part) { first[feature] += part; });
        });
}

}  // namespace coterie
