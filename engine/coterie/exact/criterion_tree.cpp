#include "coterie/exact/criterion_tree.hpp"

#include <algorithm>
#include <cmath>
#include <concepts>
#include <numeric>
#include <queue>
#include <string>
#include <utility>

#include "coterie/base/buffer.hpp"
#include "coterie/base/error.hpp"
#include "coterie/base/parallel.hpp"
#include "coterie/base/random.hpp"
#include "coterie/exact/criterion_split.hpp"

namespace coterie {
namespace criterion {
namespace {

constexpr std::size_t kSubtreeWork = std::size_t{1} << 17;  // row-features below which a subtree has one thread
constexpr std::size_t kSubtreesAtOnce = 16;                 // Ctrl-C is seen between them

template <class F>
concept CriterionFrontier = requires(F frontier, OpenNode node) {
    frontier.push(std::move(node));
    { frontier.pop() } -> std::same_as<OpenNode>;
    { frontier.empty() } -> std::same_as<bool>;
};

class DepthFirst {
public:
    void push(OpenNode node) { nodes_.push_back(std::move(node)); }
    OpenNode pop() {
        OpenNode node = std::move(nodes_.back());
        nodes_.pop_back();
        return node;
    }
    bool empty() const { return nodes_.empty(); }

private:
    std::vector<OpenNode> nodes_;
};

class BestFirst {
public:
    void push(OpenNode node) {
        nodes_.push_back(std::move(node));
        std::push_heap(nodes_.begin(), nodes_.end(), comes_later);
    }
    OpenNode pop() {
        std::pop_heap(nodes_.begin(), nodes_.end(), comes_later);
        OpenNode node = std::move(nodes_.back());
        nodes_.pop_back();
        return node;
    }
    bool empty() const { return nodes_.empty(); }

private:
    static bool comes_later(const OpenNode& a, const OpenNode& b) {
        return a.gain != b.gain ? a.gain < b.gain : a.node > b.node;
    }
    std::vector<OpenNode> nodes_;
};
static_assert(CriterionFrontier<DepthFirst> && CriterionFrontier<BestFirst>);

NodeIndex add_leaf(Tree& tree, const OpenNode& open, bool bounded, bool two_classes) {
    const auto node = static_cast<NodeIndex>(tree.n_nodes());
    tree.feature.push_back(kLeaf);
    tree.threshold.push_back(0.0);
    tree.levels.push_back(-1);
    tree.missing_left.push_back(0);
    tree.left.push_back(0);
    tree.gain.push_back(0.0);
    tree.cover.push_back(open.summary.weight);
    tree.n_rows.push_back(static_cast<std::uint32_t>(open.n_rows()));
    tree.impurity.push_back(open.summary.impurity);
    tree.value.insert(tree.value.end(), open.summary.value.begin(), open.summary.value.end());
    if (bounded) {
        double* value = tree.value.data() + std::size_t{node} * tree.n_outputs;
        value[0] = std::clamp(value[0], open.lower, open.upper);
        if (two_classes) value[1] = 1.0 - value[0];
    }
    return node;
}

void write_split(Tree& tree, const OpenNode& open, bool nominal) {
    tree.feature[open.node] = static_cast<std::int32_t>(open.feature);
    tree.missing_left[open.node] = open.split.missing_left;
    tree.gain[open.node] = open.gain;
    if (!nominal) {
        tree.threshold[open.node] = open.split.threshold;
        return;
    }
    tree.levels[open.node] = static_cast<std::int32_t>(tree.level_bits.size() / 4);
    tree.level_bits.insert(tree.level_bits.end(), open.split.left_levels.begin(), open.split.left_levels.end());
}

struct Children {
    OpenNode left;
    OpenNode right;
};

// The bounds of the children meet halfway between their values when the feature is constrained.
Children children_of(OpenNode& parent, int monotone) {
    Children children;
    const auto inherit = [&](OpenNode& child, std::uint64_t side, NodeSummary& summary) {
        child.depth = parent.depth + 1;
        child.path = mix(parent.path + side * 0x9e3779b97f4a7c15ull);
        child.lower = parent.lower;
        child.upper = parent.upper;
        child.constant = parent.constant;
        child.summary = std::move(summary);
    };
    const double middle = monotone == 0 ? 0.0 : (parent.left.value[0] + parent.right.value[0]) / 2;
    inherit(children.left, 1, parent.left);
    inherit(children.right, 2, parent.right);
    children.left.begin = parent.begin;
    children.left.end = children.right.begin = parent.middle;
    children.right.end = parent.end;
    if (monotone > 0) children.left.upper = children.right.lower = middle;
    if (monotone < 0) children.left.lower = children.right.upper = middle;
    return children;
}

// Grows from one searched node. Nodes for which `defer` is true are left as leaves, for the caller.
template <CriterionFrontier Frontier, class Defer>
class Grower {
public:
    Grower(Training& training, int n_threads, Defer defer, StopRequest& stop)
        : training_(training), search_(training, n_threads), defer_(defer), stop_(stop) {}

