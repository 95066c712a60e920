#include "coterie/forest/grow_forest.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <mutex>
#include <string>
#include <thread>

#include "coterie/base/error.hpp"
#include "coterie/base/in_order.hpp"
#include "coterie/base/parallel.hpp"
#include "coterie/base/random.hpp"
#include "coterie/forest/any_tree.hpp"
#include "coterie/forest/leaf_value_table.hpp"
#include "coterie/forest/recoding.hpp"

namespace coterie {
namespace {

constexpr std::size_t kBatchBytes = std::size_t{64} << 20;  // of leaves out of bag that wait to be added up

void check(const TableView& table, const TargetView& view, const ForestOptions& options) {
    const CriterionOptions& tree = options.tree.tree;
    require(
        view.n_outputs > 0 && view.value.size() == table.n_rows * view.n_outputs,
        "There are " + std::to_string(table.n_rows) + " rows but " + std::to_string(view.value.size()) + " targets.");
    require(view.weight.empty() || view.weight.size() == table.n_rows, "There must be one weight for each row.");
    require(view.n_classes.empty() || view.n_classes.size() == view.n_outputs,
            "Each output needs its number of classes.");
    for (const double weight : view.weight)
        require(weight >= 0.0 && std::isfinite(weight), "A weight is negative or not a number.");
    for (std::size_t i = 0; i < view.value.size(); ++i) {
        const double value = view.value[i];
        require(std::isfinite(value), "A target is not a finite number.");
        if (view.n_classes.empty()) continue;
        require(value >= 0.0 && value < view.n_classes[i % view.n_outputs] && value == std::floor(value),
                "A target is not one of the classes.");
    }
    require(tree.min_rows_leaf >= 1, "A leaf needs at least one row.");
    require(tree.monotone.empty() || tree.monotone.size() == table.columns.size(),
            "There must be one monotone constraint for each feature.");
    require(tree.monotone.empty() || (view.n_outputs == 1 && (view.n_classes.empty() || view.n_classes[0] <= 2)),
            "Monotone constraints are for one output of numbers or of two classes.");
    for (const auto& set : options.tree.interaction_sets)
        for (const FeatureIndex feature : set)
            require(feature < table.columns.size(), "An interaction set names a feature that does not exist.");
    require(options.bag != BagKind::balanced || (view.n_outputs == 1 && !view.n_classes.empty()),
            "Balanced bags need the classes of one output.");
    require(table.columns.size() < PackedNode::kFeature, "The table has too many features.");
}

std::shared_ptr<PackedTree> pack(const GrownTree& grown_tree, std::uint32_t n_columns, bool classes,
                                 std::size_t n_rows) {
    auto tree = std::make_shared<PackedTree>();
    tree->weight = grown_tree.weight[0];
    tree->n_rows = static_cast<std::uint32_t>(n_rows);
    tree->ranks = grown_tree.ranks;
    if (grown_tree.is_packed()) {
        tree->leaf_values = grown_tree.leaf_values;
        tree->nodes = grown_tree.nodes;
        return tree;
    }
    LeafValueTable table(n_columns, classes);
    std::vector<PackedNode> nodes(grown_tree.nodes);
    for (std::size_t node = 0; node < nodes.size(); ++node) {
        PackedNode& packed = nodes[node];
        if (packed.is_leaf())
            packed.left = table.index_of(grown_tree.value.data() + node * n_columns);
        else
            packed.set_share(grown_tree.weight[packed.left] / grown_tree.weight[node]);
    }
    table.leaf_values.shrink_to_fit();
    tree->leaf_values = std::move(table.leaf_values);
    tree->nodes = std::move(nodes);
    return tree;
}

// What makes the classes of each output weigh the same in a bag, by place: the product over outputs.
std::vector<double> balancing_factors(const ForestRows& rows, std::span<const std::uint16_t> counts) {
    const criterion::Targets& targets = rows.targets;
    std::vector<double> factors(counts.size(), 1.0);
    for (std::size_t output = 0; output < targets.n_outputs; ++output) {
        std::vector<double> of_class(targets.n_classes[output], 0.0);
        double total = 0.0;
        for (std::size_t place = 0; place < counts.size(); ++place) {
            of_class[static_cast<std::size_t>(targets.value[place * targets.n_outputs + output])] += counts[place];
            total += counts[place];
        }
        for (double& factor : of_class)
            if (factor > 0.0) factor = total / (static_cast<double>(of_class.size()) * factor);
        for (std::size_t place = 0; place < counts.size(); ++place)
            factors[place] *= of_class[static_cast<std::size_t>(targets.value[place * targets.n_outputs + output])];
    }
    return factors;
}

}  // namespace

struct ForestTraining::Grown {
    std::shared_ptr<PackedTree> tree;
    std::vector<RowIndex> out;
    std::vector<std::uint32_t> leaf_values;  // of each place out of the bag: the row of its leaf value
    std::vector<double> importances;
    std::vector<double> out_importances;
};

ForestTraining::ForestTraining(const TableView& table, const TargetView& targets, ForestOptions options,
                               StopRequest stop)
    : options_((check(table, targets, options), std::move(options))),
      memory_(std::make_shared<ForestMemory>()),
      shape_(table.n_levels, 1),
      sums_up_([&] {
          criterion::Targets kind;
          kind.n_outputs = targets.n_outputs;
          kind.n_classes.assign(targets.n_classes.begin(), targets.n_classes.end());
          return sums_up(kind, options_.tree.tree);
      }()),
      out_of_bag_([&] {
          const CodeLayout layout = sums_up_ ? CodeLayout::by_row : CodeLayout::by_feature;
          const CodeSpacing spacing =
              sums_up_ && options_.tree.tree.random_splits ? CodeSpacing::by_value : CodeSpacing::by_rank;
          memory_->rows = make_forest_rows(table, targets, layout, spacing, options_.n_threads, stop);
          return OutOfBag(memory_->rows);
      }()) {
    const ForestRows& rows = memory_->rows;
    shape_.n_columns = rows.n_columns();
    memory_->first_tree = options_.first_tree;
    memory_->bag_options = {
        .kind = options_.bag, .share = options_.share, .most_draws = options_.most_draws, .seed = options_.seed};
    memory_->prepare_bags();
    if (sums_up_)
        whole_ = whole_targets(rows, options_.tree.tree.criterion, std::max(memory_->bags->n_slots(), rows.n_places()));
    else
        shift_ = criterion::shift_for_search(rows.targets, options_.tree.tree.criterion);
}

void ForestTraining::set_factor(std::span<const double> by_row) {
    const ForestRows& rows = memory_->rows;
    require(by_row.size() == rows.n_table_rows, "There must be one factor for each row.");
    require(trees_.empty(), "Factors come before the first tree.");
    for (const RowIndex row : rows.order) {
        require(by_row[row] > 0.0 && std::isfinite(by_row[row]), "A factor is not a positive number.");
        factor_.push_back(by_row[row]);
    }
}

// Of the tree's number, or as given for each row of the table.
void ForestTraining::draw_bag(std::uint64_t tree, std::span<const std::uint16_t> given, Bag& bag) const {
    const ForestRows& rows = memory_->rows;
    bag.seed = random_bits(options_.seed, Purpose::forest_tree, tree);
    // If trees see all rows, the bag is that of the tree before.
    if (options_.bag == BagKind::all && given.empty() && bag.drawn_whole) return;
    bag.drawn_whole = options_.bag == BagKind::all && given.empty();
    bag.counts.resize(rows.n_places());
    if (given.empty())
        memory_->bags->draw(tree, bag.counts);
    else
        for (std::size_t place = 0; place < bag.counts.size(); ++place) bag.counts[place] = given[rows.order[place]];
    const bool balances = options_.tree.balance_bag && rows.targets.are_classes();
    const std::vector<double> class_factor = balances ? balancing_factors(rows, bag.counts) : std::vector<double>{};
    // Whether a row was drawn no processor can foresee: nothing here branches on it.
    const std::size_t n = bag.counts.size();
    bag.in.resize(n);
    bag.weight.resize(n);
    bag.out.resize(options_.out_of_bag ? n : 1);
    std::size_t n_in = 0;
    std::size_t n_out = 0;
    for (std::size_t place = 0; place < n; ++place) {
        const bool drawn = bag.counts[place] != 0;
        double weight = bag.counts[place] * memory_->bags->unit(place);
        if (!factor_.empty()) weight *= factor_[place];
        if (!class_factor.empty()) weight *= class_factor[place];
        bag.in[n_in] = static_cast<RowIndex>(place);
        bag.weight[n_in] = weight;
        bag.out[n_out] = static_cast<RowIndex>(place);
        n_in += drawn;
        n_out += !drawn && options_.out_of_bag;
    }
    bag.in.resize(n_in);
    bag.weight.resize(n_in);
    bag.out.resize(n_out);
}

// Half of the rows out of the bag decide, the other half stays to measure the error: it is honest.
void ForestTraining::prune_out_of_bag(std::uint64_t seed, GrownTree& grown_tree, std::vector<RowIndex>& out) const {
    std::vector<RowIndex> deciding;
    std::vector<NodeIndex> deciding_leaves;
    std::vector<std::uint8_t> measures(out.size());
    for (std::size_t i = 0; i < out.size(); ++i) {
        measures[i] = random_bits(seed, Purpose::row_draw, out[i]) & 1;
        if (measures[i]) continue;
        deciding.push_back(out[i]);
        deciding_leaves.push_back(grown_tree.out_leaf[i]);
    }
    prune_by_rows(grown_tree, memory_->rows, factor_, deciding, deciding_leaves);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < measures.size(); ++i) {
        if (!measures[i]) continue;
        out[kept] = out[i];
        grown_tree.out_leaf[kept++] = grown_tree.out_leaf[i];
    }
    out.resize(kept);
    grown_tree.out_leaf.resize(kept);
}

