#include "coterie/forest/grow_forest.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <limits>
#include <mutex>
#include <string>
#include <thread>

#include "coterie/base/error.hpp"
#include "coterie/base/in_order.hpp"
#include "coterie/base/parallel.hpp"
#include "coterie/base/random.hpp"
#include "coterie/forest/answer_table.hpp"
#include "coterie/forest/any_tree.hpp"

namespace coterie {
namespace {

constexpr std::uint32_t kMostClasses = 1 << 20;               // that a file may speak of
constexpr std::size_t kMostEmptyRows = std::size_t{1} << 24;  // of a table that a file may speak of ...
constexpr std::size_t kMostPerPlace = 1000;                   // ... or that many for each row that it holds
constexpr std::size_t kBatchBytes = std::size_t{64} << 20;    // of leaves out of bag that wait to be added up

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

std::vector<std::size_t> class_ends(const ForestRows& rows) {
    std::vector<std::size_t> ends;
    if (!rows.targets.are_classes() || rows.targets.n_outputs > 1) return ends;
    for (std::uint32_t k = 0; k < rows.targets.n_classes[0]; ++k) {
        const auto end = std::upper_bound(rows.targets.value.begin(), rows.targets.value.end(), static_cast<double>(k));
        ends.push_back(static_cast<std::size_t>(end - rows.targets.value.begin()));
    }
    return ends;
}

std::shared_ptr<PackedTree> pack(const Sapling& sapling, std::uint32_t n_columns, bool classes, std::size_t n_rows) {
    auto tree = std::make_shared<PackedTree>();
    tree->weight = sapling.weight[0];
    tree->n_rows = static_cast<std::uint32_t>(n_rows);
    tree->ranks = sapling.ranks;
    if (sapling.is_packed()) {
        tree->answers = sapling.answers;
        tree->nodes = sapling.nodes;
        return tree;
    }
    AnswerTable table(n_columns, classes);
    std::vector<PackedNode> nodes(sapling.nodes);
    for (std::size_t node = 0; node < nodes.size(); ++node) {
        PackedNode& packed = nodes[node];
        if (packed.is_leaf())
            packed.left = table.place_of(sapling.value.data() + node * n_columns);
        else
            packed.set_share(sapling.weight[packed.left] / sapling.weight[node]);
    }
    table.answers.shrink_to_fit();
    tree->answers = std::move(table.answers);
    tree->nodes = std::move(nodes);
    return tree;
}

}  // namespace

void ForestMemory::prepare_bags() {
    const std::span<const double> weight =
        rows.weighted ? std::span<const double>(rows.targets.weight) : std::span<const double>();
    bags = std::make_shared<BagDrawer>(bag_options.kind, rows.n_places(), weight, class_ends(rows), bag_options.share,
                                       bag_options.most_draws, bag_options.seed);
}

void validate(const ForestMemory& memory) {
    const ForestRows& rows = memory.rows;
    const RankedTable& table = rows.table;
    const criterion::Targets& targets = rows.targets;
    const std::size_t n = rows.n_places();
    require(n > 0 && table.n_rows == n && targets.weight.size() == n && targets.n_outputs > 0 &&
                targets.value.size() == n * targets.n_outputs &&
                (targets.n_classes.empty() || targets.n_classes.size() == targets.n_outputs),
            "The arrays of a forest's rows differ in length.");
    require(
        n <= rows.n_table_rows && rows.n_table_rows <= std::max(kMostEmptyRows, kMostPerPlace * n),
        "A forest remembers " + std::to_string(n) + " rows of a table of " + std::to_string(rows.n_table_rows) + ".");
    std::vector<std::uint8_t> known(rows.n_table_rows, 0);
    for (const RowIndex row : rows.order) {
        require(row < rows.n_table_rows, "A forest remembers a row that its table did not have.");
        require(!known[row], "A forest remembers a row twice.");
        known[row] = 1;
    }
    require(std::ranges::all_of(targets.weight, [](double w) { return w > 0.0 && std::isfinite(w); }),
            "A forest remembers a row of an impossible weight.");
    require(std::ranges::all_of(targets.value, [](double value) { return std::isfinite(value); }),
            "A forest remembers a target that is no number.");
    require(std::ranges::all_of(targets.n_classes, [](std::uint32_t n_classes) { return n_classes <= kMostClasses; }),
            "A forest remembers an impossible number of classes.");
    const std::size_t d = rows.n_features();
    const bool by_row =
        table.feature_stride == 1 && table.row_stride >= d && table.row_stride <= table.codes.size() / n;
    const bool by_feature = table.row_stride == 1 && table.feature_stride == n && table.codes.size() / n >= d;
    require(d > 0 && (by_row || by_feature), "The codes of a forest's rows have an impossible layout.");
    for (std::size_t i = 0; i < targets.value.size() && targets.are_classes(); ++i)
        require(targets.value[i] >= 0.0 && targets.value[i] < targets.n_classes[i % targets.n_outputs],
                "A forest remembers a class that does not exist.");
    for (std::size_t feature = 0; feature < d; ++feature) {
        if (rows.n_levels[feature] == 0) continue;
        for (std::size_t place = 0; place < n; ++place)
            require(rows.code(place, feature) <= rows.n_levels[feature],
                    "A forest remembers a level that does not exist.");
    }
}

struct ForestTraining::Grown {
    std::shared_ptr<PackedTree> tree;
    std::vector<RowIndex> out;
    std::vector<std::uint32_t> answers;  // of each place out of the bag: the row of its leaf's answer
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
    std::vector<double> class_factor;
    if (options_.tree.balance_bag && rows.targets.are_classes() && rows.targets.n_outputs == 1) {
        class_factor.assign(rows.targets.n_classes[0], 0.0);
        double total = 0.0;
        for (std::size_t place = 0; place < bag.counts.size(); ++place) {
            class_factor[static_cast<std::size_t>(rows.targets.value[place])] += bag.counts[place];
            total += bag.counts[place];
        }
        for (double& factor : class_factor)
            if (factor > 0.0) factor = total / (static_cast<double>(class_factor.size()) * factor);
    }
    // Whether a row was drawn is a question that no processor can foresee: nothing here branches on it.
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
        if (!class_factor.empty()) weight *= class_factor[static_cast<std::size_t>(rows.targets.value[place])];
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

void ForestTraining::grow_one(std::uint64_t number, std::span<const std::uint16_t> given, Worker& worker,
                              Patience& patience, Grown& grown) const {
    const ForestRows& rows = memory_->rows;
    Bag& bag = worker.bag;
    draw_bag(number, given, bag);
    std::vector<std::uint16_t> ranks = rank_levels(rows, bag, shape_);
    Sapling own;
    if (worker.grower == nullptr)
        own = grow_any_tree(rows, bag, options_.tree, shape_, shift_, std::move(ranks), patience);
    Sapling& sapling = worker.grower == nullptr ? own : worker.grower->grow(bag, std::move(ranks), patience);
    if (options_.tree.ccp_alpha > 0.0) prune_by_cost(sapling, options_.tree.ccp_alpha, shape_.n_columns);
    grown.out = std::move(bag.out);
    if (options_.tree.prune_out_of_bag) {
        // Half of the rows out of the bag decide, the other half judges: their error stays honest.
        std::vector<RowIndex> deciding;
        std::vector<NodeIndex> deciding_leaves;
        std::vector<std::uint8_t> judges(grown.out.size());
        for (std::size_t i = 0; i < grown.out.size(); ++i) {
            judges[i] = random_bits(bag.seed, Purpose::row_draw, grown.out[i]) & 1;
            if (judges[i]) continue;
            deciding.push_back(grown.out[i]);
            deciding_leaves.push_back(sapling.out_leaf[i]);
        }
        prune_by_rows(sapling, rows, factor_, deciding, deciding_leaves);
        std::size_t kept = 0;
        for (std::size_t i = 0; i < judges.size(); ++i) {
            if (!judges[i]) continue;
            grown.out[kept] = grown.out[i];
            sapling.out_leaf[kept++] = sapling.out_leaf[i];
        }
        grown.out.resize(kept);
        sapling.out_leaf.resize(kept);
    }
    grown.importances = sapling.importances;
    grown.importances.resize(rows.n_features(), 0.0);
    grown.out_importances.assign(rows.n_features(), 0.0);
    if (!sapling.is_packed()) add_importances(sapling, grown.importances);
    if (options_.out_of_bag)
        add_out_of_bag_importances(sapling, rows, grown.out, sapling.out_leaf, grown.out_importances);
    grown.tree = pack(sapling, shape_.n_columns, rows.targets.are_classes(), bag.in.size());
    grown.answers = std::move(sapling.out_leaf);
    for (std::uint32_t& answer : grown.answers) answer = grown.tree->nodes[answer].left;
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
    const std::size_t most_weight = std::size_t{1} << (rows.targets.are_classes() ? 31 : 24);  // that has room in a pay
    const bool whole_weights =
        !options_.tree.balance_bag && factor_.empty() && memory_->bags->n_slots() < most_weight &&
        (!rows.weighted ||
         std::ranges::all_of(rows.targets.weight, [](double w) { return w == std::floor(w) && w <= kMostCopies; }));
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
            Patience patience(stop, stopped, std::this_thread::get_id() == caller);
            const std::size_t n_counts = rows.n_table_rows;
            const auto own = given.empty() ? given : given.subspan((done + i) * n_counts, n_counts);
            Grown tree;
            grow_one(first + i, own, *worker, patience, tree);
            {
                const std::lock_guard hold(lock);
                idle.push_back(worker);
            }
            grown.bring(i, std::move(tree));
        });
        done += n;
    }
}

