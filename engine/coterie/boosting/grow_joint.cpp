#include "coterie/boosting/grow_joint.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "coterie/base/error.hpp"
#include "coterie/base/parallel.hpp"
#include "coterie/boosting/leaf_queue.hpp"
#include "coterie/boosting/rounded_pairs.hpp"
#include "coterie/tree/prune.hpp"

namespace coterie {
namespace {

constexpr std::size_t kChunk = 16'384;
constexpr std::size_t kParallelWork = 60'000;  // updates of histograms below which threads do not pay
constexpr std::size_t kSlack = 8;

std::int64_t gradient_of(Pair pair) { return static_cast<std::int16_t>(pair >> 16); }

// Whole numbers, so any order of addition gives the same.
std::int64_t product_sum(std::span<const Pair> a, std::span<const Pair> b, int n_threads) {
    std::vector<std::int64_t> parts((a.size() + kChunk - 1) / kChunk, 0);
    parallel_ranges(a.size(), kChunk, n_threads, [&](std::size_t begin, std::size_t end) {
        std::int64_t sum = 0;
        for (std::size_t i = begin; i < end; ++i) sum += gradient_of(a[i]) * gradient_of(b[i]);
        parts[begin / kChunk] = sum;
    });
    return std::accumulate(parts.begin(), parts.end(), std::int64_t{0});
}

}  // namespace

JointGrower::JointGrower(std::shared_ptr<const BinnedMatrix> matrix, GrowOptions options, std::vector<double> units,
                         int n_threads, const Slice& slice)
    : matrix_(std::move(matrix)),
      options_(std::move(options)),
      units_(std::move(units)),
      n_threads_(std::max(1, n_threads)),
      slice_(slice),
      layout_(*matrix_),
      histograms_(*matrix_, layout_, n_threads_, slice_),
      partition_(*matrix_, n_threads_, slice_),
      rules_(*matrix_, layout_, options_),
      search_(*matrix_, layout_, rules_, partition_),
      pool_(layout_.n_cells(), units_.size(), options_.histogram_bytes, slice_),
      router_(*matrix_) {
    check_options(options_, matrix_->n_features());
    require(!units_.empty() && units_.size() < 65'536, "A joint tree has at least one output, and fewer than 65536.");
    for (const double unit : units_) require(std::isfinite(unit), "The units of values must be finite numbers.");
    require(options_.growth != Growth::oblivious, "A tree of several outputs cannot be oblivious.");
    require(!options_.linear_leaves, "A tree of several outputs cannot have linear leaves.");
    require(options_.monotone.empty(), "A tree of several outputs takes no monotone constraints.");
}

std::vector<Tree> JointGrower::grow(const JointDerivatives& derivatives, std::uint64_t seed, StopRequest stop,
                                    RowSampling sampling) {
    require(derivatives.gradients.size() == n_outputs(), "There must be gradients for each output.");
    for (const std::span<const float> gradient : derivatives.gradients)
        require(gradient.size() == matrix_->n_rows(), "There must be one gradient for each row of the matrix.");
    require(derivatives.hessian.empty() || derivatives.hessian.size() == matrix_->n_rows(),
            "Gradients and hessians differ in length.");
    const SizesSeen seen = see_sizes(derivatives.gradients, derivatives.hessian, n_threads_);
    all_sizes_ = checked_sizes(derivatives.hessian, seen, derivatives.rows.empty() && !derivatives.nobody, slice_);
    router_.clear();
    pool_.clear();
    choose_rows(derivatives, seen, seed, sampling);
    stop.check();
    Tree tree = grow_splits(stop);
    leaf_of_row_.route(router_, matrix_->n_rows(), n_threads_);
    sum_leaves(derivatives, tree);
    return with_values(tree);
}

Tree JointGrower::grow_splits(StopRequest& stop) {
    TreeBuilder builder;
    LeafQueue queue(options_);
    const auto offer = [&](OpenLeaf leaf) {
        if (leaf.split.gain > options_.min_gain) return queue.push(std::move(leaf));
        if (leaf.slot >= 0) pool_.release(leaf.slot);
    };
    offer(make_root(builder));
    while (queue.may_split()) {
        stop.check();
        const bool last = queue.last_split();
        OpenLeaf leaf = queue.pop();
        const std::size_t n_needed = last ? 0 : leaf.slot >= 0 ? 1 : 2;
        while (pool_.n_spare() < n_needed) pool_.release(queue.drop_last_histogram(leaf));
        for (OpenLeaf& child : split(leaf, builder, last)) offer(std::move(child));
    }
    Tree tree = builder.finish();
    if (options_.leaf_penalty > 0) {
        KeptTree kept = keep_splits(tree, splits_to_keep(tree, options_.leaf_penalty, false));
        if (kept.tree.n_nodes() < tree.n_nodes()) {
            router_.keep(kept.tree, kept.new_index);
            tree = std::move(kept.tree);
        }
    }
    router_.finish(static_cast<NodeIndex>(tree.n_nodes()));
    return tree;
}

// Rounded derivatives of the rows that the tree sees.
void JointGrower::choose_rows(const JointDerivatives& derivatives, const SizesSeen& seen, std::uint64_t seed,
                              const RowSampling& sampling) {
    const bool all = sampling.method == SamplingMethod::none && derivatives.rows.empty() && !derivatives.nobody;
    sample_.rows.clear();
    if (!all) draw(derivatives, seed, sampling);
    std::vector<std::span<const float>> gradients = derivatives.gradients;
    if (!all) std::ranges::copy(drawn_gradients_, gradients.begin());
    const std::span<const float> hessian = all ? derivatives.hessian : std::span<const float>(sample_.hessian);
    pairs_.resize(n_outputs());
    const bool others = sampling.method != SamplingMethod::none || !all_sizes_.everybody;
    const DerivativeSizes sizes =
        others ? sizes_of(all ? seen : see_sizes(gradients, hessian, n_threads_), slice_) : all_sizes_;
    const Rounded rounded = round_pairs({.gradients = gradients, .hessian = hessian, .rows = sample_.rows}, sizes, seed,
                                        slice_, n_threads_, pairs_);
    facts_ = {.units = rounded.units,
              .seed = seed,
              .noise = 0,
              .counted = rounded.counted,
              .flat_hessian = rounded.sizes.flat};
    pairs_by_row_.resize(all ? 0 : n_outputs());
    for (std::size_t k = 0; k < pairs_by_row_.size(); ++k) {
        resize_anew(pairs_by_row_[k], matrix_->n_rows());
        for (std::size_t i = 0; i < sample_.rows.size(); ++i) pairs_by_row_[k][sample_.rows[i]] = pairs_[k][i];
    }
}

// One draw for all outputs. A row's size is the length of its gradient.
void JointGrower::draw(const JointDerivatives& derivatives, std::uint64_t seed, const RowSampling& sampling) {
    Buffer<float> lengths;
    if (sampling.method == SamplingMethod::minimal_variance) {
        resize_anew(lengths, matrix_->n_rows());
        parallel_ranges(lengths.size(), kChunk, n_threads_, [&](std::size_t begin, std::size_t end) {
            for (std::size_t row = begin; row < end; ++row) {
                double squares = 0;
                for (const std::span<const float> gradient : derivatives.gradients)
                    squares += static_cast<double>(gradient[row]) * static_cast<double>(gradient[row]);
                lengths[row] = static_cast<float>(std::sqrt(squares));
            }
        });
    }
    const std::span<const float> size = lengths.empty() ? derivatives.gradients[0] : std::span<const float>(lengths);
    draw_rows(
        {.gradient = size, .hessian = derivatives.hessian, .rows = derivatives.rows, .nobody = derivatives.nobody},
        sampling, seed, slice_, n_threads_, sample_);
    // What a drawn row counts is seen in its hessian.
    const auto times = [&](std::size_t i) {
        if (sample_.hessian.empty()) return 1.0f;
        const float before = derivatives.hessian.empty() ? 1.0f : derivatives.hessian[sample_.rows[i]];
        return before > 0 ? sample_.hessian[i] / before : 1.0f;
    };
    drawn_gradients_.resize(n_outputs());
    for (auto& gradient : drawn_gradients_) resize_anew(gradient, sample_.rows.size());
    parallel_ranges(sample_.rows.size(), kChunk, n_threads_, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i)
            for (std::size_t k = 0; k < n_outputs(); ++k)
                drawn_gradients_[k][i] = derivatives.gradients[k][sample_.rows[i]] * times(i);
    });
}