void ForestTraining::grow_one(std::uint64_t number, std::span<const std::uint16_t> given, Worker& worker,
                              Cancellation& cancellation, Grown& grown) const {
    const ForestRows& rows = memory_->rows;
    Bag& bag = worker.bag;
    draw_bag(number, given, bag);
    GrownTree own;
    const auto grow = [&](std::vector<std::uint16_t> ranks) -> GrownTree& {
        if (worker.grower != nullptr) return worker.grower->grow(bag, std::move(ranks), cancellation);
        return own = grow_any_tree(rows, bag, options_.tree, shape_, shift_, std::move(ranks), cancellation);
    };
    GrownTree& grown_tree = grow(rank_levels(rows, bag, shape_));
    if (options_.tree.ccp_alpha > 0.0) prune_by_cost(grown_tree, options_.tree.ccp_alpha, shape_.n_columns);
    grown.out = std::move(bag.out);
    if (options_.tree.prune_out_of_bag) prune_out_of_bag(bag.seed, grown_tree, grown.out);
    grown.importances = grown_tree.importances;
    grown.importances.resize(rows.n_features(), 0.0);
    grown.out_importances.assign(rows.n_features(), 0.0);
    if (!grown_tree.is_packed()) add_importances(grown_tree, grown.importances);
    if (options_.out_of_bag)
        add_out_of_bag_importances(grown_tree, rows, grown.out, grown_tree.out_leaf, grown.out_importances);
    grown.tree = pack(grown_tree, shape_.n_columns, rows.targets.are_classes(), bag.in.size());
    grown.leaf_values = std::move(grown_tree.out_leaf);
    for (std::uint32_t& row : grown.leaf_values) row = grown.tree->nodes[row].left;
}

