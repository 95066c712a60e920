#include "coterie/boosting/linear_leaves.hpp"

#include <algorithm>
#include <cmath>

#include "coterie/base/buffer.hpp"
#include "coterie/base/parallel.hpp"

namespace coterie {
namespace {

constexpr std::size_t kRowsPerThread = 20'000;
constexpr std::size_t kBlockRows = 512;
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

// A leaf's rows: the values of the terms row by row, so that the sums of all terms grow side by side, and derivatives.
struct Sample {
    std::vector<Term> terms;
    Buffer<double> values;
    Buffer<double> gradient;
    Buffer<double> hessian;

    std::size_t n_rows() const { return gradient.size(); }
    std::size_t width() const { return terms.size(); }
    double* row(std::size_t i) { return values.data() + i * width(); }
    const double* row(std::size_t i) const { return values.data() + i * width(); }
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
    taking_part.reserve(rows.size());
    for (const RowIndex row : rows) {
        const auto gradient = static_cast<double>(derivatives.gradient[row]);
        const double hessian = derivatives.hessian.empty() ? 1.0 : static_cast<double>(derivatives.hessian[row]);
        if (gradient == 0 && hessian == 0) continue;  // a row without weight
        taking_part.push_back(row);
        sample.gradient.push_back(gradient);
        sample.hessian.push_back(hessian);
    }
    sample.values.resize(taking_part.size() * features.size());
    for (const FeatureIndex feature : features) {
        const std::size_t place = sample.terms.size();
        sample.terms.push_back({.feature = feature});
        task.values.columns[feature].read(taking_part, sample.values.data() + place, features.size());
    }
    return sample;
}

// Keeps the features that are wanted.
void keep(Sample& sample, const std::vector<std::uint8_t>& wanted) {
    const std::size_t n_rows = sample.n_rows(), before = sample.width();
    std::vector<Term> terms;
    for (std::size_t k = 0; k < before; ++k)
        if (wanted[k]) terms.push_back(sample.terms[k]);
    if (terms.size() == before) return;
    double* to = sample.values.data();
    for (std::size_t i = 0; i < n_rows; ++i)
        for (std::size_t k = 0; k < before; ++k)
            if (wanted[k]) *to++ = sample.values[i * before + k];
    sample.terms = std::move(terms);
    sample.values.resize(n_rows * sample.width());
}

// Missing values aside, a feature of a line has finite values, and not all the same.
void drop_features_without_spread(Sample& sample) {
    const std::size_t width = sample.width();
    std::vector<double> least(width, INFINITY), most(width, -INFINITY);
    for (std::size_t i = 0; i < sample.n_rows(); ++i) {
        const double* const row = sample.row(i);
        for (std::size_t k = 0; k < width; ++k) {  // a comparison with a missing value is false
            least[k] = row[k] < least[k] ? row[k] : least[k];
            most[k] = row[k] > most[k] ? row[k] : most[k];
        }
    }
    std::vector<std::uint8_t> wanted(width);
    for (std::size_t k = 0; k < width; ++k) {
        const double spread = most[k] - least[k];
        wanted[k] = spread >= kLeastSpread && spread <= kMostSpread;
        sample.terms[k].least = least[k];
        sample.terms[k].most = most[k];
    }
    keep(sample, wanted);
}

void drop_incomplete_rows(Sample& sample) {
    const std::size_t width = sample.width();
    std::size_t kept = 0;
    for (std::size_t i = 0; i < sample.n_rows(); ++i) {
        const double* const row = sample.row(i);
        if (std::any_of(row, row + width, [](double value) { return std::isnan(value); })) continue;
        if (kept < i) std::copy(row, row + width, sample.row(kept));
        sample.gradient[kept] = sample.gradient[i];
        sample.hessian[kept] = sample.hessian[i];
        ++kept;
    }
    sample.values.resize(kept * width);
    sample.gradient.resize(kept);
    sample.hessian.resize(kept);
}

// Values become distances from the mean, in deviations. Features that do not deviate are dropped.
void standardise(Sample& sample, double hessian) {
    const std::size_t width = sample.width();
    std::vector<double> sums(width, 0.0), squares(width, 0.0);
    for (std::size_t i = 0; i < sample.n_rows(); ++i)
        for (std::size_t k = 0; k < width; ++k)
            sums[k] += sample.hessian[i] * (sample.row(i)[k] - sample.terms[k].least);
    for (std::size_t k = 0; k < width; ++k) sample.terms[k].centre = sample.terms[k].least + sums[k] / hessian;
    for (std::size_t i = 0; i < sample.n_rows(); ++i)
        for (std::size_t k = 0; k < width; ++k) {
            double& value = sample.row(i)[k];
            value -= sample.terms[k].centre;
            squares[k] += sample.hessian[i] * value * value;
        }
    std::vector<std::uint8_t> wanted(width);
    for (std::size_t k = 0; k < width; ++k) {
        sample.terms[k].deviation = std::sqrt(squares[k] / hessian);
        wanted[k] = sample.terms[k].deviation >= kLeastSpread;
    }
    keep(sample, wanted);
    for (std::size_t i = 0; i < sample.n_rows(); ++i)
        for (std::size_t k = 0; k < sample.width(); ++k) sample.row(i)[k] /= sample.terms[k].deviation;
}

// Correlations of the features, and of each with Newton's step.
struct Equations {
    std::vector<double> correlation;  // square, row by row
    std::vector<double> with_step;
};

Equations equations_of(const Sample& sample, double hessian) {
    const std::size_t n = sample.width();
    Equations equations{.correlation = std::vector<double>(n * n), .with_step = std::vector<double>(n)};
    for (std::size_t row = 0; row < sample.n_rows(); ++row) {
        const double* const values = sample.row(row);
        for (std::size_t i = 0; i < n; ++i) {
            equations.with_step[i] -= sample.gradient[row] * values[i];
            const double heavy = sample.hessian[row] * values[i];
            double* const products = equations.correlation.data() + i * n;
            for (std::size_t k = 0; k <= i; ++k) products[k] += heavy * values[k];
        }
    }
    for (std::size_t i = 0; i < n; ++i) {
        equations.with_step[i] /= hessian;
        for (std::size_t k = 0; k <= i; ++k) {
            equations.correlation[i * n + k] /= hessian;
            equations.correlation[k * n + i] = equations.correlation[i * n + k];
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
    const auto in_unit = [&](double value) { return value * options.learning_rate * options.value_unit; };
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

bool few(const LeafRows& rows) { return rows.rows.size() < kRowsPerThread; }

LinearLeaves side_by_side(const LineTask& task, std::span<const Line> lines) {
    LinearLeaves all;
    if (std::ranges::all_of(lines, [](const Line& line) { return line.terms.empty(); })) return all;
    all.first_term.push_back(0);
    for (NodeIndex node = 0; node < lines.size(); ++node) {
        const Bounds& bounds = task.nodes[node].bounds;
        all.base.push_back(lines[node].base);
        all.low.push_back(bounds.low * task.options.learning_rate * task.options.value_unit);
        all.high.push_back(bounds.high * task.options.learning_rate * task.options.value_unit);
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
    parallel_for(lines.size(), few(task.rows) ? 1 : n_threads, [&](std::size_t i) {
        const auto node = static_cast<NodeIndex>(i);
        if (!task.tree.is_leaf(node)) return;
        lines[node] = line_of(task, task.rows.of(node), path_features(task.tree, parent, node));
    });
    return side_by_side(task, lines);
}

void linear_answers(const Tree& tree, const TableView& values, const LeafRows& rows, int n_threads,
                    std::span<double> answers) {
    const LinearLeaves& linear = tree.linear;
    parallel_for(tree.n_nodes(), few(rows) ? 1 : n_threads, [&](std::size_t i) {
        const auto leaf = static_cast<NodeIndex>(i);
        const std::size_t first = linear.first_term[leaf], width = linear.first_term[leaf + 1] - first;
        std::span<const RowIndex> left = rows.of(leaf);
        Buffer<double> block(std::min(left.size(), kBlockRows) * width);
        while (!left.empty()) {
            const std::span<const RowIndex> some = left.first(std::min(left.size(), kBlockRows));
            left = left.subspan(some.size());
            for (std::size_t k = 0; k < width; ++k)
                values.columns[static_cast<FeatureIndex>(linear.feature[first + k])].read(some, block.data() + k,
                                                                                          width);
            const double* next = block.data();
            for (const RowIndex row : some) {
                const double* value = next;
                next += width;
                answers[row] = linear_answer(tree, leaf, [&](FeatureIndex) { return *value++; });  // term after term
            }
        }
    });
}

}  // namespace coterie
