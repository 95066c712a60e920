#include "coterie/boosting/grow_tree.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <string>

#include "coterie/base/error.hpp"
#include "coterie/base/parallel.hpp"
#include "coterie/boosting/leaf_quantiles.hpp"
#include "coterie/boosting/rounded_pairs.hpp"
#include "coterie/tree/prune.hpp"

namespace coterie {
namespace {

constexpr std::size_t kExactAnswersBelow = 131'072;  // rows up to which leaves answer from unrounded derivatives
constexpr std::size_t kAnswerChunk = 16'384;
constexpr std::size_t kScoreBlock = 65'536;
constexpr std::size_t kRouteBlock = 1'024;
constexpr std::size_t kMostKeptCodes = 65'536;
constexpr std::size_t kCountedBelow = 65'536;  // rows that the 16 bits of a counted cell can count
constexpr std::size_t kLeavesPerThread = 3;

}  // namespace

TreeGrower::TreeGrower(std::shared_ptr<const BinnedMatrix> matrix, GrowOptions options, int n_threads)
    : matrix_(std::move(matrix)),
      options_(std::move(options)),
      n_threads_(std::max(1, n_threads)),
      layout_(*matrix_),
      histograms_(*matrix_, layout_, n_threads_),
      partition_(*matrix_, n_threads_),
      search_(*matrix_, layout_, options_, partition_),
      router_(*matrix_),
      desks_(1) {
    check_options(options_, matrix_->n_features());
}

Tree TreeGrower::grow(const Derivatives& derivatives, std::uint64_t seed, StopRequest stop, RowSampling sampling,
                      const TableView* values) {
    require(derivatives.gradient.size() == matrix_->n_rows(), "There must be one gradient for each row of the matrix.");
    require(!options_.linear_leaves || values != nullptr, "Linear leaves need the values of the table.");
    row_answers_.clear();
    derivatives_ = derivatives;
    grown_.clear();
    nodes_.clear();
    router_.clear();
    leaf_codes_.clear();
    free_slots_.clear();
    for (int slot = static_cast<int>(slots_.size()) - 1; slot >= 0; --slot) free_slots_.push_back(slot);
    choose_rows(seed, sampling);
    stop.check();

    TreeBuilder builder;
    OpenLeaf root = make_root(builder);
    if (options_.growth == Growth::oblivious)
        grow_oblivious(std::move(root), builder, stop);
    else if (root.split.gain > options_.min_gain)
        grow_leaf_by_leaf(std::move(root), builder, stop);
    else
        finish_leaf(root, builder);
    Tree tree = builder.finish();
    if (options_.leaf_penalty > 0) undo_unworthy_splits(tree);
    answer(tree);
    if (!options_.linear_leaves || tree.n_nodes() == 1) return tree;
    stop.check();
    draw_lines(tree, *values);
    return tree;
}

void TreeGrower::grow_leaf_by_leaf(OpenLeaf root, TreeBuilder& builder, StopRequest& stop) {
    const Later later{options_.growth};
    std::vector<OpenLeaf> open;  // a heap, the next to be split on top
    open.push_back(std::move(root));
    const std::size_t budget = options_.max_leaf_nodes == 0 ? ~std::size_t{0} : options_.max_leaf_nodes;
    for (std::size_t n_leaves = 1; !open.empty() && n_leaves < budget; ++n_leaves) {
        stop.check();
        if (!open.front().children) {
            least_gain_ = least_useful_gain(open, budget - n_leaves);
            prepare(leaves_to_prepare(open, budget - n_leaves), n_leaves + 1 == budget);
        }
        std::ranges::pop_heap(open, later);
        OpenLeaf leaf = std::move(open.back());
        open.pop_back();
        for (OpenLeaf& child : commit(leaf, builder)) {
            if (child.split.gain > options_.min_gain && child.slot >= 0) {
                open.push_back(std::move(child));
                std::ranges::push_heap(open, later);
                continue;
            }
            if (child.slot >= 0) free_slots_.push_back(child.slot);
            finish_leaf(child, builder);
        }
    }
    for (const OpenLeaf& leaf : open) finish_leaf(leaf, builder);
}

// Rounded derivatives of the rows that the tree sees.
void TreeGrower::choose_rows(std::uint64_t seed, const RowSampling& sampling) {
    sampled_ = sampling.method != SamplingMethod::none;
    routes_ = sampled_ || !derivatives_.rows.empty();
    const bool all = !routes_;
    if (!all) draw_rows(derivatives_, sampling, seed, n_threads_, sample_);
    const std::span<const float> gradient = all ? derivatives_.gradient : std::span<const float>(sample_.gradient);
    const std::span<const float> hessian = all ? derivatives_.hessian : std::span<const float>(sample_.hessian);
    if (all) sample_.rows.clear();
    facts_ = {.units = {},
              .seed = seed,
              .noise = 0,
              .counted = gradient.size() < kCountedBelow,
              .flat_hessian = hessian.empty()};
    facts_.units = round_all_pairs(gradient, hessian, facts_.counted, seed, n_threads_, pairs_);
}

OpenLeaf TreeGrower::make_root(TreeBuilder& builder) {
    OpenLeaf root;
    root.node = builder.add_root();
    root.rows = partition_.start(pairs_, sample_.rows);
    root.bounds = bounds_of(options_);
    for (std::uint32_t set = 0; set < options_.interaction_sets.size(); ++set) root.sets.push_back(set);
    root.slot = take_slot();
    Cell* const own = cells(root.slot);
    histograms_.build(partition_.rows(root.rows, facts_.counted), own);
    for (int code = 0; code < matrix_->lanes()[0].n_codes; ++code) root.total += own[code];
    facts_.noise = noise_of_pairs(root.total);
    search_.start(facts_);
    const LeafCells only[] = {{&root, own}};
    if (options_.growth != Growth::oblivious && search_.may_split(root))
        search_.find(only, nullptr, options_.min_gain, desks_[0], n_threads_);
    return root;
}

int TreeGrower::take_slot() {
    if (free_slots_.empty()) {
        slots_.emplace_back(layout_.n_cells() + 8);
        std::fill(slots_.back().end() - 8, slots_.back().end(), Cell{0});
        return static_cast<int>(slots_.size()) - 1;
    }
    const int slot = free_slots_.back();
    free_slots_.pop_back();
    return slot;
}

// What one split gains by chance: squares of the gradients per hessian, in rounded units. Whole numbers, so any order
// of addition gives the same.
double TreeGrower::noise_of_pairs(Cell total) const {
    const auto nominal = [&](const FeatureBins& bins) { return bins.nominal; };
    const bool asked = options_.split_noise > 0 || std::ranges::any_of(matrix_->features(), nominal);
    if (!(facts_.hessian(total) > 0) || !asked) return 0;
    constexpr std::size_t kChunk = 32'768;
    std::vector<std::int64_t> parts((pairs_.size() + kChunk - 1) / kChunk, 0);
    parallel_ranges(pairs_.size(), kChunk, n_threads_, [&](std::size_t begin, std::size_t end) {
        std::int64_t sum = 0;
        for (std::size_t i = begin; i < end; ++i) {
            const std::int32_t gradient = static_cast<std::int16_t>(pairs_[i] >> 16);
            sum += gradient * gradient;
        }
        parts[begin / kChunk] = sum;
    });
    const std::int64_t squares = std::accumulate(parts.begin(), parts.end(), std::int64_t{0});
    return static_cast<double>(squares) / facts_.hessian(total);
}

std::size_t TreeGrower::work_of(const OpenLeaf& leaf) const {
    return leaf.rows.n * matrix_->lanes().size() / 2 + 2 * layout_.n_cells();
}

// Who gains no more than this is never split: as many leaves as there are splits left gain at least as much, and older
// leaves come first.
double TreeGrower::least_useful_gain(std::span<const OpenLeaf> open, std::size_t n_splits_left) const {
    if (options_.growth != Growth::leaf || open.size() < n_splits_left) return options_.min_gain;
    std::vector<double> gains;
    for (const OpenLeaf& leaf : open) gains.push_back(leaf.split.gain);
    const auto last_split = gains.begin() + static_cast<std::ptrdiff_t>(n_splits_left - 1);
    std::ranges::nth_element(gains, last_split, std::greater{});
    return std::max(options_.min_gain, *last_split);
}

// The leaf on top of the heap, and more small ones if a thread each can prepare them. Half of the splits that are left
// are known by now, or nearly so: the best leaves of today.
std::vector<OpenLeaf*> TreeGrower::leaves_to_prepare(std::span<OpenLeaf> open, std::size_t n_splits_left) {
    std::vector<OpenLeaf*> leaves{&open[0]};
    if (n_threads_ == 1 || n_splits_left < 2 || work_of(open[0]) >= kSharedWork) return leaves;
    const Later later{options_.growth};
    std::size_t work = work_of(open[0]);
    for (OpenLeaf& leaf : open.subspan(1))
        if (!leaf.children && work_of(leaf) < kSharedWork) leaves.push_back(&leaf);
    const std::size_t most = std::min(kLeavesPerThread * static_cast<std::size_t>(n_threads_), (n_splits_left + 1) / 2);
    if (leaves.size() > most) {
        std::ranges::nth_element(leaves, leaves.begin() + static_cast<std::ptrdiff_t>(most),
                                 [&](const OpenLeaf* a, const OpenLeaf* b) { return later(*b, *a); });
        leaves.resize(most);
    }
    for (const OpenLeaf* leaf : leaves) work += work_of(*leaf);
    if (work < kBatchWork) return {&open[0]};
    return leaves;
}

// Prepares one leaf with all threads, or several with one thread each. The last split of a tree needs no histograms.
void TreeGrower::prepare(std::span<OpenLeaf* const> leaves, bool last) {
    if (leaves.size() == 1) {
        OpenLeaf& leaf = *leaves[0];
        const int n_threads = work_of(leaf) < kParallelWork ? 1 : n_threads_;
        leaf.children = std::make_unique<std::array<OpenLeaf, 2>>(part(leaf, desks_[0], n_threads));
        const int slot = take_slot();
        if (!last) look_into(leaf, *leaf.children, slot, desks_[0], n_threads);
        give_back(leaf, slot);
        return;
    }
    if (desks_.size() < leaves.size()) desks_.resize(leaves.size());
    std::vector<OpenLeaf*> by_size(leaves.begin(), leaves.end());
    std::ranges::sort(by_size, [](const OpenLeaf* a, const OpenLeaf* b) { return a->rows.n > b->rows.n; });
    std::vector<int> slots;
    for (std::size_t i = 0; i < leaves.size(); ++i) slots.push_back(take_slot());
    parallel_for(by_size.size(), n_threads_, [&](std::size_t i) {
        OpenLeaf& leaf = *by_size[i];
        leaf.children = std::make_unique<std::array<OpenLeaf, 2>>(part(leaf, desks_[i], 1));
        look_into(leaf, *leaf.children, slots[i], desks_[i], 1);
    });
    for (std::size_t i = 0; i < leaves.size(); ++i) give_back(*by_size[i], slots[i]);
}

// The leaf's histogram, and the slot that its children were offered, if they did not take them.
void TreeGrower::give_back(OpenLeaf& leaf, int offered) {
    for (const int slot : {leaf.slot, offered})
        if (std::ranges::none_of(*leaf.children, [&](const OpenLeaf& child) { return child.slot == slot; }))
            free_slots_.push_back(slot);
    leaf.slot = -1;
}

Cell TreeGrower::total_of(const RowRange& rows) const {
    Cell total = 0;
    for (const Record record : partition_.records(rows))
        total += facts_.counted ? widen<true>(pair_of(record)) : widen<false>(pair_of(record));
    return total;
}

// The children with their rows, sums and limits.
std::array<OpenLeaf, 2> TreeGrower::part(const OpenLeaf& leaf, Desk& desk, int n_threads) {
    const Split& split = leaf.split;
    const std::array<RowRange, 2> rows =
        partition_.split(leaf.rows, split.feature, rule_of(split, desk.rule_table), desk.marks, n_threads);
    const Cell left_total = leaf.slot >= 0 ? split.left_total : total_of(rows[0]);
    std::array<OpenLeaf, 2> children;
    for (std::uint32_t side = 0; side < 2; ++side) {
        OpenLeaf& child = children[side];
        child.place = 2 * leaf.place + side;
        child.depth = leaf.depth + 1;
        child.rows = rows[side];
        child.total = side == 0 ? left_total : leaf.total - left_total;
        child.bounds = leaf.bounds;
        for (const std::uint32_t set : leaf.sets) {
            const auto& members = options_.interaction_sets[set];
            if (std::find(members.begin(), members.end(), split.feature) != members.end()) child.sets.push_back(set);
        }
    }
    const int direction = options_.monotone.empty() ? 0 : options_.monotone[split.feature];
    if (direction != 0) {
        // Each side stays on its side of the middle, so that no later split can cross it.
        const auto answer = [&](const OpenLeaf& child) { return answer_of(child.rows.n == 0 ? leaf : child); };
        const double middle = leaf.bounds.clip((answer(children[0]) + answer(children[1])) / 2);
        (direction > 0 ? children[0].bounds.high : children[0].bounds.low) = middle;
        (direction > 0 ? children[1].bounds.low : children[1].bounds.high) = middle;
    }
    return children;
}

// Histograms of the children and their best splits: the smaller child's rows are added up in `free_slot`, the larger
// child keeps what remains of its parent's sums.
void TreeGrower::look_into(OpenLeaf& parent, std::array<OpenLeaf, 2>& children, int free_slot, Desk& desk,
                           int n_threads) {
    OpenLeaf& small = children[children[0].rows.n <= children[1].rows.n ? 0 : 1];
    OpenLeaf& large = &small == &children[0] ? children[1] : children[0];
    const bool small_may = search_.may_split(small);
    const bool large_may = search_.may_split(large);
    if (!small_may && !large_may) return;
    const NodeRows rows = partition_.rows(small.rows, facts_.counted);
    if (!small_may && rows.n * matrix_->lanes().size() < layout_.n_cells()) {
        // Fewer rows than cells, and nobody needs their sums: they are taken from their parent's one by one.
        large.slot = parent.slot;
        histograms_.take_away(rows, cells(large.slot));
        const LeafCells only[] = {{&large, cells(large.slot)}};
        return search_.find(only, nullptr, least_gain_, desk, n_threads);
    }
    // Threads that share few rows meet once: each builds and scans its own tiles.
    const auto build_tile = [&](std::size_t tile) { histograms_.build_tile(rows, tile, cells(free_slot)); };
    const ChunkTask fill(build_tile);
    const bool by_tiles = n_threads > 1 && !histograms_.shares(rows);
    if (n_threads == 1)
        histograms_.build_alone(rows, cells(free_slot));
    else if (!by_tiles)
        histograms_.build(rows, cells(free_slot));
    std::array<LeafCells, 2> wanted{};
    std::size_t n = 0;
    if (large_may) {
        large.slot = parent.slot;
        wanted[n++] = {&large, cells(large.slot)};
    }
    if (small_may) {
        small.slot = free_slot;
        wanted[n++] = {&small, cells(small.slot)};
    }
    search_.find(std::span(wanted).first(n), large_may ? cells(free_slot) : nullptr, least_gain_, desk, n_threads,
                 by_tiles ? &fill : nullptr);
}

std::array<OpenLeaf, 2> TreeGrower::commit(OpenLeaf& leaf, TreeBuilder& builder) {
    const NodeIndex left = builder.split(leaf.node, leaf.split, matrix_->feature(leaf.split.feature));
    if (routes_) router_.add(leaf.node, leaf.split, left);
    builder.set_value(leaf.node, answer_of(leaf) * options_.learning_rate * options_.answer_unit);
    remember(leaf.node, sums_of(leaf));
    builder.set_cover(leaf.node, facts_.hessian(leaf.total) * facts_.units.hessian, leaf.rows.n);
    std::array<OpenLeaf, 2> children = std::move(*leaf.children);
    children[0].node = left;
    children[1].node = left + 1;
    return children;
}

NodeSums TreeGrower::sums_of(const OpenLeaf& leaf) const {
    return {.gradient = facts_.gradient(leaf.total) * facts_.units.gradient,
            .hessian = facts_.hessian(leaf.total) * facts_.units.hessian,
            .bounds = leaf.bounds};
}

NodeSums TreeGrower::exact_sums_of(const OpenLeaf& leaf) const {
    NodeSums sums{.gradient = 0, .hessian = 0, .bounds = leaf.bounds};
    const auto add = [&](RowIndex row) {
        sums.gradient += static_cast<double>(derivatives_.gradient[row]);
        sums.hessian += derivatives_.hessian.empty() ? 1.0 : static_cast<double>(derivatives_.hessian[row]);
    };
    if (leaf.rows.implicit)
        for (RowIndex row = 0; row < leaf.rows.n; ++row) add(row);
    else
        for (const Record record : partition_.records(leaf.rows)) add(row_of(record));
    return sums;
}

void TreeGrower::remember(NodeIndex node, const NodeSums& sums) {
    if (nodes_.size() <= node) nodes_.resize(std::size_t{node} + 1);
    nodes_[node] = sums;
}

void TreeGrower::finish_leaf(const OpenLeaf& leaf, TreeBuilder& builder) {
    // Small tables: the rounded sums chose the split, the unrounded ones give the answer.
    const bool exact = pairs_.size() <= kExactAnswersBelow && leaf.depth > 0 && !sampled_;
    remember(leaf.node, exact ? exact_sums_of(leaf) : sums_of(leaf));
    builder.set_cover(leaf.node, facts_.hessian(leaf.total) * facts_.units.hessian, leaf.rows.n);
    grown_.push_back({.node = leaf.node, .rows = leaf.rows, .answer = 0});
}

// Leaves below an undone split become one, whose rows stay where they are, in several pieces.
void TreeGrower::undo_unworthy_splits(Tree& tree) {
    const auto worthy = worthy_splits(tree, options_.leaf_penalty, options_.growth == Growth::oblivious);
    KeptTree kept = keep_splits(tree, worthy);
    if (kept.tree.n_nodes() == tree.n_nodes()) return;
    add_up(tree, nodes_);
    std::vector<NodeSums> nodes(kept.tree.n_nodes());
    for (auto node = static_cast<NodeIndex>(tree.n_nodes()); node-- > 0;) nodes[kept.place[node]] = nodes_[node];
    nodes_ = std::move(nodes);
    for (Grown& piece : grown_) piece.node = kept.place[piece.node];
    if (routes_) router_.keep(kept.tree, kept.place);
    tree = std::move(kept.tree);
}

// Bounds are about answers before shrinkage, so that comes last.
void TreeGrower::answer(Tree& tree) {
    if (routes_) router_.finish(static_cast<NodeIndex>(tree.n_nodes()));
    // Without a split there is nothing to say: the constant was found before the first tree.
    if (tree.n_nodes() == 1) {
        tree.value[0] = 0;
        return;
    }
    if (sampled_) sum_all_rows(tree);
    std::vector<double> answers;
    if (options_.path_smoothing > 0 || options_.growth == Growth::oblivious) {
        add_up(tree, nodes_);
        answers = smoothed_answers(tree, nodes_, options_);
        for (NodeIndex node = 0; node < tree.n_nodes(); ++node)
            tree.value[node] = answers[node] * options_.learning_rate * options_.answer_unit;
    }
    for (Grown& leaf : grown_) {
        const double step = answers.empty() ? coterie::answer_of(nodes_[leaf.node], options_) : answers[leaf.node];
        leaf.answer = step * options_.learning_rate;
        tree.value[leaf.node] = leaf.answer * options_.answer_unit;
    }
}

// The tree was grown on a sample: every row of the table says what its leaf should answer, and is counted there.
void TreeGrower::sum_all_rows(Tree& tree) {
    struct LeafSums {
        double gradient = 0;
        double hessian = 0;
        std::uint32_t n_rows = 0;
    };
    const std::size_t n_leaves = router_.leaves().size();
    const std::size_t n_rows = matrix_->n_rows();
    const std::size_t n_chunks = (n_rows + kAnswerChunk - 1) / kAnswerChunk;
    std::vector<LeafSums> sums(n_chunks * n_leaves);
    resize_anew(leaf_codes_, n_leaves <= kMostKeptCodes ? n_rows : 0);
    parallel_ranges(n_rows, kAnswerChunk, n_threads_, [&](std::size_t begin, std::size_t end) {
        std::array<std::uint32_t, kRouteBlock> codes;
        LeafSums* const own = sums.data() + begin / kAnswerChunk * n_leaves;
        for (std::size_t block = begin; block < end; block += kRouteBlock) {
            const std::size_t n = std::min(kRouteBlock, end - block);
            router_.route(block, std::span(codes).first(n));
            if (!leaf_codes_.empty())
                for (std::size_t i = 0; i < n; ++i) leaf_codes_[block + i] = static_cast<std::uint16_t>(codes[i]);
            for (std::size_t i = 0; i < n; ++i) {
                LeafSums& leaf = own[codes[i]];
                const float hessian = derivatives_.hessian.empty() ? 1.0f : derivatives_.hessian[block + i];
                leaf.gradient += static_cast<double>(derivatives_.gradient[block + i]);
                leaf.hessian += static_cast<double>(hessian);
                leaf.n_rows += hessian > 0;
            }
        }
    });
    for (std::size_t chunk = 1; chunk < n_chunks; ++chunk)
        for (std::size_t leaf = 0; leaf < n_leaves; ++leaf) {
            const LeafSums& part = sums[chunk * n_leaves + leaf];
            sums[leaf].gradient += part.gradient;
            sums[leaf].hessian += part.hessian;
            sums[leaf].n_rows += part.n_rows;
        }
    for (std::size_t i = 0; i < n_leaves; ++i) {
        const NodeIndex node = router_.leaves()[i];
        nodes_[node].gradient = sums[i].gradient;
        nodes_[node].hessian = sums[i].hessian;
        tree.cover[node] = sums[i].hessian;
        tree.n_rows[node] = sums[i].n_rows;
    }
    for (NodeIndex node = static_cast<NodeIndex>(tree.n_nodes()); node-- > 0;) {
        if (tree.is_leaf(node)) continue;
        const NodeIndex left = tree.left[node];
        tree.cover[node] = tree.cover[left] + tree.cover[left + 1];
        tree.n_rows[node] = tree.n_rows[left] + tree.n_rows[left + 1];
    }
}

// The leaf of each row, also of those that took no part.
Buffer<NodeIndex> TreeGrower::leaves_of_rows() const {
    Buffer<NodeIndex> leaves(matrix_->n_rows());
    if (!routes_) {
        for (const Grown& leaf : grown_)
            for (const Record record : partition_.records(leaf.rows)) leaves[row_of(record)] = leaf.node;
        return leaves;
    }
    parallel_ranges(leaves.size(), kAnswerChunk, n_threads_, [&](std::size_t begin, std::size_t end) {
        const std::span<std::uint32_t> own(leaves.data() + begin, end - begin);
        router_.route(begin, own);
        for (std::uint32_t& code : own) code = router_.leaves()[code];
    });
    return leaves;
}

void TreeGrower::draw_lines(Tree& tree, const TableView& values) {
    require(values.n_rows == matrix_->n_rows() && values.columns.size() == matrix_->n_features(),
            "The values do not have the rows and features of the matrix.");
    const Buffer<NodeIndex> leaves = leaves_of_rows();
    Buffer<RowIndex> every_row(leaves.size());
    std::iota(every_row.begin(), every_row.end(), RowIndex{0});
    const LeafRows all = rows_by_leaf(tree.n_nodes(), leaves, every_row);
    // Lines come from the rows that the constant answers come from: of a sampled tree all, else those that took part.
    const bool from_all = sampled_ || derivatives_.rows.empty();
    const LeafRows taking_part = from_all ? LeafRows{} : rows_by_leaf(tree.n_nodes(), leaves, derivatives_.rows);
    tree.linear = linear_leaves({.tree = tree,
                                 .values = values,
                                 .derivatives = derivatives_,
                                 .rows = from_all ? all : taking_part,
                                 .nodes = nodes_,
                                 .options = options_},
                                n_threads_);
    if (tree.linear.empty()) return;
    Buffer<double> answers(leaves.size());
    linear_answers(tree, values, all, n_threads_, answers);
    resize_anew(row_answers_, leaves.size());
    for (std::size_t row = 0; row < answers.size(); ++row)
        row_answers_[row] = static_cast<float>(answers[row] / options_.answer_unit);
}

void TreeGrower::add_answers_by_route(std::span<float> scores) const {
    std::vector<float> by_node(nodes_.size());
    for (const Grown& leaf : grown_) by_node[leaf.node] = static_cast<float>(leaf.answer);
    std::vector<float> answers;
    for (const NodeIndex leaf : router_.leaves()) answers.push_back(by_node[leaf]);
    parallel_ranges(scores.size(), kAnswerChunk, n_threads_, [&](std::size_t begin, std::size_t end) {
        if (!leaf_codes_.empty()) {
            for (std::size_t row = begin; row < end; ++row) scores[row] += answers[leaf_codes_[row]];
            return;
        }
        std::array<std::uint32_t, kRouteBlock> codes;
        for (std::size_t block = begin; block < end; block += kRouteBlock) {
            const std::size_t n = std::min(kRouteBlock, end - block);
            router_.route(block, std::span(codes).first(n));
            for (std::size_t i = 0; i < n; ++i) scores[block + i] += answers[codes[i]];
        }
    });
}

void TreeGrower::answer_with_quantile(Tree& tree, std::span<const float> residual, std::span<const float> weight,
                                      double level) {
    const std::size_t n_rows = matrix_->n_rows();
    require(residual.size() == n_rows && (weight.empty() || weight.size() == n_rows),
            "There must be one residual, and one weight or none, for each row of the matrix.");
    require(level > 0 && level < 1, "The level of a quantile must be between 0 and 1.");
    require(!options_.linear_leaves, "Linear leaves cannot answer with quantiles.");
    require(
        !grown_.empty() && std::ranges::all_of(grown_, [&](const Grown& leaf) { return leaf.node < tree.n_nodes(); }),
        "Only the tree grown last can be refined.");
    if (tree.n_nodes() == 1) return;  // nothing was found, and nothing is said
    LeafResiduals residuals{.by_node = std::vector<std::vector<Weighed>>(tree.n_nodes()), .equal = weight.empty()};
    const auto add = [&](NodeIndex leaf, RowIndex row) {
        const float count = weight.empty() ? 1.0f : weight[row];
        if (count > 0) residuals.by_node[leaf].push_back({residual[row], count});
    };
    if (sampled_) {
        std::array<std::uint32_t, kRouteBlock> codes;
        for (std::size_t block = 0; block < n_rows; block += kRouteBlock) {
            const std::size_t n = std::min(kRouteBlock, n_rows - block);
            router_.route(block, std::span(codes).first(n));
            for (std::size_t i = 0; i < n; ++i) add(router_.leaves()[codes[i]], static_cast<RowIndex>(block + i));
        }
    } else {
        for (const Grown& leaf : grown_) {
            residuals.by_node[leaf.node].reserve(leaf.rows.n);
            for (const Record record : partition_.records(leaf.rows)) add(leaf.node, row_of(record));
        }
    }
    const std::vector<double> answers = answer_quantiles(tree, std::move(residuals), level, options_, n_threads_);
    for (Grown& leaf : grown_) {
        leaf.answer = answers[leaf.node] * options_.learning_rate;
        tree.value[leaf.node] = leaf.answer * options_.answer_unit;
    }
}

void TreeGrower::add_answers(std::span<float> scores) const {
    require(scores.size() == matrix_->n_rows(), "There must be one score for each row of the matrix.");
    if (!row_answers_.empty()) {
        for (std::size_t row = 0; row < scores.size(); ++row) scores[row] += row_answers_[row];
        return;
    }
    if (routes_) return add_answers_by_route(scores);
    // Block by block of rows, which leaves hold in ascending order: the scores of a block stay in the cache of one
    // core.
    parallel_ranges(scores.size(), kScoreBlock, n_threads_, [&](std::size_t begin, std::size_t end) {
        for (const Grown& leaf : grown_) {
            const auto answer = static_cast<float>(leaf.answer);
            if (leaf.rows.implicit) {
                for (std::size_t row = begin; row < end; ++row) scores[row] += answer;
                continue;
            }
            const std::span<const Record> records = partition_.records(leaf.rows);
            auto record = begin == 0 ? records.begin() : std::ranges::lower_bound(records, begin, {}, row_of);
            for (; record != records.end() && row_of(*record) < end; ++record) scores[row_of(*record)] += answer;
        }
    });
}

}  // namespace coterie