    Tree grow(OpenNode root) {
        tree_.n_outputs = static_cast<std::uint32_t>(root.summary.value.size());
        open(std::move(root));
        const std::size_t max_leaves = training_.options.max_leaves;
        for (std::size_t n_leaves = 1; !frontier_.empty() && (max_leaves == 0 || n_leaves < max_leaves); ++n_leaves)
            expand(frontier_.pop());
        return std::move(tree_);
    }

private:
    void expand(OpenNode parent) {
        stop_.check();
        write_split(tree_, parent, training_.table.features[parent.feature]->nominal);
        const auto& monotone = training_.options.monotone;
        auto [left, right] = children_of(parent, monotone.empty() ? 0 : monotone[parent.feature]);
        for (const std::uint32_t set : parent.sets)
            if (std::ranges::count(training_.options.interaction_sets[set], parent.feature) > 0)
                left.sets.push_back(set);
        right.sets = left.sets;
        tree_.left[parent.node] = add(left);
        add(right);
        enqueue(std::move(right));
        enqueue(std::move(left));
    }

    void open(OpenNode root) {
        add(root);
        enqueue(std::move(root));
    }

    NodeIndex add(OpenNode& node) {
        const bool two_classes = training_.targets.are_classes() && tree_.n_outputs == 2;
        return node.node = add_leaf(tree_, node, !training_.options.monotone.empty(), two_classes);
    }

    void enqueue(OpenNode node) {
        if (defer_(node)) return;
        search_.search(node, stop_);
        if (node.splits) frontier_.push(std::move(node));
    }

    Training& training_;
    NodeSearch search_;
    Defer defer_;
    StopRequest& stop_;
    Frontier frontier_;
    Tree tree_;
};

// Puts a subtree in the place of a leaf of the tree.
void graft(Tree& tree, NodeIndex leaf, const Tree& subtree) {
    const auto offset = static_cast<NodeIndex>(tree.n_nodes() - 1);  // node 1 of the subtree comes next
    const auto set_offset = static_cast<std::int32_t>(tree.level_bits.size() / 4);
    const auto append = [](auto& to, const auto& from, std::size_t skip) {
        to.insert(to.end(), from.begin() + static_cast<std::ptrdiff_t>(skip), from.end());
    };
    const auto moved_left = [&](NodeIndex node) { return subtree.is_leaf(node) ? 0 : subtree.left[node] + offset; };
    const auto moved_set = [&](NodeIndex node) {
        return subtree.levels[node] < 0 ? -1 : subtree.levels[node] + set_offset;
    };
    tree.feature[leaf] = subtree.feature[0];
    tree.threshold[leaf] = subtree.threshold[0];
    tree.levels[leaf] = moved_set(0);
    tree.missing_left[leaf] = subtree.missing_left[0];
    tree.left[leaf] = moved_left(0);
    tree.gain[leaf] = subtree.gain[0];
    for (NodeIndex node = 1; node < subtree.n_nodes(); ++node) {
        tree.left.push_back(moved_left(node));
        tree.levels.push_back(moved_set(node));
    }
    append(tree.feature, subtree.feature, 1);
    append(tree.threshold, subtree.threshold, 1);
    append(tree.missing_left, subtree.missing_left, 1);
    append(tree.gain, subtree.gain, 1);
    append(tree.cover, subtree.cover, 1);
    append(tree.n_rows, subtree.n_rows, 1);
    append(tree.impurity, subtree.impurity, 1);
    append(tree.value, subtree.value, subtree.n_outputs);
    append(tree.level_bits, subtree.level_bits, 0);
}

/// The rows of a subtree side by side, in their order: its nodes read the same codes and targets from near memory.
class Subtree {
public:
    Subtree(const Training& training, const OpenNode& node)
        : codes_(training.table.size() * node.n_rows()),
          training_{.table = columns_,
                    .targets = targets_,
                    .options = training.options,
                    .shift = training.shift,
                    .total_weight = training.total_weight,
                    .rows = std::vector<RowIndex>(node.n_rows()),
                    .twin = std::vector<RowIndex>(node.n_rows())} {
        const std::size_t n = node.n_rows();
        const std::span<const RowIndex> rows(training.rows.data() + node.begin, n);
        columns_.features = training.table.features;
        for (std::size_t feature = 0; feature < training.table.size(); ++feature) {
            Code* const own = codes_.data() + feature * n;
            for (std::size_t i = 0; i < n; ++i) own[i] = training.table.codes[feature][rows[i]];
            columns_.codes.push_back({own, n});
        }
        const std::size_t n_outputs = targets_.n_outputs = training.targets.n_outputs;
        targets_.n_classes = training.targets.n_classes;
        for (const RowIndex row : rows) {
            const double* const value = training.targets.value.data() + row * n_outputs;
            targets_.value.insert(targets_.value.end(), value, value + n_outputs);
            targets_.weight.push_back(training.targets.weight[row]);
        }
        std::iota(training_.rows.begin(), training_.rows.end(), RowIndex{0});
        const CriterionOptions& options = training.options;
        const std::size_t n_features = columns_.features.size();
        const bool looks_at_most = 2 * options.max_features >= n_features || options.max_features == 0;
        if (options.random_splits && looks_at_most && make_feature_search(options.criterion, targets_)->draws_all())
            training_.values = RowValues(columns_.features, codes_, n);
    }
    Subtree(const Subtree&) = delete;

