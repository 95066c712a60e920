#include "coterie/growth/linear_leaves.hpp"

#include <algorithm>
#include <cmath>

#include "coterie/base/buffer.hpp"
#include "coterie/base/parallel.hpp"

namespace coterie {
namespace {

constexpr std::size_t kRowsPerThread = 20'000;
constexpr std::size_t kRowsPerNumber = 6;  // that a line must have for each number it consists of
constexpr double kLeastSpread = 1e-140;    // of a feature in a leaf, so that squares stay inside floats
constexpr double kMostSpread = 1e140;
constexpr double kLeastUnexplained = 1e-9;  // share of a feature's variance that the others must leave

constexpr double kLeastRise = 1e-6;  // in sizes of a step; float32 derivatives say no more

struct Term {
    FeatureIndex feature = 0;
    double slope = 0;
    double centre = 0;
    double least = 0;
    double most = 0;
    double deviation = 0;
};

struct Line {
    double base = 0;
    std::vector<Term> terms;
};

// A leaf's rows: values column by column, and derivatives.
struct Sample {
    std::vector<Term> terms;
    std::vector<Buffer<double>> columns;  // of the terms
    Buffer<double> gradient;
    Buffer<double> hessian;

    std::size_t n_rows() const { return gradient.size(); }

    void drop(std::size_t k) {
        terms.erase(terms.begin() + static_cast<std::ptrdiff_t>(k));
        columns.erase(columns.begin() + static_cast<std::ptrdiff_t>(k));
    }
};

std::vector<NodeIndex> parents(const Tree& tree) {
    std::vector<NodeIndex> parent(tree.n_nodes(), 0);
    for (NodeIndex node = 0; node < tree.n_nodes(); ++node)
        if (!tree.is_leaf(node)) parent[tree.left[node]] = parent[tree.left[node] + 1] = node;
    return parent;
}

// The numeric features of the leaf's path, in their own order.
std::vector<FeatureIndex> path_features(const Tree& tree, std::span<const NodeIndex> parent, NodeIndex leaf) {
    std::vector<FeatureIndex> features;
    for (NodeIndex node = leaf; node != 0;) {
        node = parent[node];
        if (tree.levels[node] < 0) features.push_back(static_cast<FeatureIndex>(tree.feature[node]));
    }
    std::ranges::sort(features);
    features.erase(std::unique(features.begin(), features.end()), features.end());
    return features;
}

Sample sample_of(const LineTask& task, std::span<const RowIndex> rows, std::span<const FeatureIndex> features) {
    const Derivatives& derivatives = task.derivatives;
    Sample sample;
    std::vector<RowIndex> taking_part;
    for (const RowIndex row : rows) {
        const auto gradient = static_cast<double>(derivatives.gradient[row]);
        const double hessian = derivatives.hessian.empty() ? 1.0 : static_cast<double>(derivatives.hessian[row]);
        if (gradient == 0 && hessian == 0) continue;  // a row without weight
        taking_part.push_back(row);
        sample.gradient.push_back(gradient);
        sample.hessian.push_back(hessian);
    }
    for (const FeatureIndex feature : features) {
        sample.terms.push_back({.feature = feature});
        Buffer<double>& column = sample.columns.emplace_back();
        column.reserve(taking_part.size());
        for (const RowIndex row : taking_part) column.push_back(task.values.columns[feature].value(row));
    }
    return sample;
}

// Missing values aside, a feature of a line has finite values, and not all the same.
bool has_spread(const Buffer<double>& column, Term& term) {
    term.least = INFINITY;
    term.most = -INFINITY;
    for (const double value : column) {
        if (std::isinf(value)) return false;
        if (value < term.least) term.least = value;
        if (value > term.most) term.most = value;
    }
    const double spread = term.most - term.least;
    return spread >= kLeastSpread && spread <= kMostSpread;
}

void drop_features_without_spread(Sample& sample) {
    for (std::size_t k = sample.terms.size(); k-- > 0;)
        if (!has_spread(sample.columns[k], sample.terms[k])) sample.drop(k);
}

void drop_incomplete_rows(Sample& sample) {
    std::size_t kept = 0;
    for (std::size_t row = 0; row < sample.n_rows(); ++row) {
        if (std::ranges::any_of(sample.columns, [&](const auto& column) { return std::isnan(column[row]); })) continue;
        for (auto& column : sample.columns) column[kept] = column[row];
        sample.gradient[kept] = sample.gradient[row];
        sample.hessian[kept] = sample.hessian[row];
        ++kept;
    }
    for (auto& column : sample.columns) column.resize(kept);
    sample.gradient.resize(kept);
    sample.hessian.resize(kept);
}

// Values become distances from the mean, in deviations. Features that do not deviate are dropped.
void standardise(Sample& sample, double hessian) {
    for (std::size_t k = sample.terms.size(); k-- > 0;) {
        Buffer<double>& column = sample.columns[k];
        Term& term = sample.terms[k];
        double sum = 0, squares = 0;
        for (std::size_t row = 0; row < column.size(); ++row) sum += sample.hessian[row] * (column[row] - term.least);
        term.centre = term.least + sum / hessian;
        for (double& value : column) value -= term.centre;
        for (std::size_t row = 0; row < column.size(); ++row)
            squares += sample.hessian[row] * column[row] * column[row];
        term.deviation = std::sqrt(squares / hessian);
        if (!(term.deviation >= kLeastSpread)) {
            sample.drop(k);
            continue;
        }
        for (double& value : column) value /= term.deviation;
    }
}

// Correlations of the features, and of each with Newton's step.
struct Equations {
    std::vector<double> correlation;  // square, row by row
    std::vector<double> with_step;
};

Equations equations_of(const Sample& sample, double hessian) {
    const std::size_t n = sample.terms.size();
    Equations equations{.correlation = std::vector<double>(n * n), .with_step = std::vector<double>(n)};
    for (std::size_t i = 0; i < n; ++i) {
        const Buffer<double>& one = sample.columns[i];
        double sum = 0;
        for (std::size_t row = 0; row < one.size(); ++row) sum -= sample.gradient[row] * one[row];
        equations.with_step[i] = sum / hessian;
        for (std::size_t k = 0; k <= i; ++k) {
            const Buffer<double>& other = sample.columns[k];
            double product = 0;
            for (std::size_t row = 0; row < one.size(); ++row) product += sample.hessian[row] * one[row] * other[row];
            equations.correlation[i * n + k] = equations.correlation[k * n + i] = product / hessian;
        }
    }
    return equations;
}

// Cholesky's way, for the features in `used`, which loses those that the ones before them explain.
std::vector<double> solution_of(const Equations& equations, double l2, std::vector<std::size_t>& used) {
    const std::size_t n = equations.with_step.size();
    std::vector<std::vector<double>> lower;
    std::vector<double> half;
    std::vector<std::size_t> kept;
    for (const std::size_t i : used) {
        std::vector<double> row;
        double pivot = equations.correlation[i * n + i] + l2;
        double rest = equations.with_step[i];
        for (std::size_t k = 0; k < kept.size(); ++k) {
            double value = equations.correlation[i * n + kept[k]];
            for (std::size_t m = 0; m < k; ++m) value -= row[m] * lower[k][m];
            row.push_back(value / lower[k][k]);
            pivot -= row[k] * row[k];
            rest -= row[k] * half[k];
        }
        if (!(pivot > kLeastUnexplained)) continue;
        row.push_back(std::sqrt(pivot));
        half.push_back(rest / row.back());
        lower.push_back(std::move(row));
        kept.push_back(i);
    }
    std::vector<double> solution(kept.size());
    for (std::size_t i = kept.size(); i-- > 0;) {
        double rest = half[i];
        for (std::size_t k = i + 1; k < kept.size(); ++k) rest -= lower[k][i] * solution[k];
        solution[i] = rest / lower[i][i];
    }
    used = std::move(kept);
    return solution;
}

// Slopes that are rounding errors are none: rows that are alike would be told different things.
void set_slopes(std::vector<Term>& terms, const Equations& equations, double step, const GrowOptions& options) {
    const auto forbidden = [&](std::size_t k, double slope) {
        return !options.monotone.empty() && options.monotone[terms[k].feature] * slope < 0;
    };
    std::vector<std::size_t> used(terms.size());
    for (std::size_t k = 0; k < used.size(); ++k) used[k] = k;
    for (bool solved = false; !solved;) {
        const std::vector<double> solution = solution_of(equations, options.linear_l2, used);
        std::vector<std::size_t> allowed;
        for (std::size_t k = 0; k < used.size(); ++k)
            if (!forbidden(used[k], solution[k])) allowed.push_back(used[k]);
        solved = allowed.size() == used.size();
        for (std::size_t k = 0; solved && k < used.size(); ++k)
            terms[used[k]].slope = solution[k] / terms[used[k]].deviation;
        used = std::move(allowed);
    }
    std::erase_if(terms, [&](const Term& term) {
        return !(std::abs(term.slope) * (term.most - term.least) > kLeastRise * step);
    });
}

// In the units of the tree's values; without terms where they do not fit into floats.
Line in_units(Line line, const GrowOptions& options) {
    const auto in_unit = [&](double value) { return value * options.learning_rate * options.answer_unit; };
    line.base = in_unit(line.base);
    double furthest = std::abs(line.base);
    for (Term& term : line.terms) {
        term.slope = in_unit(term.slope);
        furthest += std::abs(term.slope) * (term.most - term.least);
    }
    return std::isfinite(furthest) ? std::move(line) : Line{};
}

Line line_of(const LineTask& task, std::span<const RowIndex> rows, std::span<const FeatureIndex> features) {
    Sample sample = sample_of(task, rows, features);
    drop_features_without_spread(sample);
    if (sample.terms.empty()) return {};
    drop_incomplete_rows(sample);
    double gradient = 0, size = 0, hessian = 0;
    for (const double each : sample.gradient) {
        gradient += each;
        size += std::abs(each);
    }
    for (const double each : sample.hessian) hessian += each;
    if (sample.n_rows() < kRowsPerNumber * (sample.terms.size() + 1) || !(hessian > 0)) return {};
    drop_features_without_spread(sample);
    standardise(sample, hessian);
    Line line{.base = -gradient / (hessian + task.options.l2), .terms = sample.terms};
    set_slopes(line.terms, equations_of(sample, hessian), size / hessian, task.options);
    return in_units(std::move(line), task.options);
}

LinearLeaves side_by_side(const LineTask& task, std::span<const Line> lines) {
    LinearLeaves all;
    if (std::ranges::all_of(lines, [](const Line& line) { return line.terms.empty(); })) return all;
    all.first_term.push_back(0);
    for (NodeIndex node = 0; node < lines.size(); ++node) {
        const Bounds& bounds = task.nodes[node].bounds;
        all.base.push_back(lines[node].base);
        all.low.push_back(bounds.low * task.options.learning_rate * task.options.answer_unit);
        all.high.push_back(bounds.high * task.options.learning_rate * task.options.answer_unit);
        for (const Term& term : lines[node].terms) {
            all.feature.push_back(static_cast<std::int32_t>(term.feature));
            all.slope.push_back(term.slope);
            all.centre.push_back(term.centre);
            all.least.push_back(term.least);
            all.most.push_back(term.most);
        }
        all.first_term.push_back(static_cast<std::uint32_t>(all.feature.size()));
    }
    return all;
}

}  // namespace

LeafRows rows_by_leaf(std::size_t n_nodes, std::span<const NodeIndex> leaf_of_row, std::span<const RowIndex> rows) {
    LeafRows sorted{.first = std::vector<std::size_t>(n_nodes + 1, 0), .rows = std::vector<RowIndex>(rows.size())};
    for (const RowIndex row : rows) ++sorted.first[leaf_of_row[row] + 1];
    for (std::size_t node = 0; node < n_nodes; ++node) sorted.first[node + 1] += sorted.first[node];
    std::vector<std::size_t> next(sorted.first.begin(), sorted.first.end() - 1);
    for (const RowIndex row : rows) sorted.rows[next[leaf_of_row[row]]++] = row;
    return sorted;
}

LinearLeaves linear_leaves(const LineTask& task, int n_threads) {
    const std::vector<NodeIndex> parent = parents(task.tree);
    std::vector<Line> lines(task.tree.n_nodes());
    const bool few = task.rows.rows.size() < kRowsPerThread;
    parallel_for(lines.size(), few ? 1 : n_threads, [&](std::size_t i) {
        const auto node = static_cast<NodeIndex>(i);
        if (!task.tree.is_leaf(node)) return;
        lines[node] = line_of(task, task.rows.of(node), path_features(task.tree, parent, node));
    });
    return side_by_side(task, lines);
}

}  // namespace coterie
