#include "coterie/boosting/grow_tree.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "coterie/base/error.hpp"
#include "coterie/base/parallel.hpp"
#include "coterie/boosting/grow_leafwise.hpp"
#include "coterie/boosting/grow_oblivious.hpp"
#include "coterie/boosting/leaf_quantiles.hpp"
#include "coterie/boosting/rounded_pairs.hpp"

namespace coterie {
namespace {

constexpr std::size_t kExactSumsUpTo = 131'072;  // rows with which values of leaves come from unrounded derivatives
constexpr std::size_t kChunk = 16'384;
constexpr double kLeastHessian = 1e-150;  // of a leaf that takes a step
constexpr std::size_t kScoreBlock = 65'536;
constexpr double kReachOfLines = 2;  // in steps of a leaf, where long ones are damped

// Where a rare class has rows that nothing foresaw, Newton's step is about the ratio of how many there are to how many
// were expected, and the loss is least near the logarithm of that ratio.
double damped(double step, double free) {
    const double ratio = std::abs(step) / free;
    return ratio <= 1 ? step : std::copysign(free * (1 + std::log(ratio)), step);
}

}  // namespace

TreeGrower::TreeGrower(std::shared_ptr<const BinnedMatrix> matrix, GrowOptions options, int n_threads,
                       const Slice& slice)
    : matrix_(std::move(matrix)),
      options_(std::move(options)),
      n_threads_(std::max(1, n_threads)),
      slice_(slice),
      splitter_(*matrix_, options_, n_threads_, slice_),
      growing_(*matrix_, options_, splitter_.rows(), slice_) {
    check_options(options_, matrix_->n_features());
}

Tree TreeGrower::grow(const Derivatives& derivatives, std::uint64_t seed, StopRequest stop, RowSampling sampling,
                      const TableView* values) {
    require(!options_.linear_leaves || values != nullptr, "Linear leaves need the values of the table.");
    Tree tree = grow_splits(derivatives, seed, stop, sampling);
    if (!options_.linear_leaves || tree.n_nodes() == 1) return tree;
    stop.check();
    fit_linear_leaves(tree, derivatives_, *values);
    return tree;
}

Tree TreeGrower::grow_splits(const Derivatives& derivatives, std::uint64_t seed, StopRequest stop,
                             RowSampling sampling) {
    require(derivatives.gradient.size() == matrix_->n_rows(), "There must be one gradient for each row of the matrix.");
    const std::span<const float> only[] = {derivatives.gradient};
    const SizesSeen seen = see_sizes(only, derivatives.hessian, n_threads_);
    all_sizes_ = checked_sizes(derivatives.hessian, seen, derivatives.everybody(), slice_);
    derivatives_ = derivatives;
    row_predictions_.clear();
    rows_of_leaves_ = {};
    steps_.clear();
    leaf_of_row_.clear();
    const TreeFacts facts = choose_rows(seen, seed, sampling);
    stop.check();

    OpenLeaf root = splitter_.start(facts, pairs_, sample_.rows);
    // Small tables: the rounded sums chose the split, the unrounded ones give the value.
    const bool exact = sizes_.n_rows <= kExactSumsUpTo && !sampled_;
    growing_.start(derivatives_, splitter_.facts(), exact ? std::optional(SumUnits(sizes_)) : std::nullopt, routed_);
    if (options_.growth == Growth::oblivious)
        grow_oblivious(std::move(root), splitter_, growing_, stop);
    else
        grow_leafwise(std::move(root), splitter_, growing_, stop);
    Tree tree = growing_.take();
    // Without a split there is nothing to predict: the constant was found before the first tree.
    if (tree.n_nodes() == 1) {
        tree.value[0] = 0;
        return tree;
    }
    if (routed_) leaf_of_row_.route(growing_.router(), matrix_->n_rows(), n_threads_);
    set_values(tree);
    return tree;
}

Tree TreeGrower::tree_for(const Tree& splits, std::span<const float> gradient, std::span<const float> hessian,
                          const TableView* values) {
    const std::size_t n_rows = matrix_->n_rows();
    require(gradient.size() == n_rows && hessian.size() == n_rows,
            "There must be one gradient and one hessian for each row of the matrix.");
    require(!options_.linear_leaves || values != nullptr, "Linear leaves need the values of the table.");
    require(options_.monotone.empty(), "Splits of several outputs take no monotone constraints.");
    Tree tree = splits;
    row_predictions_.clear();
    steps_.clear();
    if (tree.n_nodes() == 1) return tree;  // nothing was found, and nothing is predicted
    require_grown_last(tree);
    const Derivatives own{
        .gradient = gradient, .hessian = hessian, .rows = derivatives_.rows, .nobody = derivatives_.nobody};
    sum_output(tree, own);
    add_up(tree, growing_.sums());
    std::vector<double> steps = smoothed_values(tree, growing_.sums(), options_);
    for (NodeIndex node = 0; node < tree.n_nodes(); ++node) {
        if (options_.free_step > 0) steps[node] = damped(steps[node], options_.free_step);
        tree.value[node] = steps[node] * options_.learning_rate * options_.value_unit;
    }
    set_leaf_values(tree, steps);
    if (!options_.linear_leaves) return tree;
    if (options_.free_step > 0)
        for (const GrowingTree::LeafRange& leaf : growing_.leaves()) {
            const double most = kReachOfLines * std::max(std::abs(steps[leaf.node]), options_.free_step);
            Bounds& bounds = growing_.sums()[leaf.node].bounds;
            bounds = {.low = std::max(bounds.low, -most), .high = std::min(bounds.high, most)};
        }
    fit_linear_leaves(tree, own, *values);
    return tree;
}

// The sums of an output's derivatives, in the leaves of the splits grown last.
void TreeGrower::sum_output(const Tree& tree, const Derivatives& derivatives) {
    const std::span<const float> only[] = {derivatives.gradient};
    const DerivativeSizes sizes = sizes_of(see_sizes(only, derivatives.hessian, n_threads_), slice_);
    sizes.require_finite();
    const SumUnits units(sizes);
    // All workers exchange the same words, however each of them adds up its own rows.
    std::vector<std::uint64_t> words(2 * tree.n_nodes(), 0);
    const auto add = [&](NodeIndex leaf, const FixedSums& own) {
        words[2 * leaf] += own.gradient;
        words[2 * leaf + 1] += own.hessian;
    };
    if (routed_) {
        const RoutedSums own = sum_by_leaf({.gradients = only,
                                            .hessian = derivatives.hessian,
                                            .rows = sampled_ ? std::span<const RowIndex>() : derivatives.rows,
                                            .nobody = !sampled_ && derivatives.nobody,
                                            .leaf_of_row = leaf_of_row_},
                                           units, {}, n_threads_);
        const std::span<const NodeIndex> leaves = growing_.router().leaves();
        for (std::size_t leaf = 0; leaf < leaves.size(); ++leaf) add(leaves[leaf], own.fixed(leaf, 0));
    } else {
        const std::span<const GrowingTree::LeafRange> leaves = growing_.leaves();
        std::vector<FixedSums> parts(leaves.size());
        parallel_ranges(leaves.size(), 1, matrix_->n_rows() < kChunk ? 1 : n_threads_,
                        [&](std::size_t begin, std::size_t end) {
                            for (std::size_t leaf = begin; leaf < end; ++leaf)
                                parts[leaf] = exact_sums(leaves[leaf].rows, splitter_.rows(), derivatives, units);
                        });
        for (std::size_t leaf = 0; leaf < leaves.size(); ++leaf) add(leaves[leaf].node, parts[leaf]);
    }
    slice_.sum(words);
    for (NodeIndex node = 0; node < tree.n_nodes(); ++node)
        growing_.sums()[node] = {.gradient = units.gradient.value_of(words[2 * node]),
                                 .hessian = units.hessian.value_of(words[2 * node + 1]),
                                 .bounds = bounds_of(options_)};
}

// Rounded derivatives of the rows that the tree sees.
TreeFacts TreeGrower::choose_rows(const SizesSeen& seen, std::uint64_t seed, const RowSampling& sampling) {
    sampled_ = sampling.method != SamplingMethod::none;
    routed_ = sampled_ || !derivatives_.everybody();
    if (routed_)
        draw_rows(derivatives_, sampling, seed, slice_, n_threads_, sample_);
    else
        sample_.rows.clear();
    const std::span<const float> gradient = routed_ ? std::span<const float>(sample_.gradient) : derivatives_.gradient;
    const std::span<const float> hessian = routed_ ? std::span<const float>(sample_.hessian) : derivatives_.hessian;
    // Workers all of whose rows take part exchange them again if there are others.
    sizes_ = sampled_ || !all_sizes_.everybody ? sizes_of(routed_ ? sample_.sizes : seen, slice_) : all_sizes_;
    const Rounded rounded = round_pairs({.gradients = {&gradient, 1}, .hessian = hessian, .rows = sample_.rows}, sizes_,
                                        seed, slice_, n_threads_, {&pairs_, 1});
    return {.units = rounded.units,
            .seed = seed,
            .noise = 0,
            .counted = rounded.counted,
            .flat_hessian = rounded.sizes.flat};
}

// Bounds are about values before shrinkage, so that comes last.
void TreeGrower::set_values(Tree& tree) {
    if (sampled_) sum_all_rows(tree);
    const std::span<NodeSums> sums = growing_.sums();
    std::vector<double> steps;
    if (options_.path_smoothing > 0 || options_.growth == Growth::oblivious) {
        add_up(tree, sums);
        steps = smoothed_values(tree, sums, options_);
        for (NodeIndex node = 0; node < tree.n_nodes(); ++node)
            tree.value[node] = steps[node] * options_.learning_rate * options_.value_unit;
    } else {
        for (const NodeSums& node : sums) steps.push_back(node_value(node, options_));
    }
    set_leaf_values(tree, steps);
}

// Steps are by node, before shrinkage.
void TreeGrower::set_leaf_values(Tree& tree, std::span<const double> steps) {
    steps_.assign(tree.n_nodes(), 0.0f);
    for (const GrowingTree::LeafRange& leaf : growing_.leaves()) {
        const double step = steps[leaf.node] * options_.learning_rate;
        steps_[leaf.node] = static_cast<float>(step);
        tree.value[leaf.node] = step * options_.value_unit;
    }
}

// The tree was grown on a sample: the values of its leaves come from every row of the table, and all are counted.
void TreeGrower::sum_all_rows(Tree& tree) {
    const std::span<const float> only[] = {derivatives_.gradient};
    all_sizes_.require_finite();
    const SumUnits units(all_sizes_);
    const RoutedSums sums = sum_by_leaf(
        {.gradients = only, .hessian = derivatives_.hessian, .rows = {}, .nobody = false, .leaf_of_row = leaf_of_row_},
        units, slice_, n_threads_);
    const std::span<const NodeIndex> leaves = growing_.router().leaves();
    for (std::size_t leaf = 0; leaf < leaves.size(); ++leaf) {
        growing_.sums()[leaves[leaf]].gradient = sums.gradient(leaf, 0);
        growing_.sums()[leaves[leaf]].hessian = sums.hessian(leaf);
    }
    set_covers(tree, leaves, sums);
}

// The leaf of each row, also of those that took no part.
Buffer<NodeIndex> TreeGrower::leaf_nodes_of_rows() const {
    Buffer<NodeIndex> nodes(matrix_->n_rows());
    if (!routed_) {
        for (const GrowingTree::LeafRange& leaf : growing_.leaves())
            for (const Record record : records(leaf)) nodes[row_of(record)] = leaf.node;
        return nodes;
    }
    const std::span<const NodeIndex> leaves = growing_.router().leaves();
    for (std::size_t row = 0; row < nodes.size(); ++row) nodes[row] = leaves[leaf_of_row_[row]];
    return nodes;
}

// The rows of each leaf of the tree grown last, which the trees of all outputs share.
void TreeGrower::list_rows_of_leaves(std::size_t n_nodes) {
    if (!rows_of_leaves_.first.empty()) return;
    const Buffer<NodeIndex> leaves = leaf_nodes_of_rows();
    Buffer<RowIndex> every_row(leaves.size());
    std::iota(every_row.begin(), every_row.end(), RowIndex{0});
    rows_of_leaves_ = rows_by_leaf(n_nodes, leaves, every_row);
    // Lines come from the rows that the constants come from: of a sampled tree all, else those that took part.
    const bool from_all = sampled_ || derivatives_.everybody();
    learned_from_ = from_all ? LeafRows{} : rows_by_leaf(n_nodes, leaves, derivatives_.rows);
}

void TreeGrower::fit_linear_leaves(Tree& tree, const Derivatives& derivatives, const TableView& values) {
    require(values.n_rows == matrix_->n_rows() && values.columns.size() == matrix_->n_features(),
            "The values do not have the rows and features of the matrix.");
    list_rows_of_leaves(tree.n_nodes());
    tree.linear = linear_leaves({.tree = tree,
                                 .values = values,
                                 .derivatives = derivatives,
                                 .rows = learned_from_.first.empty() ? rows_of_leaves_ : learned_from_,
                                 .nodes = growing_.sums(),
                                 .options = options_},
                                slice_, n_threads_);
    if (tree.linear.empty()) return;
    Buffer<double> predictions(matrix_->n_rows());
    linear_predictions(tree, values, rows_of_leaves_, n_threads_, predictions);
    resize_anew(row_predictions_, predictions.size());
    for (std::size_t row = 0; row < predictions.size(); ++row)
        row_predictions_[row] = static_cast<float>(predictions[row] / options_.value_unit);
}

void TreeGrower::set_quantile_values(Tree& tree, std::span<const float> residual, std::span<const float> weight,
                                     double quantile) {
    const std::size_t n_rows = matrix_->n_rows();
    require(residual.size() == n_rows && (weight.empty() || weight.size() == n_rows),
            "There must be one residual, and one weight or none, for each row of the matrix.");
    require(quantile > 0 && quantile < 1, "A quantile must be between 0 and 1.");
    require(!options_.linear_leaves, "The values of linear leaves cannot be quantiles.");
    const std::span<const GrowingTree::LeafRange> leaves = growing_.leaves();
    require_grown_last(tree);
    if (tree.n_nodes() == 1) return;  // nothing was found, and nothing is predicted
    LeafResiduals residuals{.by_node = std::vector<std::vector<Weighed>>(tree.n_nodes()), .equal = weight.empty()};
    const auto add = [&](NodeIndex leaf, RowIndex row) {
        const float count = weight.empty() ? 1.0f : weight[row];
        if (count > 0) residuals.by_node[leaf].push_back({residual[row], count});
    };
    if (sampled_) {
        for (RowIndex row = 0; row < n_rows; ++row) add(growing_.router().leaves()[leaf_of_row_[row]], row);
    } else {
        for (const GrowingTree::LeafRange& leaf : leaves) {
            residuals.by_node[leaf.node].reserve(leaf.rows.n);
            for (const Record record : records(leaf)) add(leaf.node, row_of(record));
        }
    }
    set_leaf_values(tree, leaf_quantiles(tree, std::move(residuals), quantile, options_, slice_, n_threads_));
}

void TreeGrower::require_grown_last(const Tree& tree) const {
    const std::span<const GrowingTree::LeafRange> leaves = growing_.leaves();
    require(
        !leaves.empty() && std::ranges::all_of(leaves, [&](const auto& leaf) { return leaf.node < tree.n_nodes(); }),
        "Only the tree grown last can be refined.");
}

void TreeGrower::set_newton_values(Tree& tree, std::span<const float> gradient, std::span<const float> hessian) {
    const std::size_t n_rows = matrix_->n_rows();
    require(gradient.size() == n_rows && hessian.size() == n_rows,
            "There must be one gradient and one hessian for each row of the matrix.");
    require(!options_.linear_leaves && !sampled_ && !slice_.shared(),
            "Newton's steps are set for trees without linear leaves, that one worker grew on rows that it was given.");
    require_grown_last(tree);
    if (tree.n_nodes() == 1) return;  // nothing was found, and nothing is predicted
    std::vector<double> gradients(tree.n_nodes(), 0.0);
    std::vector<double> steps(tree.n_nodes(), 0.0);
    for (const GrowingTree::LeafRange& leaf : growing_.leaves())
        for (const Record record : records(leaf)) {
            gradients[leaf.node] += static_cast<double>(gradient[row_of(record)]);
            steps[leaf.node] += static_cast<double>(hessian[row_of(record)]);
        }
    for (std::size_t node = 0; node < steps.size(); ++node)
        steps[node] = steps[node] > kLeastHessian ? -gradients[node] / steps[node] : 0.0;
    set_leaf_values(tree, steps);
}

void TreeGrower::add_predictions(std::span<float> scores) const {
    require(scores.size() == matrix_->n_rows(), "There must be one score for each row of the matrix.");
    if (steps_.empty()) return;
    if (!row_predictions_.empty()) {
        for (std::size_t row = 0; row < scores.size(); ++row) scores[row] += row_predictions_[row];
        return;
    }
    if (routed_) {
        std::vector<float> by_leaf;
        for (const NodeIndex leaf : growing_.router().leaves()) by_leaf.push_back(steps_[leaf]);
        parallel_ranges(scores.size(), kChunk, n_threads_, [&](std::size_t begin, std::size_t end) {
            for (std::size_t row = begin; row < end; ++row) scores[row] += by_leaf[leaf_of_row_[row]];
        });
        return;
    }
    // Block by block of rows, which leaves hold in ascending order: the scores of a block stay in the cache of one
    // core.
    parallel_ranges(scores.size(), kScoreBlock, n_threads_, [&](std::size_t begin, std::size_t end) {
        for (const GrowingTree::LeafRange& leaf : growing_.leaves()) {
            const float step = steps_[leaf.node];
            const std::span<const Record> own = records(leaf);
            auto record = begin == 0 ? own.begin() : std::ranges::lower_bound(own, begin, {}, row_of);
            for (; record != own.end() && row_of(*record) < end; ++record) scores[row_of(*record)] += step;
        }
    });
}

}  // namespace coterie
