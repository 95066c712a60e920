// forest/grow_forest.hpp: growing a forest: trees in parallel, and what is learned out of bag on the way.
#pragma once

#include <memory>

#include "coterie/forest/forest_memory.hpp"
#include "coterie/forest/out_of_bag.hpp"
#include "coterie/forest/rows.hpp"
#include "coterie/forest/sum_tree.hpp"

namespace coterie {

struct ForestOptions {
    ForestTreeOptions tree;
    BagKind bag = BagKind::bootstrap;
    double share = 1.0;          // of all rows that a bag draws
    std::size_t most_draws = 0;  // or so many; 0: the share decides
    bool out_of_bag = true;      // follow the rows that trees did not see
    std::uint64_t seed = 0;
    std::uint64_t first_tree = 0;  // number of the first tree: those before it were grown by an earlier fit
    int n_threads = 1;
};

class ForestTraining {
public:
    ForestTraining(const TableView& table, const TargetView& targets, ForestOptions options, StopRequest stop = {});
    ForestTraining(const ForestTraining&) = delete;
    ForestTraining& operator=(const ForestTraining&) = delete;

    /// What the rows of the table count in a tree that drew them, beside their weight, which says how they are drawn.
    /// Comes before the first tree; positive for every row with weight.
    void set_factor(std::span<const double> by_row);

    /// Grows more trees. The result does not depend on how they are divided among calls or threads.
    void grow(std::size_t n_trees, StopRequest stop = {});

    /// Grows a tree for each bag that the caller has drawn: how often it holds each row of the table, bag after bag. No
    /// bag may hold more than the table does, with the copies of its rows.
    void grow_given(std::span<const std::uint16_t> counts, StopRequest stop = {});

    /// The trees from number `first` on, as a group of their own; growth goes on.
    TreeGroup grown_since(std::size_t first) const;

    /// Takes trees that an earlier training on the same rows had grown, before any is grown here: those that follow are
    /// those that would have followed there. Importances are n_features per tree. Throws InvalidInput if a tree
    /// compares with a threshold that these rows do not have.
    void take(const PackedForest& known, std::span<const double> importances, std::span<const double> out_importances);

    std::size_t n_trees() const { return trees_.size(); }
    const ForestRows& rows() const { return memory_->rows; }
    const OutOfBag& out_of_bag() const { return out_of_bag_; }
    OutOfBag& out_of_bag() { return out_of_bag_; }
    const std::vector<double>& importances() const { return importances_; }  // n_features per tree
    const std::vector<double>& out_of_bag_importances() const { return out_importances_; }

    /// The group of all trees; the codes of the rows are those of its thresholds, and growth is over.
    TreeGroup finish();

    /// After finish.
    std::shared_ptr<const ForestMemory> memory() const { return memory_; }

private:
    struct Grown;
    /// What a thread keeps from tree to tree.
    struct Worker {
        std::unique_ptr<SumTreeGrower> grower;  // none if another grower takes the task
        Bag bag;
    };
    void grow_some(std::size_t n_trees, std::span<const std::uint16_t> given, StopRequest& stop);
    void draw_bag(std::uint64_t tree, std::span<const std::uint16_t> given, Bag& bag) const;
    void prune_out_of_bag(std::uint64_t seed, GrownTree& grown_tree, std::vector<RowIndex>& out) const;
    void grow_one(std::uint64_t tree, std::span<const std::uint16_t> given, Worker& worker, Cancellation& cancellation,
                  Grown& out) const;
    void take(Grown& grown);  // trees in their order

    ForestOptions options_;
    std::shared_ptr<ForestMemory> memory_;
    PackedForest shape_;  // no trees: what growers and packers need to know
    bool sums_up_;
    WholeTargets whole_;
    ForestColumns columns_;  // made if the trees read them
    std::vector<double> shift_;
    std::vector<double> factor_;  // per place, or empty
    OutOfBag out_of_bag_;
    std::vector<std::shared_ptr<PackedTree>> trees_;
    std::vector<double> importances_;
    std::vector<double> out_importances_;
    std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace coterie