void ForestTraining::grow(std::size_t n_trees, StopRequest stop) { grow_some(n_trees, {}, stop); }

void ForestTraining::grow_given(std::span<const std::uint16_t> counts, StopRequest stop) {
    const ForestRows& rows = memory_->rows;
    require(counts.size() % rows.n_table_rows == 0, "A bag must say how often it holds each row of the table.");
    const std::size_t n_trees = counts.size() / rows.n_table_rows;
    for (std::size_t tree = 0; tree < n_trees; ++tree) {
        std::size_t total = 0;
        for (const RowIndex row : rows.order) total += counts[tree * rows.n_table_rows + row];
        require(total > 0, "A bag holds no row with weight.");
        require(total <= std::max(memory_->bags->n_slots(), rows.n_places()), "A bag holds more rows than the table.");
    }
    grow_some(n_trees, counts, stop);
}

void ForestTraining::grow_some(std::size_t n_trees, std::span<const std::uint16_t> given, StopRequest& stop) {
    const ForestRows& rows = memory_->rows;
    const int n_threads = options_.n_threads;
    const std::size_t at_once =
        std::clamp<std::size_t>(kBatchBytes / (4 * rows.n_places() + 1), static_cast<std::size_t>(2 * n_threads), 256);
    const std::size_t most_weight = std::size_t{1}
                                    << (rows.targets.are_classes() ? 31 : 24);  // that has room in a statistic
    const bool whole_weights =
        !options_.tree.balance_bag && factor_.empty() && memory_->bags->n_slots() < most_weight &&
        (!rows.weighted ||
         std::ranges::all_of(rows.targets.weight, [](double w) { return w == std::floor(w) && w <= kMaxCopies; }));
    if (sums_up_ && whole_weights && reads_columns(rows.targets, options_.tree.tree)) columns_.make(rows, n_threads);
    const std::thread::id caller = std::this_thread::get_id();
    std::atomic<bool> stopped = false;
    std::vector<Worker*> idle;
    for (const auto& worker : workers_) idle.push_back(worker.get());
    std::mutex lock;
    for (std::size_t done = 0; done < n_trees;) {
        stop.check();
        const std::size_t n = std::min(at_once, n_trees - done);
        const std::uint64_t first = options_.first_tree + trees_.size();
        InOrder<Grown> grown(n, [&](Grown& next) { take(next); });
        parallel_for(n, n_threads, [&](std::size_t i) {
            Worker* worker = nullptr;
            {
                const std::lock_guard hold(lock);
                if (idle.empty()) {
                    workers_.push_back(std::make_unique<Worker>());
                    if (sums_up_)
                        workers_.back()->grower =
                            make_sum_tree_grower(rows, whole_, options_.tree, shape_, whole_weights, columns_);
                    idle.push_back(workers_.back().get());
                }
                worker = idle.back();
                idle.pop_back();
            }
            Cancellation cancellation(stop, stopped, std::this_thread::get_id() == caller);
            const std::size_t n_counts = rows.n_table_rows;
            const auto own = given.empty() ? given : given.subspan((done + i) * n_counts, n_counts);
            Grown tree;
            grow_one(first + i, own, *worker, cancellation, tree);
            {
                const std::lock_guard hold(lock);
                idle.push_back(worker);
            }
            grown.add(i, std::move(tree));
        });
        done += n;
    }
}