// Levels that one output sorts by chance part another output's rows as far as the two go together: by the square
// of their correlation.
void JointGrower::find_chances(Cell total) {
    const double hessian = facts_.hessian(total);
    const bool nominal = std::ranges::any_of(matrix_->features(), [](const FeatureBins& bins) { return bins.nominal; });
    level_costs_.assign(n_outputs(), 0.0);
    facts_.noise = 0;
    if (!(hessian > 0) || !(options_.split_noise > 0 || nominal)) return;
    const std::size_t n = n_outputs();
    std::vector<std::uint64_t> products(n * n, 0);
    for (std::size_t k = 0; k < n; ++k)
        for (std::size_t j = nominal ? 0 : k; j <= k; ++j)
            products[k * n + j] = static_cast<std::uint64_t>(product_sum(pairs_[k], pairs_[j], n_threads_));
    slice_.sum(products);
    const auto product = [&](std::size_t k, std::size_t j) {
        return static_cast<double>(static_cast<std::int64_t>(products[std::max(k, j) * n + std::min(k, j)]));
    };
    double all_squares = 0;
    for (std::size_t k = 0; k < n; ++k) {
        const double squares = product(k, k);
        all_squares += squares;
        if (!nominal || !(squares > 0)) continue;
        double shared = 0;
        for (std::size_t j = 0; j < n; ++j) shared += product(k, j) / squares * product(k, j);
        level_costs_[k] = shared / hessian;
    }
    facts_.noise = all_squares / hessian / static_cast<double>(n_outputs());
}

