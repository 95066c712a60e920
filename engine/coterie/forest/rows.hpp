// forest/rows.hpp: the training rows as every tree of a forest sees them.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "coterie/base/progress.hpp"
#include "coterie/binning/ranks.hpp"
#include "coterie/exact/criterion_tree.hpp"
#include "coterie/forest/bag.hpp"
#include "coterie/split/criterion_rows.hpp"
#include "coterie/tree/packed_forest.hpp"

namespace coterie {

/// Rows with weight, by place: ordered by targets, then by a hash of what they hold.
struct ForestRows {
    std::size_t n_table_rows = 0;
    std::vector<RowIndex> order;         // the caller's row at each place
    std::vector<std::int32_t> n_levels;  // per feature
    RankedTable table;
    criterion::Targets targets;  // with the caller's weights
    bool weighted = false;

    std::size_t n_places() const { return order.size(); }
    std::size_t n_features() const { return n_levels.size(); }
    std::uint32_t n_columns() const;  // of a leaf value

    Code code(std::size_t place, std::size_t feature) const {
        return table.codes[place * table.row_stride + feature * table.feature_stride];
    }
};

/// Ranks the table's rows with weight. The layout is the one that the grower of the trees reads.
ForestRows make_forest_rows(const TableView& table, const TargetView& targets, CodeLayout layout, CodeSpacing spacing,
                            int n_threads, StopRequest& stop);

/// How each tree of a forest grows, beyond what a single tree knows.
struct ForestTreeOptions {
    CriterionOptions tree;
    std::size_t features_per_tree = 0;                        // drawn once for each tree; 0: all
    std::vector<std::vector<FeatureIndex>> interaction_sets;  // a path stays inside one of them; empty: no limit
    bool balance_bag = false;                                 // classes weigh the same in every bag
    double ccp_alpha = 0.0;
    bool prune_out_of_bag = false;
};

/// Checks whether to stop while trees grow on several threads: only the calling thread may run the check, and when it
/// is to stop all do.
class Cancellation {
public:
    Cancellation(StopRequest& stop, std::atomic<bool>& stopped, bool is_caller)
        : stop_(stop), stopped_(stopped), is_caller_(is_caller) {}

    void check() {
        if (stopped_.load(std::memory_order_relaxed)) throw Interrupted();
        if (!is_caller_) return;
        try {
            stop_.check();
        } catch (...) {
            stopped_.store(true, std::memory_order_relaxed);
            throw;
        }
    }

    /// Runs work that checks by itself; on other threads nothing is checked.
    template <class Work>
    auto run(Work work) {
        StopRequest nobody;
        try {
            return work(is_caller_ ? stop_ : nobody);
        } catch (const Interrupted&) {
            stopped_.store(true, std::memory_order_relaxed);
            throw;
        }
    }

private:
    StopRequest& stop_;
    std::atomic<bool>& stopped_;
    bool is_caller_;
};

/// The rows of one tree.
struct Bag {
    std::vector<std::uint16_t> counts;  // per place
    std::vector<RowIndex> in;           // places that were drawn, ascending
    std::vector<RowIndex> out;          // places that were not
    std::vector<double> weight;         // of each place of `in`
    std::uint64_t seed = 0;             // the tree's own
    bool drawn_whole = false;           // all rows, as for every other tree
};

/// A grown tree before it is packed: what is known of every node.
struct GrownTree {
    std::vector<PackedNode> nodes;     // the codes are those of the ranked table
    std::vector<double> value;         // n_columns per node
    std::vector<double> weight;        // per node
    std::vector<double> gain;          // per node: decrease of impurity times the share of the weight
    std::vector<std::uint16_t> ranks;  // of levels, as PackedTree has them
    std::vector<NodeIndex> out_leaf;   // the leaf of each place of Bag::out

    // A grower of two classes may pack the nodes itself if no more is needed: leaves name their leaf value, splits
    // know the share of their left side, and only the root has a weight.
    std::vector<double> leaf_values;
    std::vector<double> importances;  // per feature

    bool is_packed() const { return !leaf_values.empty(); }

    /// Keeps the memory.
    void clear() {
        nodes.clear();
        value.clear();
        weight.clear();
        gain.clear();
        ranks.clear();
        out_leaf.clear();
        leaf_values.clear();
        importances.clear();
    }
};

/// Of the levels of every nominal feature, in the bag: by their mean target, drawn to the mean of all.
std::vector<std::uint16_t> rank_levels(const ForestRows& rows, const Bag& bag, const PackedForest& forest);

/// A feature must have been drawn for the tree, and fit the path, to be drawn for a node.
class AllowedFeatures {
public:
    AllowedFeatures(const ForestTreeOptions& options, std::size_t n_features)
        : options_(options), n_features_(n_features) {}

    void start_tree(std::uint64_t seed);
    std::uint32_t root() const { return 0; }
    /// The state of a child after a split on the feature.
    std::uint32_t after(std::uint32_t state, FeatureIndex feature);
    std::vector<FeatureIndex>& features(std::uint32_t state) { return states_[state].features; }

private:
    struct State {
        std::vector<std::uint32_t> sets;  // that the path still fits
        std::vector<FeatureIndex> features;
    };
    std::uint32_t add(std::vector<std::uint32_t> sets);

    const ForestTreeOptions& options_;
    std::size_t n_features_;
    std::vector<FeatureIndex> drawn_;  // for this tree
    std::vector<State> states_;
};

}  // namespace coterie