// On one thread: others go on growing meanwhile.
void ForestTraining::take(Grown& grown) {
    if (options_.out_of_bag)
        out_of_bag_.add(memory_->rows, grown.out, grown.leaf_values, grown.tree->leaf_values.view());
    importances_.insert(importances_.end(), grown.importances.begin(), grown.importances.end());
    out_importances_.insert(out_importances_.end(), grown.out_importances.begin(), grown.out_importances.end());
    trees_.push_back(std::move(grown.tree));
}

TreeGroup ForestTraining::grown_since(std::size_t first) const {
    require(first <= trees_.size(), "There are fewer trees than that.");
    const GrownTrees trees = GrownTrees(trees_).subspan(first);
    Recoding recoding(memory_->rows, trees, options_.n_threads);
    TreeGroup group;
    for (const auto& tree : trees) {
        auto copy = std::make_shared<PackedTree>(*tree);
        recoding.apply(*copy);
        group.trees.push_back(std::move(copy));
    }
    group.thresholds = std::move(recoding).take_thresholds();
    return group;
}

void ForestTraining::take(const PackedForest& known, std::span<const double> importances,
                          std::span<const double> out_importances) {
    const ForestRows& rows = memory_->rows;
    require(known.n_levels == rows.n_levels && known.n_columns == shape_.n_columns,
            "The trees to go on from are those of another table.");
    const std::size_t n_known = known.n_trees() * rows.n_features();
    require(importances.size() == n_known && out_importances.size() == n_known,
            "Each tree to go on from needs an importance of each feature.");
    require(trees_.empty(), "Trees to go on from come before the first that is grown.");
    for (const TreeGroup& group : known.groups)
        for (auto& tree : with_codes_of(rows, group)) trees_.push_back(std::move(tree));
    importances_.insert(importances_.end(), importances.begin(), importances.end());
    out_importances_.insert(out_importances_.end(), out_importances.begin(), out_importances.end());
}

TreeGroup ForestTraining::finish() {
    ForestRows& rows = memory_->rows;
    TreeGroup group;
    group.thresholds = all_thresholds(rows, trees_, options_.n_threads);
    if (group.thresholds.empty()) {
        Recoding recoding(rows, trees_, options_.n_threads);
        parallel_for(trees_.size(), options_.n_threads, [&](std::size_t tree) { recoding.apply(*trees_[tree]); });
        recoding.apply(rows, options_.n_threads);
        group.thresholds = std::move(recoding).take_thresholds();
    }
    for (std::size_t feature = 0; feature < rows.n_features(); ++feature) {
        if (rows.n_levels[feature] > 0) continue;
        rows.table.features[feature].lowest_value.clear();
        rows.table.features[feature].highest_value.clear();
    }
    for (const auto& tree : trees_) group.trees.push_back(tree);
    workers_.clear();
    return group;
}

}  // namespace coterie
