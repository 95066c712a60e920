// predict/compiled_forest.hpp: a forest in the forms in which it predicts fastest, each made when it is first needed.
//
// All forms add the predictions of the trees in the order of the trees, in double precision, so all give the same bits.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <span>

#include "coterie/base/column_view.hpp"
#include "coterie/base/progress.hpp"
#include "coterie/predict/select_networks.hpp"
#include "coterie/predict/walkers.hpp"
#include "coterie/tree/forest.hpp"
#include "coterie/tree/packed_forest.hpp"

namespace coterie {

class CompiledForest {
public:
    explicit CompiledForest(const Forest& forest);

    /// What the forest keeps, or has made now.
    static std::shared_ptr<const CompiledForest> of(const Forest& forest);

    bool is_of(const Forest& forest) const { return trees_ == forest.trees && first_output_ == forest.first_output; }

    void add_scores(const TableView& table, std::span<double> scores, TreeRange trees, int n_threads,
                    StopRequest& stop) const;
    void find_leaves(const TableView& table, std::span<std::uint32_t> leaves, int n_threads, StopRequest& stop) const;

    /// Of the forms that have been made.
    std::size_t n_bytes() const;

private:
    const Walkers& walkers() const;
    /// Nothing if walking is the better way for so many rows.
    const SelectNetworks* networks_for(std::size_t n_rows) const;
    /// The same for large trees: walked by codes.
    const PackedForest* codes_for(std::size_t n_rows) const;
    void check(const TableView& table) const;
    template <class OnBlock>
    void for_blocks(const TableView& table, std::size_t block_rows, int n_threads, StopRequest& stop,
                    OnBlock on_block) const;
    void add_by_networks(const SelectNetworks& networks, const TableView& table, std::span<double> scores,
                         TreeRange trees, int n_threads, StopRequest& stop) const;
    template <class Reach>
    void walk(const TableView& table, TreeRange trees, int n_threads, StopRequest& stop, Reach reach) const;

    std::size_t n_features_;
    std::uint32_t n_outputs_;
    std::vector<std::shared_ptr<const Tree>> trees_;
    std::vector<std::uint32_t> first_output_;
    bool linear_ = false;  // some leaves are

    mutable std::mutex lock_;
    mutable std::optional<Walkers> walkers_;
    mutable std::optional<SelectNetworks> networks_;
    mutable bool tried_networks_ = false;
    mutable std::optional<PackedForest> codes_;
    mutable bool tried_codes_ = false;
    mutable std::vector<double> leaf_values_;  // of the networks: by code, tree after tree
    mutable std::vector<std::size_t> first_value_;
};

}  // namespace coterie