OpenLeaf JointGrower::make_root(TreeBuilder& builder) {
    OpenLeaf root = root_leaf(builder.add_root(), partition_.start(pairs_[0], sample_.rows), options_);
    root.n_rows = slice_.sum_of(root.n_rows);
    root.slot = pool_.acquire();
    build(root.rows, root.slot);
    for (std::size_t k = 0; k < n_outputs(); ++k) {
        const Cell* const own = pool_.cells(root.slot, k);
        root.output_totals.push_back(std::accumulate(own, own + matrix_->bundles()[0].n_codes, Cell{0}));
    }
    root.total = root.output_totals[0];
    find_chances(root.total);
    rules_.start(facts_);
    root.splittable = rules_.splittable(root);
    if (root.splittable) find_split(root);
    return root;
}

int JointGrower::threads_for(const OpenLeaf& leaf) const {
    const std::size_t work = leaf.rows.n * matrix_->bundles().size() / 2 + 2 * layout_.n_cells();
    return work * n_outputs() < kParallelWork ? 1 : n_threads_;
}

// The rows of a node with their pairs of one output. The partition moves those of the first along with the rows.
NodeRows JointGrower::rows_of(const RowRange& range, std::size_t output) {
    if (output == 0) return partition_.rows(range, facts_.counted);
    if (range.implicit)
        return {.records = nullptr, .pairs = pairs_[output].data(), .n = range.n, .counted = facts_.counted};
    const std::span<const Record> records = partition_.records(range);
    const Pair* const pairs = pairs_by_row_.empty() ? pairs_[output].data() : pairs_by_row_[output].data();
    if (records_.size() < range.n + kSlack) resize_anew(records_, range.n + kSlack);
    parallel_ranges(range.n, kChunk, n_threads_, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            const RowIndex row = row_of(records[i]);
            records_[i] = make_record(row, pairs[row]);
        }
    });
    return {.records = records_.data(), .pairs = nullptr, .n = range.n, .counted = facts_.counted};
}

Cell JointGrower::total_of(const RowRange& range, std::size_t output) {
    const NodeRows rows = rows_of(range, output);
    Cell total = 0;
    for (const Record record : std::span(rows.records, rows.n))
        total += facts_.counted ? widen<true>(pair_of(record)) : widen<false>(pair_of(record));
    return slice_.sum_of(total);
}

void JointGrower::build(const RowRange& range, int slot) {
    std::vector<Cell*> built;
    for (std::size_t k = 0; k < n_outputs(); ++k) {
        built.push_back(pool_.cells(slot, k));
        histograms_.build(rows_of(range, k), built.back());
    }
    histograms_.reduce(built);
}

void JointGrower::find_split(OpenLeaf& leaf) {
    std::vector<OpenLeaf> views(n_outputs());
    std::vector<LeafCells> outputs;
    for (std::size_t k = 0; k < n_outputs(); ++k) {
        views[k].rows = leaf.rows;
        views[k].n_rows = leaf.n_rows;
        views[k].bounds = leaf.bounds;
        views[k].total = leaf.output_totals[k];
        outputs.push_back({&views[k], pool_.cells(leaf.slot, k)});
    }
    leaf.split = search_.find({.leaves = outputs, .first = leaf, .sorters = outputs, .level_costs = level_costs_},
                              scratch_, threads_for(leaf));
}

std::array<OpenLeaf, 2> JointGrower::split(OpenLeaf& leaf, TreeBuilder& builder, bool last) {
    const NodeIndex first = builder.split(leaf.node, leaf.split, matrix_->feature(leaf.split.feature));
    router_.add(leaf.node, leaf.split, first);
    const BinRule rule = rule_of(leaf.split, scratch_.rule_table);
    const auto rows = partition_.split(leaf.rows, leaf.split.feature, rule, scratch_.marks, threads_for(leaf));
    std::array<OpenLeaf, 2> children = children_of(leaf, rows, options_);
    for (std::uint32_t side = 0; side < 2; ++side) children[side].node = first + side;
    children[0].n_rows = slice_.sum_of(children[0].n_rows);
    children[1].n_rows = leaf.n_rows - children[0].n_rows;
    set_totals(leaf, children);
    if (!last) find_child_splits(leaf, children);
    if (leaf.slot >= 0 &&
        std::ranges::none_of(children, [&](const OpenLeaf& child) { return child.slot == leaf.slot; }))
        pool_.release(leaf.slot);
    return children;
}