// On one thread: others go on growing meanwhile.
void ForestTraining::take(Grown& grown) {
    if (options_.out_of_bag) out_of_bag_.add(memory_->rows, grown.out, grown.answers, grown.tree->answers.view());
    importances_.insert(importances_.end(), grown.importances.begin(), grown.importances.end());
    out_importances_.insert(out_importances_.end(), grown.out_importances.begin(), grown.out_importances.end());
    trees_.push_back(std::move(grown.tree));
}

// What becomes of the codes of numbers if only those are kept that some trees compare with.
struct ForestTraining::Recoding {
    std::vector<std::vector<double>> thresholds;  // per feature
    std::vector<std::size_t> first;               // of each feature, in `code`; 0 if it is nominal
    std::vector<std::uint16_t> code;              // old code to new, one feature after the other; entry 0 is nobody's

    explicit Recoding(const ForestRows& rows) : thresholds(rows.n_features()), first(rows.n_features(), 0) {
        std::size_t n = 1;
        for (std::size_t feature = 0; feature < rows.n_features(); ++feature)
            if (rows.n_levels[feature] == 0) {
                first[feature] = n;
                n += rows.table.features[feature].n_codes;
            }
        code.assign(n, 0);
    }

    /// Where the code of a split on a number is, or 0. Every other node is a leaf: nothing here branches on that.
    std::size_t place_of(const PackedNode& node) const {
        const bool asks = (node.what & (PackedNode::kLeafFlag | PackedNode::kNominal)) == 0;
        return (first[node.feature()] + node.code) & (0 - std::size_t{asks});
    }

