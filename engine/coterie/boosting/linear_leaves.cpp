#include "coterie/boosting/linear_leaves.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "coterie/base/buffer.hpp"
#include "coterie/base/fixed_point.hpp"
#include "coterie/base/parallel.hpp"
#include "coterie/boosting/ridge_slopes.hpp"

namespace coterie {
namespace {

constexpr std::size_t kRowsPerThread = 20'000;
constexpr std::size_t kBlockRows = 512;
constexpr std::size_t kRowsPerNumber = 6;  // that a line must have for each number it consists of
constexpr double kMinSpread = 1e-140;      // of a feature in a leaf, so that squares stay inside floats
constexpr double kMaxSpread = 1e140;

struct Line {
    double base = 0;
    std::vector<LineTerm> terms;
};

// A leaf's rows: the values of the terms row by row, so that the sums of all terms grow side by side, and derivatives.
struct Sample {
    std::vector<LineTerm> terms;
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
    sample.gradient.reserve(rows.size());
    sample.hessian.reserve(rows.size());
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
        const std::size_t offset = sample.terms.size();
        sample.terms.push_back({.feature = feature});
        task.values.columns[feature].read(taking_part, sample.values.data() + offset, features.size());
    }
    return sample;
}

// Keeps the features that are wanted.
void keep(Sample& sample, const std::vector<std::uint8_t>& wanted) {
    const std::size_t n_rows = sample.n_rows(), before = sample.width();
    std::vector<LineTerm> terms;
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

// Integers in the order of the numbers.
std::uint64_t key_of(double value) {
    const auto bits = std::bit_cast<std::uint64_t>(value + 0.0);
    return bits >> 63 ? ~bits : bits | std::uint64_t{1} << 63;
}
double value_of_key(std::uint64_t key) {
    return std::bit_cast<double>(key >> 63 ? key & ~(std::uint64_t{1} << 63) : ~key);
}

// The least x for which values up to `bound` are not above 2^x.
int exponent_of(double bound) {
    int exponent = 0;
    std::frexp(bound, &exponent);
    return exponent;
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

// In the units of the tree's values; without terms where they do not fit into floats.
Line in_units(Line line, const GrowOptions& options) {
    const auto in_unit = [&](double value) { return value * options.learning_rate * options.value_unit; };
    line.base = in_unit(line.base);
    double furthest = std::abs(line.base);
    for (LineTerm& term : line.terms) {
        term.slope = in_unit(term.slope);
        furthest += std::abs(term.slope) * (term.most - term.least);
    }
    return std::isfinite(furthest) ? std::move(line) : Line{};
}

// The line of one leaf, step by step. After each step `found` is to be replaced by its sum or its maximum over the
// workers, and every worker goes on with the same numbers.
class LineFit {
public:
    enum class Exchange : std::uint8_t { max, sum };
    struct Step {
        void (LineFit::*take)();
        Exchange exchange;
    };
    static constexpr std::size_t kSteps = 6;
    static const std::array<Step, kSteps> kPlan;

    LineFit() = default;
    LineFit(const LineTask& task, std::span<const RowIndex> rows, std::span<const FeatureIndex> features)
        : task_(&task), sample_(sample_of(task, rows, features)), done_(features.empty()) {}

    bool done() const { return done_; }
    std::vector<std::uint64_t>& found() { return found_; }

    void take(const Step& step) {
        if (!done_) (this->*step.take)();
        if (done_) found_.clear();
    }

    Line line();

private:
    // Missing values aside, a feature of a line has finite values, and not all the same.
    void find_extremes() {
        const std::size_t width = sample_.width();
        std::vector<double> least(width, INFINITY), most(width, -INFINITY);
        for (std::size_t i = 0; i < sample_.n_rows(); ++i) {
            const double* const row = sample_.row(i);
            for (std::size_t k = 0; k < width; ++k) {  // a comparison with a missing value is false
                least[k] = row[k] < least[k] ? row[k] : least[k];
                most[k] = row[k] > most[k] ? row[k] : most[k];
            }
        }
        found_.clear();
        for (std::size_t k = 0; k < width; ++k) {
            found_.push_back(key_of(-least[k]));
            found_.push_back(key_of(most[k]));
        }
    }

    void drop_features_without_spread(std::span<const std::uint64_t> extremes) {
        std::vector<std::uint8_t> wanted(sample_.width());
        for (std::size_t k = 0; k < wanted.size(); ++k) {
            LineTerm& term = sample_.terms[k];
            term.least = 0.0 - value_of_key(extremes[2 * k]);
            term.most = value_of_key(extremes[2 * k + 1]);
            const double spread = term.most - term.least;
            wanted[k] = spread >= kMinSpread && spread <= kMaxSpread;
            term.exponent = wanted[k] ? exponent_of(spread) : 0;
        }
        keep(sample_, wanted);
    }

    void drop_rows() {
        drop_features_without_spread(found_);
        done_ = sample_.terms.empty();
        if (done_) return;
        drop_incomplete_rows(sample_);
        find_extremes();
        double gradient = 0, hessian = 0;
        for (const double each : sample_.gradient) gradient = std::max(gradient, std::abs(each));
        for (const double each : sample_.hessian) hessian = std::max(hessian, std::abs(each));
        found_.push_back(std::bit_cast<std::uint64_t>(gradient));
        found_.push_back(std::bit_cast<std::uint64_t>(hessian));
    }

    void count_rows() {
        const auto take_last = [&] {
            const auto bits = found_.back();
            found_.pop_back();
            return std::bit_cast<double>(bits);
        };
        hessian_max_ = take_last();
        gradient_max_ = take_last();
        extremes_ = std::move(found_);
        found_ = {sample_.n_rows()};
    }

    // Sums of gradients, their sizes and hessians, and of the distances from the least value.
    void sum_values() {
        n_rows_ = found_[0];
        done_ = n_rows_ < kRowsPerNumber * (sample_.terms.size() + 1);
        if (done_) return;
        drop_features_without_spread(extremes_);
        gradients_ = FixedPoint(gradient_max_, n_rows_);
        hessians_ = FixedPoint(2 * hessian_max_, n_rows_);
        const std::size_t width = sample_.width();
        found_.assign(3 + width, 0);
        std::vector<double> least, scale;
        for (const LineTerm& term : sample_.terms) {
            least.push_back(term.least);
            scale.push_back(std::ldexp(1.0, -term.exponent));
        }
        for (std::size_t i = 0; i < sample_.n_rows(); ++i) {
            const double hessian = sample_.hessian[i];
            found_[0] += gradients_(sample_.gradient[i]);
            found_[1] += gradients_(std::abs(sample_.gradient[i]));
            found_[2] += hessians_(hessian);
            const double* const row = sample_.row(i);
            for (std::size_t k = 0; k < width; ++k)
                found_[3 + k] += hessians_(hessian * ((row[k] - least[k]) * scale[k]));
        }
    }

    // Values become distances from the mean; their squares are summed.
    void centre() {
        gradient_ = gradients_.value_of(found_[0]);
        size_ = gradients_.value_of(found_[1]);
        hessian_ = hessians_.value_of(found_[2]);
        done_ = !(hessian_ > 0);
        if (done_) return;
        const std::size_t width = sample_.width();
        std::vector<double> centre, scale;
        for (std::size_t k = 0; k < width; ++k) {
            LineTerm& term = sample_.terms[k];
            term.centre = term.least + std::ldexp(hessians_.value_of(found_[3 + k]) / hessian_, term.exponent);
            centre.push_back(term.centre);
            scale.push_back(std::ldexp(1.0, -term.exponent));
        }
        found_.assign(width, 0);
        for (std::size_t i = 0; i < sample_.n_rows(); ++i) {
            double* const row = sample_.row(i);
            for (std::size_t k = 0; k < width; ++k) {
                row[k] -= centre[k];
                const double scaled = row[k] * scale[k];
                found_[k] += hessians_(sample_.hessian[i] * (scaled * scaled));
            }
        }
    }

    // Distances become multiples of the deviation; features that do not deviate are dropped. Then the products of all.
    void multiply() {
        std::vector<std::uint8_t> wanted(sample_.width());
        for (std::size_t k = 0; k < wanted.size(); ++k) {
            LineTerm& term = sample_.terms[k];
            term.deviation = std::ldexp(std::sqrt(hessians_.value_of(found_[k]) / hessian_), term.exponent);
            wanted[k] = term.deviation >= kMinSpread;
        }
        keep(sample_, wanted);
        const std::size_t width = sample_.width();
        std::vector<double> scale;
        for (LineTerm& term : sample_.terms) {
            const double furthest = std::max(term.most - term.centre, term.centre - term.least);
            term.exponent = exponent_of(furthest / term.deviation);
            scale.push_back(std::ldexp(1.0, -term.exponent));
        }
        found_.assign(width + width * width, 0);
        std::vector<double> row(width);
        for (std::size_t i = 0; i < sample_.n_rows(); ++i) {
            for (std::size_t k = 0; k < width; ++k) row[k] = sample_.row(i)[k] / sample_.terms[k].deviation * scale[k];
            for (std::size_t k = 0; k < width; ++k) {
                found_[k] += gradients_(sample_.gradient[i] * row[k]);
                const double heavy = sample_.hessian[i] * row[k];
                std::uint64_t* const products = found_.data() + width + k * width;
                for (std::size_t m = 0; m <= k; ++m) products[m] += hessians_(heavy * row[m]);
            }
        }
    }

    LineEquations equations() const {
        const std::size_t n = sample_.width();
        LineEquations equations{.correlation = std::vector<double>(n * n), .with_step = std::vector<double>(n)};
        for (std::size_t i = 0; i < n; ++i) {
            const int exponent = sample_.terms[i].exponent;
            equations.with_step[i] = -std::ldexp(gradients_.value_of(found_[i]), exponent) / hessian_;
            for (std::size_t k = 0; k <= i; ++k) {
                const double sum = hessians_.value_of(found_[n + i * n + k]);
                equations.correlation[i * n + k] = std::ldexp(sum, exponent + sample_.terms[k].exponent) / hessian_;
                equations.correlation[k * n + i] = equations.correlation[i * n + k];
            }
        }
        return equations;
    }

    const LineTask* task_ = nullptr;
    Sample sample_;
    bool done_ = true;  // there is no line
    std::vector<std::uint64_t> found_;
    std::vector<std::uint64_t> extremes_;
    double gradient_max_ = 0, hessian_max_ = 0;  // of sizes
    std::uint64_t n_rows_ = 0;
    FixedPoint gradients_, hessians_;
    double gradient_ = 0, size_ = 0, hessian_ = 0;  // sums
};

const std::array<LineFit::Step, LineFit::kSteps> LineFit::kPlan{{
    {&LineFit::find_extremes, Exchange::max},
    {&LineFit::drop_rows, Exchange::max},
    {&LineFit::count_rows, Exchange::sum},
    {&LineFit::sum_values, Exchange::sum},
    {&LineFit::centre, Exchange::sum},
    {&LineFit::multiply, Exchange::sum},
}};

Line LineFit::line() {
    if (done_) return {};
    Line line{.base = -gradient_ / (hessian_ + task_->options.l2), .terms = sample_.terms};
    set_slopes(line.terms, equations(), size_ / hessian_, task_->options);
    return in_units(std::move(line), task_->options);
}

// Each step for all leaves, then one exchange.
void take_steps_together(std::span<LineFit> fits, Communicator& communicator, int n_threads) {
    for (const LineFit::Step& step : LineFit::kPlan) {
        parallel_for(fits.size(), n_threads, [&](std::size_t i) { fits[i].take(step); });
        std::vector<std::uint64_t> all;
        for (LineFit& fit : fits) all.insert(all.end(), fit.found().begin(), fit.found().end());
        if (step.exchange == LineFit::Exchange::max)
            communicator.max(all);
        else
            communicator.sum(all);
        auto next = all.begin();
        for (LineFit& fit : fits)
            for (std::uint64_t& value : fit.found()) value = *next++;
    }
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
        for (const LineTerm& term : lines[node].terms) {
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

LinearLeaves linear_leaves(const LineTask& task, const Slice& slice, int n_threads) {
    const std::vector<NodeIndex> parent = parents(task.tree);
    const std::size_t n_nodes = task.tree.n_nodes();
    const int threads = few(task.rows) ? 1 : n_threads;
    const auto fit_of = [&](std::size_t i) {
        const auto node = static_cast<NodeIndex>(i);
        if (!task.tree.is_leaf(node)) return LineFit();
        return LineFit(task, task.rows.of(node), path_features(task.tree, parent, node));
    };
    std::vector<Line> lines(n_nodes);
    if (slice.shared()) {
        std::vector<LineFit> fits(n_nodes);
        parallel_for(n_nodes, threads, [&](std::size_t i) { fits[i] = fit_of(i); });
        take_steps_together(fits, *slice.communicator, threads);
        for (std::size_t i = 0; i < n_nodes; ++i) lines[i] = fits[i].line();
    } else {
        parallel_for(n_nodes, threads, [&](std::size_t i) {
            if (task.rows.of(static_cast<NodeIndex>(i)).size() < kRowsPerNumber * 2) return;  // too few for one slope
            LineFit fit = fit_of(i);
            for (const LineFit::Step& step : LineFit::kPlan) fit.take(step);
            lines[i] = fit.line();
        });
    }
    return side_by_side(task, lines);
}

void linear_predictions(const Tree& tree, const TableView& values, const LeafRows& rows, int n_threads,
                        std::span<double> predictions) {
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
                predictions[row] =
                    linear_prediction(tree, leaf, [&](FeatureIndex) { return *value++; });  // term after term
            }
        }
    });
}

}  // namespace coterie