    Tree grow(OpenNode node) {
        const auto never = [](const OpenNode&) { return false; };
        StopRequest nobody;
        node.end -= node.begin;
        node.begin = 0;
        return Grower<DepthFirst, decltype(never)>(training_, 1, never, nobody).grow(std::move(node));
    }

private:
    CodeColumns columns_;
    Buffer<Code> codes_;
    Targets targets_;
    Training training_;
};

Tree grow_depth_first(Training& training, OpenNode root, StopRequest& stop) {
    const int n_threads = training.options.n_threads;
    const std::size_t n_features = training.table.size();
    std::vector<OpenNode> deferred;
    const auto defer = [&](const OpenNode& node) {
        const bool small = node.n_rows() * n_features <= kSubtreeWork;
        if (small) deferred.push_back(node);
        return small;
    };
    Tree tree = Grower<DepthFirst, decltype(defer)>(training, n_threads, defer, stop).grow(std::move(root));
    std::vector<Tree> subtrees(kSubtreesAtOnce);
    for (std::size_t first = 0; first < deferred.size(); first += kSubtreesAtOnce) {
        stop.check();
        const std::size_t n = std::min(kSubtreesAtOnce, deferred.size() - first);
        parallel_for(n, n_threads, [&](std::size_t i) {
            subtrees[i] = Subtree(training, deferred[first + i]).grow(deferred[first + i]);
        });
        for (std::size_t i = 0; i < n; ++i) graft(tree, deferred[first + i].node, subtrees[i]);
    }
    return tree;
}

Tree grow_best_first(Training& training, OpenNode root, StopRequest& stop) {
    const auto never = [](const OpenNode&) { return false; };
    return Grower<BestFirst, decltype(never)>(training, training.options.n_threads, never, stop).grow(std::move(root));
}

void check_targets(const TableView& table, const TargetView& view) {
    require(view.n_outputs > 0, "A tree needs at least one output.");
    require(view.value.size() == table.n_rows * view.n_outputs,
            "There are " + std::to_string(table.n_rows) + " rows and " + std::to_string(view.n_outputs) +
                " outputs, but " + std::to_string(view.value.size()) + " targets.");
    require(
        view.weight.empty() || view.weight.size() == table.n_rows,
        "There are " + std::to_string(table.n_rows) + " rows but " + std::to_string(view.weight.size()) + " weights.");
    require(view.n_classes.empty() || view.n_classes.size() == view.n_outputs,
            "Each output needs its number of classes.");
    for (std::size_t i = 0; i < view.value.size(); ++i) {
        const double value = view.value[i];
        if (view.n_classes.empty()) {
            require(std::isfinite(value), "A target is not a finite number.");
            continue;
        }
        const std::int32_t n_classes = view.n_classes[i % view.n_outputs];
        require(value >= 0 && value < n_classes && value == std::floor(value),
                "A target is " + std::to_string(value) + ", which is not one of " + std::to_string(n_classes) +
                    " classes.");
    }
}

void check_options(const TableView& table, const TargetView& view, const CriterionOptions& options) {
    require(options.min_rows_leaf >= 1, "A leaf needs at least one row.");
    if (options.monotone.empty()) return;
    require(options.monotone.size() == table.columns.size(), "There must be one monotone constraint for each feature.");
    require(view.n_outputs == 1, "Monotone constraints are for a single output.");
    require(view.n_classes.empty() || view.n_classes[0] <= 2, "Monotone constraints are for at most two classes.");
    for (std::size_t feature = 0; feature < options.monotone.size(); ++feature)
        require(options.monotone[feature] == 0 || table.n_levels[feature] == 0,
                "Feature " + std::to_string(feature) + " is nominal: its levels have no order to be monotone in.");
}

// Rows with weight, by targets and then weight: an order in which equal rows are interchangeable.
std::vector<RowIndex> order_rows(std::size_t n_rows, const TargetView& view) {
    std::vector<RowIndex> rows;
    rows.reserve(n_rows);
    for (std::size_t row = 0; row < n_rows; ++row) {
        const bool counts = view.weight.empty() || view.weight[row] != 0.0;
        require(view.weight.empty() || view.weight[row] >= 0.0, "A weight is negative or not a number.");
        if (counts) rows.push_back(static_cast<RowIndex>(row));
    }
    require(!rows.empty(), "A tree needs at least one row with weight.");
    if (!view.weight.empty()) sort_stably(view.weight, rows);
    std::vector<double> column(n_rows);
    for (std::uint32_t output = view.n_outputs; output-- > 0;) {
        for (std::size_t row = 0; row < n_rows; ++row) column[row] = view.value[row * view.n_outputs + output];
        sort_stably(column, rows);
    }
    return rows;
}

Targets targets_in_order(const TargetView& view, std::span<const RowIndex> rows) {
    Targets targets;
    targets.n_outputs = view.n_outputs;
    targets.n_classes.assign(view.n_classes.begin(), view.n_classes.end());
    targets.value.reserve(rows.size() * view.n_outputs);
    targets.weight.reserve(rows.size());
    for (const RowIndex row : rows) {
        const double* value = view.value.data() + std::size_t{row} * view.n_outputs;
        targets.value.insert(targets.value.end(), value, value + view.n_outputs);
        targets.weight.push_back(view.weight.empty() ? 1.0 : view.weight[row]);
    }
    return targets;
}

Tree grow(const TableView& table, const TargetView& view, const CriterionOptions& options, StopRequest stop) {
    check_targets(table, view);
    check_options(table, view, options);
    const std::vector<RowIndex> order = order_rows(table.n_rows, view);
    const Targets targets = targets_in_order(view, order);
    const RankedTable ranked = rank_table(table, order, options.n_threads, stop);

    const CodeColumns columns = CodeColumns::of(ranked);
    Training training{.table = columns,
                      .targets = targets,
                      .options = options,
                      .shift = shift_for_search(targets, options.criterion),
                      .total_weight = 0.0,
                      .rows = std::vector<RowIndex>(order.size()),
                      .twin = {}};
    std::iota(training.rows.begin(), training.rows.end(), RowIndex{0});
    return grow_rows(training, stop);
}

}  // namespace

Tree grow_rows(Training& training, StopRequest& stop) {
    const CriterionOptions& options = training.options;
    training.twin.resize(training.rows.size());
    OpenNode root;
    root.end = training.rows.size();
    root.constant = std::make_shared<FeatureFlags>(training.table.size(), std::uint8_t{0});
    root.sets.resize(options.interaction_sets.size());
    std::iota(root.sets.begin(), root.sets.end(), 0u);
    root.summary = summarise(training.targets, options.criterion, training.rows);
    training.total_weight = root.summary.weight;
    return options.max_leaves > 0 ? grow_best_first(training, std::move(root), stop)
                                  : grow_depth_first(training, std::move(root), stop);
}

}  // namespace criterion

Tree grow_criterion_tree(const TableView& table, const TargetView& view, const CriterionOptions& options,
                         StopRequest stop) {
    return criterion::grow(table, view, options, stop);
}

}  // namespace coterie