    void apply(PackedTree& tree) const {
        for (PackedNode& node : tree.nodes.own()) {
            const std::size_t place = place_of(node);
            node.code = place != 0 ? code[place] : node.code;
        }
    }

    std::vector<Array<double>> arrays() && {
        return {std::make_move_iterator(thresholds.begin()), std::make_move_iterator(thresholds.end())};
    }
};

double ForestTraining::threshold_above(std::size_t feature, std::uint32_t code) const {
    const RankedFeature& ranks = memory_->rows.table.features[feature];
    if (code + 1 == ranks.n_codes) return std::numeric_limits<double>::infinity();
    return ranks.threshold_above(static_cast<Code>(code));
}

ForestTraining::Recoding ForestTraining::recoding_from(std::size_t first) const {
    const ForestRows& rows = memory_->rows;
    Recoding recoding(rows);
    std::vector<std::atomic<std::uint8_t>> used(recoding.code.size());
    parallel_for(trees_.size() - first, options_.n_threads, [&](std::size_t tree) {
        for (const PackedNode& node : trees_[first + tree]->nodes) {
            // Most are known to be used, and a line that nobody writes to can be in the caches of all threads.
            std::atomic<std::uint8_t>& mark = used[recoding.place_of(node)];
            if (mark.load(std::memory_order_relaxed) == 0) mark.store(1, std::memory_order_relaxed);
        }
    });
    parallel_for(rows.n_features(), options_.n_threads, [&](std::size_t feature) {
        if (rows.n_levels[feature] > 0) return;
        const std::uint32_t n_codes = rows.table.features[feature].n_codes;
        std::uint16_t* const new_code = recoding.code.data() + recoding.first[feature];
        const std::atomic<std::uint8_t>* const is_used = used.data() + recoding.first[feature];
        std::vector<double>& thresholds = recoding.thresholds[feature];
        std::uint16_t next = 1;
        for (std::uint32_t code = 1; code < n_codes; ++code) {
            new_code[code] = next;
            if (is_used[code].load(std::memory_order_relaxed) == 0) continue;
            const double threshold = threshold_above(feature, code);
            // Codes without values, and the last one before them, mean the same.
            if (!thresholds.empty() && thresholds.back() == threshold) {
                new_code[code] = static_cast<std::uint16_t>(next - 1);
                continue;
            }
            ++next;
            thresholds.push_back(threshold);
        }
    });
    return recoding;
}