void JointGrower::set_totals(const OpenLeaf& parent, std::array<OpenLeaf, 2>& children) {
    for (std::size_t k = 0; k < n_outputs(); ++k) {
        OpenLeaf view;
        const Cell left = parent.slot >= 0 ? search_.left_total(parent.split, {&view, pool_.cells(parent.slot, k)})
                                           : total_of(children[0].rows, k);
        children[0].output_totals.push_back(left);
        children[1].output_totals.push_back(parent.output_totals[k] - left);
    }
    for (OpenLeaf& child : children) {
        child.total = child.output_totals[0];
        child.splittable = rules_.splittable(child);
    }
}

// Histograms of the children that can be split, and their best splits.
void JointGrower::find_child_splits(OpenLeaf& parent, std::array<OpenLeaf, 2>& children) {
    OpenLeaf& small = children[children[0].n_rows <= children[1].n_rows ? 0 : 1];
    OpenLeaf& large = &small == &children[0] ? children[1] : children[0];
    if (!small.splittable && !large.splittable) return;
    const bool subtract = parent.slot >= 0 && large.splittable;
    const int slot = pool_.acquire();
    if (small.splittable || subtract) build(small.rows, slot);
    if (large.splittable && !subtract) {
        large.slot = pool_.acquire();
        build(large.rows, large.slot);
        find_split(large);
    } else if (subtract) {
        large.slot = parent.slot;
        for (std::size_t k = 0; k < n_outputs(); ++k)
            kernels().split.subtract(pool_.cells(large.slot, k), pool_.cells(slot, k), layout_.n_cells());
        find_split(large);
    }
    if (small.splittable) {
        small.slot = slot;
        find_split(small);
    } else {
        pool_.release(slot);
    }
}

// What the leaves' values are made of: sums over all rows that take part.
void JointGrower::sum_leaves(const JointDerivatives& derivatives, Tree& tree) {
    all_sizes_.require_finite();
    const SumUnits units(all_sizes_);
    const RoutedSums sums = sum_by_leaf({.gradients = derivatives.gradients,
                                         .hessian = derivatives.hessian,
                                         .rows = derivatives.rows,
                                         .nobody = derivatives.nobody,
                                         .leaf_of_row = leaf_of_row_},
                                        units, slice_, n_threads_);
    nodes_.assign(n_outputs(), std::vector<NodeSums>(tree.n_nodes(), {.bounds = bounds_of(options_)}));
    for (std::size_t k = 0; k < n_outputs(); ++k) {
        for (std::size_t leaf = 0; leaf < router_.leaves().size(); ++leaf) {
            nodes_[k][router_.leaves()[leaf]].gradient = sums.gradient(leaf, k);
            nodes_[k][router_.leaves()[leaf]].hessian = sums.hessian(leaf);
        }
        add_up(tree, nodes_[k]);
    }
    set_covers(tree, router_.leaves(), sums);
}

std::vector<Tree> JointGrower::with_values(const Tree& tree) {
    std::vector<Tree> trees(n_outputs(), tree);
    steps_.assign(n_outputs(), std::vector<float>(router_.leaves().size(), 0.0f));
    // Without a split there is nothing to predict: the constant was found before the first tree.
    if (tree.n_nodes() == 1) return trees;
    for (std::size_t k = 0; k < n_outputs(); ++k) {
        const std::vector<double> values = smoothed_values(tree, nodes_[k], options_);
        const auto step = [&](NodeIndex node) { return static_cast<float>(values[node] * options_.learning_rate); };
        for (NodeIndex node = 0; node < tree.n_nodes(); ++node)
            trees[k].value[node] = static_cast<double>(step(node)) * units_[k];
        for (std::size_t leaf = 0; leaf < steps_[k].size(); ++leaf) steps_[k][leaf] = step(router_.leaves()[leaf]);
    }
    return trees;
}

void JointGrower::add_predictions(std::size_t output, std::span<float> scores) const {
    require(output < steps_.size(), "There is no tree with an output of this number.");
    require(scores.size() == leaf_of_row_.size(), "There must be one score for each row of the matrix.");
    const std::vector<float>& steps = steps_[output];
    parallel_ranges(scores.size(), kChunk, n_threads_, [&](std::size_t begin, std::size_t end) {
        for (std::size_t row = begin; row < end; ++row) scores[row] += steps[leaf_of_row_[row]];
    });
}

}  // namespace coterie
