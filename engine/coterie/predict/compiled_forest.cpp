#include "coterie/predict/compiled_forest.hpp"

#include <algorithm>
#include <string>

#include "coterie/base/buffer.hpp"
#include "coterie/base/error.hpp"
#include "coterie/base/parallel.hpp"
#include "coterie/predict/walk_codes.hpp"

namespace coterie {
namespace {

constexpr std::size_t kWalkRows = 256;         // of a block of rows that walk
constexpr std::size_t kFewRows = 8;            // up to which rows walk: a network serves 128 for the price of one
constexpr std::size_t kManyPlanesRows = 64;    // from which rows are coded whatever the number of planes
constexpr std::size_t kBlockValues = 131'072;  // of the table that are in a cache while features are coded one by one
constexpr std::size_t kRowFeaturesPerThread = 150'000;
constexpr std::size_t kManyRows = 256;    // from which rows are worth coding
constexpr std::size_t kLargeNodes = 512;  // of a tree that is too large for a network

/// Rows that networks predict at a time: of wide tables fewer, whose values lie in lines with those of other features.
std::size_t block_rows_of(const TableView& table) {
    const std::size_t rows = kBlockValues / std::max<std::size_t>(1, table.columns.size());
    return std::clamp(rows / kRouteRows * kRouteRows, kRouteRows, SelectNetworks::kBlockRows);
}

}  // namespace

CompiledForest::CompiledForest(const Forest& forest)
    : n_features_(forest.n_features),
      n_outputs_(forest.n_outputs),
      trees_(forest.trees),
      first_output_(forest.first_output),
      linear_(std::ranges::any_of(trees_, [](const auto& tree) { return !tree->linear.empty(); })) {}

std::shared_ptr<const CompiledForest> CompiledForest::of(const Forest& forest) {
    return forest.compiled.get([&](const CompiledForest& made) { return made.is_of(forest); },
                               [&] { return std::make_shared<const CompiledForest>(forest); });
}

const Walkers& CompiledForest::walkers() const {
    const std::lock_guard hold(lock_);
    if (!walkers_) walkers_.emplace(trees_);
    return *walkers_;
}

const SelectNetworks* CompiledForest::networks_for(std::size_t n_rows) const {
    if (n_rows <= kFewRows || linear_) return nullptr;
    // Making the planes costs about as much as a third of a tree for each feature.
    if (trees_.size() * 3 < n_features_ && trees_.size() < 16) return nullptr;
    const std::lock_guard hold(lock_);
    if (!tried_networks_) {
        networks_ = SelectNetworks::of(trees_, n_features_);
        tried_networks_ = true;
        if (networks_)
            for (std::size_t t = 0; t < trees_.size(); ++t) {
                first_value_.push_back(leaf_values_.size());
                for (const NodeIndex leaf : networks_->leaves(t)) {
                    const auto leaf_value = trees_[t]->values_of(leaf);
                    leaf_values_.insert(leaf_values_.end(), leaf_value.begin(), leaf_value.end());
                }
            }
    }
    if (!networks_) return nullptr;
    // Few rows beside many planes: what each plane takes to begin with is more than a walk.
    if (n_rows < kManyPlanesRows && trees_.size() * 3 < networks_->n_planes()) return nullptr;
    return &*networks_;
}

const PackedForest* CompiledForest::codes_for(std::size_t n_rows) const {
    if (n_rows < kManyRows || linear_) return nullptr;
    const std::lock_guard hold(lock_);
    if (!tried_codes_) {
        const bool large = std::ranges::any_of(trees_, [](const auto& tree) { return tree->n_nodes() > kLargeNodes; });
        if (large) codes_ = coded(trees_, n_features_);
        tried_codes_ = true;
    }
    return codes_ ? &*codes_ : nullptr;
}

void CompiledForest::check(const TableView& table) const {
    require(table.columns.size() == n_features_, "The forest was grown on " + std::to_string(n_features_) +
                                                     " features; the table has " +
                                                     std::to_string(table.columns.size()) + ".");
}

// Calls on_block(begin, n) for blocks of rows, on several threads.
template <class OnBlock>
void CompiledForest::for_blocks(const TableView& table, std::size_t block_rows, int n_threads, StopRequest& stop,
                                OnBlock on_block) const {
    const bool small = table.n_rows * (n_features_ + trees_.size()) < kRowFeaturesPerThread;
    if (table.n_rows <= block_rows) return on_block(std::size_t{0}, table.n_rows);
    // A stripe of blocks at a time, so that Ctrl-C is noticed on the calling thread.
    const std::size_t stripe_rows = 64 * block_rows;
    for (std::size_t stripe = 0; stripe < table.n_rows; stripe += stripe_rows) {
        stop.check();
        const std::size_t n = std::min(stripe_rows, table.n_rows - stripe);
        parallel_ranges(n, block_rows, small ? 1 : n_threads, [&](std::size_t begin, std::size_t end) {
            for (; begin < end; begin += block_rows) on_block(stripe + begin, std::min(block_rows, end - begin));
        });
    }
}

// Calls reach(tree, row, leaf, values of the row).
template <class Reach>
void CompiledForest::walk(const TableView& table, TreeRange trees, int n_threads, StopRequest& stop,
                          Reach reach) const {
    const Walkers& steps = walkers();
    const std::size_t width = n_features_;
    for_blocks(table, kWalkRows, n_threads, stop, [&](std::size_t begin, std::size_t n) {
        thread_local Buffer<double> rows;
        if (rows.size() < n * width) rows.resize(n * width);
        for (std::size_t feature = 0; feature < width; ++feature)
            table.columns[feature].read(begin, n, rows.data() + feature, width);
        const double* const values = rows.data();
        steps.walk(values, n, width, trees, [&](std::size_t t, std::size_t row, NodeIndex leaf) {
            reach(t, begin + row, leaf, values + row * width);
        });
    });
}

void CompiledForest::add_scores(const TableView& table, std::span<double> scores, TreeRange trees, int n_threads,
                                StopRequest& stop) const {
    check(table);
    require(scores.size() == table.n_rows * n_outputs_, "The array of scores does not fit the table.");
    if (const SelectNetworks* networks = networks_for(table.n_rows); networks != nullptr)
        return add_by_networks(*networks, table, scores, trees, n_threads, stop);
    if (const PackedForest* codes = codes_for(table.n_rows); codes != nullptr)
        return walk_forest(*codes, table, trees, n_threads, stop,
                           [&](std::size_t t, std::size_t row, std::size_t n, const std::uint32_t* leaves) {
                               const Tree& tree = *trees_[t];
                               double* out = scores.data() + row * n_outputs_ + first_output_[t];
                               for (std::size_t i = 0; i < n; ++i, out += n_outputs_) {
                                   const auto leaf_value = tree.values_of(leaves[i]);
                                   for (std::size_t k = 0; k < leaf_value.size(); ++k) out[k] += leaf_value[k];
                               }
                           });
    walk(table, trees, n_threads, stop, [&](std::size_t t, std::size_t row, NodeIndex leaf, const double* values) {
        const Tree& tree = *trees_[t];
        double* const out = scores.data() + row * n_outputs_ + first_output_[t];
        if (linear_ && !tree.linear.empty()) {
            *out += linear_prediction(tree, leaf, [&](FeatureIndex feature) { return values[feature]; });
            return;
        }
        const auto leaf_value = tree.values_of(leaf);
        for (std::size_t k = 0; k < leaf_value.size(); ++k) out[k] += leaf_value[k];
    });
}

void CompiledForest::add_by_networks(const SelectNetworks& networks, const TableView& table, std::span<double> scores,
                                     TreeRange trees, int n_threads, StopRequest& stop) const {
    const std::size_t block_rows = block_rows_of(table);
    for_blocks(table, block_rows, n_threads, stop, [&](std::size_t begin, std::size_t n) {
        // Output by output, so that the rows of a lane lie side by side.
        thread_local Buffer<double> sums;
        constexpr std::size_t kStride = SelectNetworks::kBlockRows;
        if (sums.size() < n_outputs_ * kStride) sums.resize(n_outputs_ * kStride);
        double* const own = scores.data() + begin * n_outputs_;
        for (std::size_t row = 0; row < n; ++row)
            for (std::size_t k = 0; k < n_outputs_; ++k) sums[k * kStride + row] = own[row * n_outputs_ + k];
        networks.route(table, begin, n, trees, [&](std::size_t t, std::size_t row, const std::uint8_t* codes) {
            const std::size_t n_outputs = trees_[t]->n_outputs;
            const double* const values = leaf_values_.data() + first_value_[t];
            double* const sum = sums.data() + first_output_[t] * kStride + row;
            const std::size_t n_now = std::min(kRouteRows, n - row);
            if (n_outputs == 1 && n_now == kRouteRows) {
                for (std::size_t i = 0; i < kRouteRows; ++i) sum[i] += values[codes[i]];
                return;
            }
            for (std::size_t k = 0; k < n_outputs; ++k)
                for (std::size_t i = 0; i < n_now; ++i) sum[k * kStride + i] += values[codes[i] * n_outputs + k];
        });
        for (std::size_t row = 0; row < n; ++row)
            for (std::size_t k = 0; k < n_outputs_; ++k) own[row * n_outputs_ + k] = sums[k * kStride + row];
    });
}

void CompiledForest::find_leaves(const TableView& table, std::span<std::uint32_t> leaves, int n_threads,
                                 StopRequest& stop) const {
    check(table);
    const std::size_t n_trees = trees_.size();
    require(leaves.size() == table.n_rows * n_trees, "The array of leaves does not fit the table.");
    const SelectNetworks* const networks = networks_for(table.n_rows);
    if (const PackedForest* codes = networks == nullptr ? codes_for(table.n_rows) : nullptr; codes != nullptr)
        return walk_forest(*codes, table, {}, n_threads, stop,
                           [&](std::size_t t, std::size_t row, std::size_t n, const std::uint32_t* found) {
                               for (std::size_t i = 0; i < n; ++i) leaves[(row + i) * n_trees + t] = found[i];
                           });
    if (networks == nullptr)
        return walk(table, {}, n_threads, stop, [&](std::size_t t, std::size_t row, NodeIndex leaf, const double*) {
            leaves[row * n_trees + t] = leaf;
        });
    for_blocks(table, block_rows_of(table), n_threads, stop, [&](std::size_t begin, std::size_t n) {
        networks->route(table, begin, n, {}, [&](std::size_t t, std::size_t row, const std::uint8_t* codes) {
            const std::span<const NodeIndex> nodes = networks->leaves(t);
            std::uint32_t* const out = leaves.data() + (begin + row) * n_trees + t;
            for (std::size_t i = 0; i < std::min(kRouteRows, n - row); ++i) out[i * n_trees] = nodes[codes[i]];
        });
    });
}

std::size_t CompiledForest::n_bytes() const {
    const std::lock_guard hold(lock_);
    std::size_t bytes = leaf_values_.capacity() * sizeof(double) + first_value_.capacity() * sizeof(std::size_t);
    if (walkers_) bytes += walkers_->n_bytes();
    if (networks_) bytes += networks_->n_bytes();
    if (codes_) bytes += codes_->bytes();
    return bytes;
}

}  // namespace coterie