Grove ForestTraining::grown_since(std::size_t first) const {
    require(first <= trees_.size(), "There are fewer trees than that.");
    Recoding recoding = recoding_from(first);
    Grove grove;
    for (std::size_t tree = first; tree < trees_.size(); ++tree) {
        auto copy = std::make_shared<PackedTree>(*trees_[tree]);
        recoding.apply(*copy);
        grove.trees.push_back(std::move(copy));
    }
    grove.thresholds = std::move(recoding).arrays();
    return grove;
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
    for (const Grove& grove : known.groves) {
        std::vector<std::vector<Code>> code(rows.n_features());  // of each threshold
        for (std::size_t feature = 0; feature < rows.n_features(); ++feature) {
            const std::uint32_t n_codes = rows.table.features[feature].n_codes;
            std::uint32_t at = 1;
            code[feature].push_back(0);
            require(rows.n_levels[feature] == 0 || grove.thresholds[feature].empty(),
                    "The trees to go on from are those of another table.");
            for (const double threshold : grove.thresholds[feature]) {
                while (at < n_codes && threshold_above(feature, at) < threshold) ++at;
                require(at < n_codes && threshold_above(feature, at) == threshold,
                        "The trees to go on from compare with values that these rows do not have.");
                code[feature].push_back(static_cast<Code>(at));
            }
        }
        for (const auto& tree : grove.trees) {
            auto copy = std::make_shared<PackedTree>(*tree);
            for (PackedNode& node : copy->nodes.own()) {
                if (node.is_leaf() || node.is_nominal()) continue;
                const std::vector<Code>& own = code[node.feature()];
                require(node.code < own.size(),
                        "A tree to go on from compares with a threshold that it does not have.");
                node.code = own[node.code];
            }
            trees_.push_back(std::move(copy));
        }
    }
    importances_.insert(importances_.end(), importances.begin(), importances.end());
    out_importances_.insert(out_importances_.end(), out_importances.begin(), out_importances.end());
}

// The thresholds of all codes, if trees are to keep theirs; otherwise nothing. Where nodes are many, thresholds that no
// split compares with take little memory beside them, and to find them all nodes would have to be read again.
std::vector<Array<double>> ForestTraining::all_thresholds() const {
    constexpr std::size_t kManyNodes = 16;  // bytes of nodes for each of thresholds
    const ForestRows& rows = memory_->rows;
    std::size_t n_codes = 0;
    std::size_t n_nodes = 0;
    for (std::size_t feature = 0; feature < rows.n_features(); ++feature)
        n_codes += rows.n_levels[feature] > 0 ? 0 : rows.table.features[feature].n_codes;
    for (const auto& tree : trees_) n_nodes += tree->nodes.size();
    if (kManyNodes * n_codes * sizeof(double) > n_nodes * sizeof(PackedNode)) return {};
    std::vector<Array<double>> thresholds(rows.n_features());
    std::atomic<bool> ascend = true;
    parallel_for(rows.n_features(), options_.n_threads, [&](std::size_t feature) {
        if (rows.n_levels[feature] > 0) return;
        const RankedFeature& own = rows.table.features[feature];
        std::vector<double> all;
        for (std::uint32_t code = 1; code + (own.has_missing ? 0 : 1) < own.n_codes; ++code)
            all.push_back(threshold_above(feature, code));
        if (std::ranges::adjacent_find(all, std::greater_equal<>()) != all.end()) ascend = false;
        thresholds[feature] = std::move(all);
    });
    return ascend ? thresholds : std::vector<Array<double>>();
}

// Trees and rows by the codes of the thresholds that some tree compares with.
std::vector<Array<double>> ForestTraining::recode() {
    ForestRows& rows = memory_->rows;
    Recoding recoding = recoding_from(0);
    parallel_for(trees_.size(), options_.n_threads, [&](std::size_t tree) { recoding.apply(*trees_[tree]); });
    Buffer<Code>& codes = rows.table.codes.own();
    parallel_ranges(rows.n_places(), 16'384, options_.n_threads, [&](std::size_t begin, std::size_t end) {
        for (std::size_t feature = 0; feature < rows.n_features(); ++feature) {
            if (rows.n_levels[feature] > 0) continue;
            for (std::size_t place = begin; place < end; ++place) {
                Code& code = codes[place * rows.table.row_stride + feature * rows.table.feature_stride];
                code = recoding.code[recoding.first[feature] + code];
            }
        }
    });
    return std::move(recoding).arrays();
}

Grove ForestTraining::finish() {
    ForestRows& rows = memory_->rows;
    Grove grove;
    grove.thresholds = all_thresholds();
    if (grove.thresholds.empty()) grove.thresholds = recode();
    for (std::size_t feature = 0; feature < rows.n_features(); ++feature) {
        if (rows.n_levels[feature] > 0) continue;
        rows.table.features[feature].lowest_value.clear();
        rows.table.features[feature].highest_value.clear();
    }
    for (const auto& tree : trees_) grove.trees.push_back(tree);
    workers_.clear();
    return grove;
}

}  // namespace coterie
