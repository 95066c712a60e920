#include "coterie/boosting/leaf_splitter.hpp"

#include <algorithm>
#include <numeric>

#include "coterie/base/parallel.hpp"
#include "coterie/boosting/leaf_sums.hpp"

namespace coterie {
namespace {

struct BySize {
    OpenLeaf& small;
    OpenLeaf& large;

    explicit BySize(std::array<OpenLeaf, 2>& children)
        : small(children[children[0].n_rows <= children[1].n_rows ? 0 : 1]),
          large(&small == &children[0] ? children[1] : children[0]) {}
};

// A histogram that is built from rows.
struct Built {
    NodeRows rows;
    Cell* cells = nullptr;
};

}  // namespace

LeafSplitter::LeafSplitter(const BinnedMatrix& matrix, const GrowOptions& options, int n_threads, const Slice& slice)
    : matrix_(matrix),
      options_(options),
      n_threads_(n_threads),
      slice_(slice),
      layout_(matrix),
      histograms_(matrix, layout_, n_threads, slice),
      pool_(layout_.n_cells(), 1, options.histogram_bytes, slice),
      partition_(matrix, n_threads, slice),
      rules_(matrix, layout_, options),
      search_(matrix, layout_, rules_, partition_),
      shared_search_(matrix, layout_, rules_, partition_),
      scratches_(1) {}

OpenLeaf LeafSplitter::start(const TreeFacts& facts, std::span<const Pair> pairs, std::span<const RowIndex> rows) {
    pool_.clear();
    OpenLeaf root = root_leaf(0, partition_.start(pairs, rows), options_);
    root.slot = pool_.acquire();
    Cell* const own = pool_.cells(root.slot);
    histograms_.build(partition_.rows(root.rows, facts.counted), own);
    std::uint64_t numbers[] = {root.n_rows, squares_of(pairs)};
    histograms_.reduce({&own, 1}, numbers);
    root.n_rows = numbers[0];
    root.total = std::accumulate(own, own + matrix_.bundles()[0].n_codes, Cell{0});
    TreeFacts complete = facts;
    const double hessian = facts.hessian(root.total);
    complete.noise = hessian > 0 ? static_cast<double>(numbers[1]) / hessian : 0;
    rules_.start(complete);
    root.splittable = rules_.splittable(root);
    return root;
}

void LeafSplitter::find_split(OpenLeaf& leaf) {
    const LeafCells only[] = {{&leaf, pool_.cells(leaf.slot)}};
    if (leaf.splittable) search_.find(only, {}, options_.min_gain, scratches_[0], n_threads_);
}

// The squares of the gradients, if anything needs what one split gains by chance: that many per hessian, in rounded
// units. Whole numbers, so any order of addition gives the same.
std::uint64_t LeafSplitter::squares_of(std::span<const Pair> pairs) const {
    const auto nominal = [&](const FeatureBins& bins) { return bins.nominal; };
    const bool needed = options_.split_noise > 0 || std::ranges::any_of(matrix_.features(), nominal);
    if (!needed) return 0;
    constexpr std::size_t kChunk = 32'768;
    std::vector<std::int64_t> parts((pairs.size() + kChunk - 1) / kChunk, 0);
    parallel_ranges(pairs.size(), kChunk, n_threads_, [&](std::size_t begin, std::size_t end) {
        std::int64_t sum = 0;
        for (std::size_t i = begin; i < end; ++i) {
            const std::int32_t gradient = static_cast<std::int16_t>(pairs[i] >> 16);
            sum += gradient * gradient;
        }
        parts[begin / kChunk] = sum;
    });
    return static_cast<std::uint64_t>(std::accumulate(parts.begin(), parts.end(), std::int64_t{0}));
}

void LeafSplitter::partition(OpenLeaf& leaf, bool left_known, Scratch& scratch, int n_threads) {
    split_rows(leaf, scratch, n_threads);
    const RowRange& left = (*leaf.children)[0].rows;
    set_children(leaf, left_known ? leaf.split.left_total : partition_.total(left, facts().counted));
}

void LeafSplitter::split_rows(OpenLeaf& leaf, Scratch& scratch, int n_threads) {
    const Split& split = leaf.split;
    const BinRule rule = rule_of(split, scratch.rule_table);
    const auto rows = partition_.split(leaf.rows, split.feature, rule, scratch.marks, n_threads);
    leaf.children = std::make_unique<std::array<OpenLeaf, 2>>(children_of(leaf, rows, options_));
}

// Sums and limits of children whose rows are known.
void LeafSplitter::set_children(OpenLeaf& leaf, Cell left_total) const {
    std::array<OpenLeaf, 2>& children = *leaf.children;
    children[0].total = left_total;
    children[1].total = leaf.total - left_total;
    bound_children(leaf, children);
    for (OpenLeaf& child : children) child.splittable = rules_.splittable(child);
}

// Each side of a monotone split stays on its side of the middle, so that no later split can cross it.
void LeafSplitter::bound_children(const OpenLeaf& leaf, std::array<OpenLeaf, 2>& children) const {
    const int direction = rules_.direction_of(leaf.split.feature);
    if (direction == 0) return;
    const auto value = [&](const OpenLeaf& child) {
        return node_value(rounded_sums(child.n_rows == 0 ? leaf : child, facts()), options_);
    };
    const double middle = leaf.bounds.clip((value(children[0]) + value(children[1])) / 2);
    (direction > 0 ? children[0].bounds.high : children[0].bounds.low) = middle;
    (direction > 0 ? children[1].bounds.low : children[1].bounds.high) = middle;
}

FreeSlots LeafSplitter::acquire_slots(const OpenLeaf& leaf) {
    const int small = pool_.acquire();
    return {.small = small, .large = leaf.slot >= 0 ? -1 : pool_.acquire()};
}

void LeafSplitter::find_child_splits(OpenLeaf& leaf, const FreeSlots& free, double least_gain, Scratch& scratch,
                                     int n_threads) {
    const auto [small, large] = BySize(*leaf.children);
    if (!small.splittable && !large.splittable) return;
    const bool subtract = leaf.slot >= 0 && large.splittable;
    const NodeRows rows = partition_.rows(small.rows, facts().counted);
    const bool by_panels = histograms_.by_panels(n_threads);
    if (subtract && !small.splittable && rows.n * matrix_.bundles().size() < layout_.n_cells()) {
        // Fewer rows than cells, and nobody needs their sums: they are taken from their parent's one by one.
        large.slot = leaf.slot;
        Cell* const cells = pool_.cells(large.slot);
        const auto take_away = [&](std::size_t panel) { histograms_.take_away(rows, layout_.panels()[panel], cells); };
        const ChunkTask fill(take_away);
        const LeafCells only[] = {{&large, cells}};
        if (by_panels)
            return search_.find(only, {.chunks = layout_.panels(), .fill = &fill}, least_gain, scratch, n_threads);
        histograms_.take_away(rows, layout_.all_tiles(), cells);
        return search_.find(only, {}, least_gain, scratch, n_threads);
    }
    std::array<LeafCells, 2> wanted{};
    std::size_t n_wanted = 0;
    std::array<Built, 2> built{};
    std::size_t n_built = 0;
    if (large.splittable) {
        large.slot = subtract ? leaf.slot : free.large;
        wanted[n_wanted++] = {&large, pool_.cells(large.slot)};
        if (!subtract) built[n_built++] = {partition_.rows(large.rows, facts().counted), pool_.cells(large.slot)};
    }
    if (small.splittable) {
        small.slot = free.small;
        wanted[n_wanted++] = {&small, pool_.cells(small.slot)};
    }
    if (small.splittable || subtract) built[n_built++] = {rows, pool_.cells(free.small)};
    // Threads that have panels of their own, or share few rows, meet once: each builds and scans its own tiles.
    const bool by_tiles = !by_panels && !histograms_.shares(built[0].rows);
    const auto build_chunk = [&](std::size_t chunk) {
        const TileRange tiles = by_panels ? layout_.panels()[chunk] : TileRange{chunk, chunk + 1};
        for (std::size_t i = 0; i < n_built; ++i) histograms_.build_tiles(built[i].rows, tiles, built[i].cells);
    };
    const ChunkTask fill(build_chunk);
    const bool fills = by_panels || by_tiles;
    for (std::size_t i = 0; i < n_built && !fills; ++i) histograms_.build(built[i].rows, built[i].cells);
    search_.find(std::span(wanted).first(n_wanted),
                 {.chunks = by_panels ? layout_.panels() : std::span<const TileRange>{},
                  .fill = fills ? &fill : nullptr,
                  .subtracted = subtract ? pool_.cells(free.small) : nullptr},
                 least_gain, scratch, n_threads);
}

void LeafSplitter::build_on(const NodeRows& rows, Cell* cells, int n_threads) {
    if (n_threads > 1)
        histograms_.build(rows, cells);
    else
        histograms_.build_alone(rows, cells);
}

void LeafSplitter::build_children(OpenLeaf& leaf, int free_slot, int n_threads) {
    const auto [small, large] = BySize(*leaf.children);
    if (!small.splittable && !large.splittable) return;
    build_on(partition_.rows(small.rows, facts().counted), pool_.cells(free_slot), n_threads);
    if (small.splittable) small.slot = free_slot;
    if (!large.splittable) return;
    large.slot = leaf.slot;
    kernels().split.subtract(pool_.cells(large.slot), pool_.cells(free_slot), layout_.n_cells());
}

void LeafSplitter::split_together(std::span<const SplitTogether> splits) {
    const std::span<Scratch> scratch = scratches(splits.size());
    std::vector<std::uint64_t> left(2 * splits.size());  // rows and sums
    parallel_for(splits.size(), n_threads_, [&](std::size_t i) {
        split_rows(*splits[i].leaf, scratch[i], 1);
        const RowRange& rows = (*splits[i].leaf->children)[0].rows;
        left[2 * i] = rows.n;
        left[2 * i + 1] = splits[i].left_known ? 0 : partition_.total(rows, facts().counted);
    });
    std::vector<Cell*> built;
    for (const SplitTogether& split : splits) build_together(split, built);
    histograms_.reduce(built, left);
    for (std::size_t i = 0; i < splits.size(); ++i) {
        const auto& [leaf, left_known, free] = splits[i];
        std::array<OpenLeaf, 2>& children = *leaf->children;
        children[0].n_rows = left[2 * i];
        children[1].n_rows = leaf->n_rows - left[2 * i];
        set_children(*leaf, left_known ? leaf->split.left_total : left[2 * i + 1]);
        if (free.small < 0) continue;
        const auto [small, large] = by_hessian(*leaf);
        if (small->splittable) small->slot = free.small;
        if (!large->splittable) continue;
        large->slot = leaf->slot >= 0 ? leaf->slot : free.large;
        if (leaf->slot >= 0)
            kernels().split.subtract(pool_.cells(large->slot), pool_.cells(free.small), layout_.n_cells());
    }
}

// The children in the order of their hessians: how many rows they have is known after an exchange, and histograms are
// in the same.
std::array<OpenLeaf*, 2> LeafSplitter::by_hessian(OpenLeaf& leaf) const {
    std::array<OpenLeaf, 2>& children = *leaf.children;
    const double left = facts().hessian(leaf.split.left_total);
    const bool left_first = 2 * left <= facts().hessian(leaf.total);
    return {&children[left_first ? 0 : 1], &children[left_first ? 1 : 0]};
}

// Builds what this worker's rows add to the histograms of the children, or of the smaller one if that of their parent
// is there. A child that turns out to be too small has its histogram for nothing.
void LeafSplitter::build_together(const SplitTogether& split, std::vector<Cell*>& built) {
    if (split.free.small < 0) return;
    const auto [small, large] = by_hessian(*split.leaf);
    if (options_.max_depth != 0 && small->depth >= options_.max_depth) return;
    const auto build_from_rows = [&](const OpenLeaf& child, int slot) {
        built.push_back(pool_.cells(slot));
        histograms_.build(partition_.rows(child.rows, facts().counted), built.back());
    };
    build_from_rows(*small, split.free.small);
    if (split.leaf->slot < 0) build_from_rows(*large, split.free.large);
}

void LeafSplitter::find_built_splits(OpenLeaf& leaf, double least_gain, Scratch& scratch) {
    std::vector<LeafCells> wanted;
    for (OpenLeaf& child : *leaf.children)
        if (child.slot >= 0) wanted.push_back({&child, pool_.cells(child.slot)});
    if (!wanted.empty()) search_.find(wanted, {}, least_gain, scratch, n_threads_);
}

void LeafSplitter::release_unused(OpenLeaf& leaf, const FreeSlots& free) {
    for (const int slot : {leaf.slot, free.small, free.large})
        if (slot >= 0 && std::ranges::none_of(*leaf.children, [&](const auto& child) { return child.slot == slot; }))
            pool_.release(slot);
    leaf.slot = -1;
}

std::span<Scratch> LeafSplitter::scratches(std::size_t n) {
    if (scratches_.size() < n) scratches_.resize(n);
    return std::span(scratches_).first(n);
}

}  // namespace coterie
