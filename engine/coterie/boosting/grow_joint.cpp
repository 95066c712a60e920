#include "coterie/boosting/grow_joint.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "coterie/base/error.hpp"
#include "coterie/base/parallel.hpp"
#include "coterie/boosting/rounded_pairs.hpp"
#include "coterie/tree/prune.hpp"

namespace coterie {
namespace {

constexpr std::size_t kChunk = 16'384;
constexpr std::size_t kRouteBlock = 1'024;
constexpr std::size_t kCountedBelow = 65'536;  // rows that the 16 bits of a counted cell can count
constexpr std::size_t kParallelWork = 60'000;  // updates of histograms below which threads do not pay
constexpr std::size_t kSlack = 8;

std::int64_t gradient_of(Pair pair) { return static_cast<std::int16_t>(pair >> 16); }

// Whole numbers, so any order of addition gives the same.
double product_sum(std::span<const Pair> a, std::span<const Pair> b, int n_threads) {
    std::vector<std::int64_t> parts((a.size() + kChunk - 1) / kChunk, 0);
    parallel_ranges(a.size(), kChunk, n_threads, [&](std::size_t begin, std::size_t end) {
        std::int64_t sum = 0;
        for (std::size_t i = begin; i < end; ++i) sum += gradient_of(a[i]) * gradient_of(b[i]);
        parts[begin / kChunk] = sum;
    });
    return static_cast<double>(std::accumulate(parts.begin(), parts.end(), std::int64_t{0}));
}

}  // namespace

JointGrower::JointGrower(std::shared_ptr<const BinnedMatrix> matrix, GrowOptions options, std::vector<double> units,
                         int n_threads)
    : matrix_(std::move(matrix)),
      options_(std::move(options)),
      units_(std::move(units)),
      n_threads_(std::max(1, n_threads)),
      layout_(*matrix_),
      histograms_(*matrix_, layout_, n_threads_),
      partition_(*matrix_, n_threads_),
      search_(*matrix_, layout_, options_, partition_),
      router_(*matrix_) {
    check_options(options_, matrix_->n_features());
    require(!units_.empty() && units_.size() < 65'536, "A joint tree has at least one output, and fewer than 65536.");
    for (const double unit : units_) require(std::isfinite(unit), "The units of answers must be finite numbers.");
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
    router_.clear();
    free_slots_.clear();
    for (int slot = static_cast<int>(slots_.size()) - 1; slot >= 0; --slot) free_slots_.push_back(slot);
    choose_rows(derivatives, seed, sampling);
    stop.check();
    TreeBuilder builder;
    Tree tree = grow_splits(builder, stop);
    route();
    sum_leaves(derivatives, tree);
    return answer(tree);
}

Tree JointGrower::grow_splits(TreeBuilder& builder, StopRequest& stop) {
    const auto later = [order = Later{options_.growth}](const Leaf& a, const Leaf& b) {
        return order(a.common, b.common);
    };
    std::vector<Leaf> open;  // a heap, the next to be split on top
    const auto offer = [&](Leaf leaf) {
        if (leaf.common.slot < 0) return;
        if (!(leaf.common.split.gain > options_.min_gain)) return free_slots_.push_back(leaf.common.slot);
        open.push_back(std::move(leaf));
        std::ranges::push_heap(open, later);
    };
    offer(make_root(builder));
    const std::size_t budget = options_.max_leaf_nodes == 0 ? ~std::size_t{0} : options_.max_leaf_nodes;
    for (std::size_t n_leaves = 1; !open.empty() && n_leaves < budget; ++n_leaves) {
        stop.check();
        std::ranges::pop_heap(open, later);
        Leaf leaf = std::move(open.back());
        open.pop_back();
        for (Leaf& child : split(leaf, builder, n_leaves + 1 == budget)) offer(std::move(child));
    }
    Tree tree = builder.finish();
    if (options_.leaf_penalty > 0) {
        KeptTree kept = keep_splits(tree, worthy_splits(tree, options_.leaf_penalty, false));
        if (kept.tree.n_nodes() < tree.n_nodes()) {
            router_.keep(kept.tree, kept.place);
            tree = std::move(kept.tree);
        }
    }
    router_.finish(static_cast<NodeIndex>(tree.n_nodes()));
    return tree;
}

// Rounded derivatives of the rows that the tree sees.
void JointGrower::choose_rows(const JointDerivatives& derivatives, std::uint64_t seed, const RowSampling& sampling) {
    const bool all = sampling.method == SamplingMethod::none && derivatives.rows.empty();
    sample_.rows.clear();
    if (!all) draw(derivatives, seed, sampling);
    std::vector<std::span<const float>> gradients = derivatives.gradients;
    if (!all) std::ranges::copy(drawn_gradients_, gradients.begin());
    const std::span<const float> hessian = all ? derivatives.hessian : std::span<const float>(sample_.hessian);
    facts_ = {.units = {},
              .seed = seed,
              .noise = 0,
              .counted = gradients[0].size() < kCountedBelow,
              .flat_hessian = hessian.empty()};
    facts_.units = round_joint_pairs(gradients, hessian, facts_.counted, seed, n_threads_, pairs_);
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
    draw_rows({.gradient = size, .hessian = derivatives.hessian, .rows = derivatives.rows}, sampling, seed, n_threads_,
              sample_);
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

// Levels that one output sorts by chance part another output's rows as far as the two go together: by the square of
// their correlation.
void JointGrower::find_chances(Cell total) {
    const double hessian = facts_.hessian(total);
    const bool nominal = std::ranges::any_of(matrix_->features(), [](const FeatureBins& bins) { return bins.nominal; });
    level_costs_.assign(n_outputs(), 0.0);
    facts_.noise = 0;
    if (!(hessian > 0) || !(options_.split_noise > 0 || nominal)) return;
    double all_squares = 0;
    for (std::size_t k = 0; k < n_outputs(); ++k) {
        const double squares = product_sum(pairs_[k], pairs_[k], n_threads_);
        all_squares += squares;
        if (!nominal || !(squares > 0)) continue;
        double shared = 0;
        for (std::size_t j = 0; j < n_outputs(); ++j) {
            const double products = j == k ? squares : product_sum(pairs_[k], pairs_[j], n_threads_);
            shared += products / squares * products;
        }
        level_costs_[k] = shared / hessian;
    }
    facts_.noise = all_squares / hessian / static_cast<double>(n_outputs());
}

JointGrower::Leaf JointGrower::make_root(TreeBuilder& builder) {
    Leaf root;
    root.common.node = builder.add_root();
    root.common.rows = partition_.start(pairs_[0], sample_.rows);
    root.common.bounds = bounds_of(options_);
    for (std::uint32_t set = 0; set < options_.interaction_sets.size(); ++set) root.common.sets.push_back(set);
    root.common.slot = take_slot();
    build(root.common.rows, root.common.slot);
    for (std::size_t k = 0; k < n_outputs(); ++k) {
        const Cell* const own = cells(root.common.slot, k);
        root.totals.push_back(std::accumulate(own, own + matrix_->lanes()[0].n_codes, Cell{0}));
    }
    root.common.total = root.totals[0];
    find_chances(root.common.total);
    search_.start(facts_);
    if (search_.may_split(root.common)) find_split(root);
    return root;
}

int JointGrower::take_slot() {
    if (free_slots_.empty()) {
        slots_.emplace_back(n_outputs() * (layout_.n_cells() + kSlack));
        std::ranges::fill(slots_.back(), Cell{0});
        return static_cast<int>(slots_.size()) - 1;
    }
    const int slot = free_slots_.back();
    free_slots_.pop_back();
    return slot;
}

int JointGrower::threads_for(const Leaf& leaf) const {
    const std::size_t work = leaf.common.rows.n * matrix_->lanes().size() / 2 + 2 * layout_.n_cells();
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

void JointGrower::build(const RowRange& range, int slot) {
    for (std::size_t k = 0; k < n_outputs(); ++k) histograms_.build(rows_of(range, k), cells(slot, k));
}

void JointGrower::find_split(Leaf& leaf) {
    std::vector<OpenLeaf> views(n_outputs());
    std::vector<LeafCells> outputs;
    for (std::size_t k = 0; k < n_outputs(); ++k) {
        views[k].rows = leaf.common.rows;
        views[k].bounds = leaf.common.bounds;
        views[k].total = leaf.totals[k];
        outputs.push_back({&views[k], cells(leaf.common.slot, k)});
    }
    leaf.common.split =
        search_.find_shared({.leaves = outputs, .first = leaf.common, .sorters = outputs, .level_costs = level_costs_},
                            desk_, threads_for(leaf));
}

std::array<JointGrower::Leaf, 2> JointGrower::split(Leaf& leaf, TreeBuilder& builder, bool last) {
    OpenLeaf& parent = leaf.common;
    const NodeIndex first = builder.split(parent.node, parent.split, matrix_->feature(parent.split.feature));
    router_.add(parent.node, parent.split, first);
    const BinRule rule = rule_of(parent.split, desk_.rule_table);
    const auto rows = partition_.split(parent.rows, parent.split.feature, rule, desk_.marks, threads_for(leaf));
    std::array<Leaf, 2> children;
    for (std::uint32_t side = 0; side < 2; ++side) {
        OpenLeaf& child = children[side].common;
        child.node = first + side;
        child.place = 2 * parent.place + side;
        child.depth = parent.depth + 1;
        child.rows = rows[side];
        child.bounds = parent.bounds;
        for (const std::uint32_t set : parent.sets)
            if (std::ranges::count(options_.interaction_sets[set], parent.split.feature)) child.sets.push_back(set);
    }
    for (std::size_t k = 0; k < n_outputs(); ++k) {
        OpenLeaf view;
        view.total = leaf.totals[k];
        view.bounds = parent.bounds;
        const Cell left = search_.own_part(parent.split, {&view, cells(parent.slot, k)}).left_total;
        children[0].totals.push_back(left);
        children[1].totals.push_back(leaf.totals[k] - left);
    }
    for (Leaf& child : children) child.common.total = child.totals[0];
    if (!last) add_up_children(leaf, children);
    if (std::ranges::none_of(children, [&](const Leaf& child) { return child.common.slot == parent.slot; }))
        free_slots_.push_back(parent.slot);
    return children;
}

// Histograms of the children that may be split, and their best splits.
void JointGrower::add_up_children(Leaf& parent, std::array<Leaf, 2>& children) {
    Leaf& small = children[children[0].common.rows.n <= children[1].common.rows.n ? 0 : 1];
    Leaf& large = &small == &children[0] ? children[1] : children[0];
    const bool small_may = search_.may_split(small.common);
    const bool large_may = search_.may_split(large.common);
    if (!small_may && !large_may) return;
    const int slot = take_slot();
    build(small.common.rows, slot);
    if (large_may) {
        large.common.slot = parent.common.slot;
        for (std::size_t k = 0; k < n_outputs(); ++k)
            kernels().split.subtract(cells(large.common.slot, k), cells(slot, k), layout_.n_cells());
        find_split(large);
    }
    if (small_may) {
        small.common.slot = slot;
        find_split(small);
    } else {
        free_slots_.push_back(slot);
    }
}

void JointGrower::route() {
    resize_anew(codes_, matrix_->n_rows());
    parallel_ranges(codes_.size(), kRouteBlock, n_threads_, [&](std::size_t begin, std::size_t end) {
        router_.route(begin, std::span(codes_).subspan(begin, end - begin));
    });
}

// What the leaves' answers are made of: sums over all rows that take part, in chunks, so that threads do not matter.
void JointGrower::sum_leaves(const JointDerivatives& derivatives, Tree& tree) {
    const std::size_t n_leaves = router_.leaves().size();
    const std::size_t width = n_outputs() + 2;  // gradients, hessian, rows
    const std::size_t n_rows = derivatives.rows.empty() ? matrix_->n_rows() : derivatives.rows.size();
    const std::size_t n_chunks = std::max<std::size_t>(1, (n_rows + kChunk - 1) / kChunk);
    std::vector<double> sums(n_chunks * n_leaves * width);
    parallel_ranges(n_rows, kChunk, n_threads_, [&](std::size_t begin, std::size_t end) {
        double* const own = sums.data() + begin / kChunk * n_leaves * width;
        for (std::size_t i = begin; i < end; ++i) {
            const std::size_t row = derivatives.rows.empty() ? i : derivatives.rows[i];
            double* const leaf = own + codes_[row] * width;
            const double hessian = derivatives.hessian.empty() ? 1.0 : static_cast<double>(derivatives.hessian[row]);
            for (std::size_t k = 0; k < n_outputs(); ++k) leaf[k] += static_cast<double>(derivatives.gradients[k][row]);
            leaf[width - 2] += hessian;
            leaf[width - 1] += hessian > 0;
        }
    });
    for (std::size_t i = n_leaves * width; i < sums.size(); ++i) sums[i % (n_leaves * width)] += sums[i];
    nodes_.assign(n_outputs(), std::vector<NodeSums>(tree.n_nodes(), {.bounds = bounds_of(options_)}));
    for (std::size_t number = 0; number < n_leaves; ++number) {
        const NodeIndex node = router_.leaves()[number];
        const double* const leaf = sums.data() + number * width;
        tree.cover[node] = leaf[width - 2];
        tree.n_rows[node] = static_cast<std::uint32_t>(leaf[width - 1]);
        for (std::size_t k = 0; k < n_outputs(); ++k) {
            nodes_[k][node].gradient = leaf[k];
            nodes_[k][node].hessian = leaf[width - 2];
        }
    }
    for (auto node = static_cast<NodeIndex>(tree.n_nodes()); node-- > 0;) {
        if (tree.is_leaf(node)) continue;
        const NodeIndex left = tree.left[node];
        tree.cover[node] = tree.cover[left] + tree.cover[left + 1];
        tree.n_rows[node] = tree.n_rows[left] + tree.n_rows[left + 1];
    }
    for (auto& nodes : nodes_) add_up(tree, nodes);
}

std::vector<Tree> JointGrower::answer(const Tree& tree) {
    std::vector<Tree> trees(n_outputs(), tree);
    answers_.assign(n_outputs(), std::vector<float>(router_.leaves().size(), 0.0f));
    // Without a split there is nothing to say: the constant was found before the first tree.
    if (tree.n_nodes() == 1) return trees;
    for (std::size_t k = 0; k < n_outputs(); ++k) {
        const std::vector<double> steps = smoothed_answers(tree, nodes_[k], options_);
        const auto answer = [&](NodeIndex node) { return static_cast<float>(steps[node] * options_.learning_rate); };
        for (NodeIndex node = 0; node < tree.n_nodes(); ++node)
            trees[k].value[node] = static_cast<double>(answer(node)) * units_[k];
        for (std::size_t number = 0; number < answers_[k].size(); ++number)
            answers_[k][number] = answer(router_.leaves()[number]);
    }
    return trees;
}

void JointGrower::add_answers(std::size_t output, std::span<float> scores) const {
    require(output < answers_.size(), "There is no tree with an output of this number.");
    require(scores.size() == codes_.size(), "There must be one score for each row of the matrix.");
    const std::vector<float>& answers = answers_[output];
    parallel_ranges(scores.size(), kChunk, n_threads_, [&](std::size_t begin, std::size_t end) {
        for (std::size_t row = begin; row < end; ++row) scores[row] += answers[codes_[row]];
    });
}

}  // namespace coterie
