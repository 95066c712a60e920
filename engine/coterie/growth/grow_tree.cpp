#include "coterie/growth/grow_tree.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <queue>
#include <string>

#include "coterie/base/error.hpp"
#include "coterie/base/parallel.hpp"
#include "coterie/base/random.hpp"
#include "coterie/growth/rounded_pairs.hpp"

namespace coterie {
namespace {

constexpr std::size_t kCellsPerThread = 6'000;
constexpr std::size_t kExactAnswersBelow = 131'072;  // rows up to which leaves answer from unrounded derivatives
constexpr std::size_t kAnswerChunk = 16'384;
constexpr std::size_t kCountedBelow = 65'536;  // rows that the 16 bits of a counted cell can count

}  // namespace

TreeGrower::TreeGrower(std::shared_ptr<const BinnedMatrix> matrix, GrowOptions options, int n_threads)
    : matrix_(std::move(matrix)),
      options_(std::move(options)),
      n_threads_(std::max(1, n_threads)),
      layout_(*matrix_),
      histograms_(*matrix_, layout_, n_threads_),
      partition_(*matrix_, n_threads_) {
    check_options();
}

void TreeGrower::check_options() const {
    const std::size_t n_features = matrix_->n_features();
    require(options_.monotone.empty() || options_.monotone.size() == n_features,
            "There are " + std::to_string(options_.monotone.size()) + " monotone constraints for " +
                std::to_string(n_features) + " features.");
    for (const auto& set : options_.interaction_sets)
        for (const FeatureIndex feature : set)
            require(feature < n_features, "An interaction set names feature " + std::to_string(feature) +
                                              "; there are " + std::to_string(n_features) + " features.");
    require(n_features > 0, "A tree needs at least one feature.");
    require(options_.l2 >= 0 && options_.min_child_weight >= 0 && options_.min_gain >= 0 && options_.max_features > 0 &&
                options_.level_l2 >= 0 && options_.level_smoothing >= 0,
            "Growth options must not be negative.");
    require(std::isfinite(options_.learning_rate) && std::isfinite(options_.answer_unit),
            "The learning rate and the unit of answers must be finite numbers.");
}

Tree TreeGrower::grow(const Derivatives& derivatives, std::uint64_t seed, StopRequest stop) {
    require(derivatives.gradient.size() == matrix_->n_rows(), "There must be one gradient for each row of the matrix.");
    derivatives_ = derivatives;
    seed_ = seed;
    grown_.clear();
    free_slots_.clear();
    for (int slot = static_cast<int>(slots_.size()) - 1; slot >= 0; --slot) free_slots_.push_back(slot);
    const std::size_t n_rows = derivatives.rows.empty() ? matrix_->n_rows() : derivatives.rows.size();
    counted_ = n_rows < kCountedBelow;
    units_ = round_all_pairs(derivatives.gradient, derivatives.hessian, n_rows, counted_, seed, n_threads_, pairs_);
    stop.check();

    TreeBuilder builder;
    OpenLeaf root;
    root.node = builder.add_root();
    root.rows = partition_.start(pairs_, derivatives.rows);
    for (std::uint32_t set = 0; set < options_.interaction_sets.size(); ++set) root.sets.push_back(set);
    root.slot = take_slot();
    histograms_.build(partition_.rows(root.rows, counted_), cells(root.slot));
    for (int code = 0; code < matrix_->lanes()[0].n_codes; ++code) root.total += cells(root.slot)[code];
    level_cost_ = noise_of_pairs(root.total);
    if (may_split(root)) {
        OpenLeaf* const only[] = {&root};
        find_splits(only, -1, -1);
    }

    const auto worse = [](const OpenLeaf& a, const OpenLeaf& b) {
        return a.split.gain < b.split.gain || (a.split.gain == b.split.gain && a.node > b.node);
    };
    std::priority_queue<OpenLeaf, std::vector<OpenLeaf>, decltype(worse)> open(worse);
    std::size_t n_leaves = 1;
    const auto add = [&](OpenLeaf& leaf) {
        if (leaf.split.gain > options_.min_gain && leaf.slot >= 0) {
            open.push(std::move(leaf));
            return;
        }
        if (leaf.slot >= 0) free_slots_.push_back(leaf.slot);
        finish_leaf(leaf, builder, answer_of(leaf));
    };
    if (!(root.split.gain > options_.min_gain)) {
        // Without a split there is nothing to say: the constant was found before the first tree.
        finish_leaf(root, builder, 0.0);
        return builder.finish();
    }
    add(root);
    const std::size_t budget = options_.max_leaf_nodes == 0 ? ~std::size_t{0} : options_.max_leaf_nodes;
    while (!open.empty() && n_leaves < budget) {
        stop.check();
        OpenLeaf leaf = open.top();
        open.pop();
        std::array<OpenLeaf, 2> children = split_leaf(leaf, builder);
        ++n_leaves;
        if (n_leaves < budget)
            build_children(leaf, children);
        else
            free_slots_.push_back(leaf.slot);
        for (OpenLeaf& child : children) add(child);
    }
    for (; !open.empty(); open.pop()) finish_leaf(open.top(), builder, answer_of(open.top()));
    return builder.finish();
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

// Squares of the gradients per hessian, in rounded units; whole numbers, so any order of addition gives the same.
double TreeGrower::noise_of_pairs(Cell total) const {
    const auto nominal = [&](const FeatureBins& bins) { return bins.nominal; };
    if (!(hessian_of(total) > 0) || std::ranges::none_of(matrix_->features(), nominal)) return 0;
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
    return static_cast<double>(squares) / hessian_of(total);
}

SplitTask TreeGrower::task_of(const OpenLeaf& leaf) const {
    const double per_hessian = 1.0 / units_.hessian;
    // Where every row has the same rounded hessian, min_samples_leaf is a bound on the hessian as well.
    const bool counts = derivatives_.hessian.empty();
    const double least = std::max({1.0, std::ceil(options_.min_child_weight * per_hessian),
                                   counts ? static_cast<double>(options_.min_samples_leaf) : 1.0});
    const double to_rounded = units_.hessian / units_.gradient;
    return {.total = leaf.total,
            .n_rows = static_cast<std::uint32_t>(leaf.rows.n),
            .l2 = static_cast<float>(options_.l2 * per_hessian),
            .min_hessian = static_cast<float>(least),
            .level_l2 = static_cast<float>(options_.level_l2 * per_hessian),
            .level_smoothing = static_cast<float>(options_.level_smoothing * per_hessian),
            .level_cost = static_cast<float>(level_cost_),
            .bounds = {.low = leaf.bounds.low * to_rounded, .high = leaf.bounds.high * to_rounded},
            .counted = counted_,
            .min_rows = options_.min_samples_leaf};
}

bool TreeGrower::may_split(const OpenLeaf& leaf) const {
    return leaf.rows.n >= 2 * std::size_t{std::max(1u, options_.min_samples_leaf)} &&
           (options_.max_depth == 0 || leaf.depth < options_.max_depth) && hessian_of(leaf.total) > 0;
}

// One flag per feature, or nothing if all are allowed.
std::vector<std::uint8_t> TreeGrower::allowed_features(const OpenLeaf& leaf) const {
    std::vector<std::uint8_t> allowed;
    const std::size_t n_features = matrix_->n_features();
    if (!options_.interaction_sets.empty()) {
        allowed.assign(n_features, 0);
        for (const std::uint32_t set : leaf.sets)
            for (const FeatureIndex feature : options_.interaction_sets[set]) allowed[feature] = 1;
    }
    if (options_.max_features >= 1.0) return allowed;
    if (allowed.empty()) allowed.assign(n_features, 1);
    std::vector<std::pair<std::uint64_t, FeatureIndex>> drawn;
    for (FeatureIndex feature = 0; feature < n_features; ++feature)
        if (allowed[feature])
            drawn.emplace_back(random_bits(seed_, Purpose::feature_draw, leaf.node * n_features + feature), feature);
    const auto keep = std::max<std::size_t>(
        1, static_cast<std::size_t>(std::ceil(options_.max_features * static_cast<double>(drawn.size()) - 1e-9)));
    std::sort(drawn.begin(), drawn.end());
    for (std::size_t i = keep; i < drawn.size(); ++i) allowed[drawn[i].second] = 0;
    return allowed;
}

// Finds the best split of each leaf. If asked, histogram `subtract_what` is taken from `subtract_from` first,
// tile by tile, so that a tile is still in the cache when it is scanned.
void TreeGrower::find_splits(std::span<OpenLeaf* const> leaves, int subtract_from, int subtract_what) {
    const std::size_t n_features = matrix_->n_features();
    candidates_.resize(leaves.size() * n_features);
    std::array<SplitTask, 2> tasks;
    std::array<std::vector<std::uint8_t>, 2> allowed;
    for (std::size_t k = 0; k < leaves.size(); ++k) {
        tasks[k] = task_of(*leaves[k]);
        allowed[k] = allowed_features(*leaves[k]);
    }
    const std::span<const Tile> tiles = layout_.tiles();
    const int threads = layout_.n_cells() > kCellsPerThread ? n_threads_ : 1;
    parallel_for(tiles.size(), threads, [&](std::size_t t) {
        const Tile& tile = tiles[t];
        if (subtract_from >= 0)
            kernels().subtract(cells(subtract_from) + tile.offset, cells(subtract_what) + tile.offset, tile.n_cells());
        for (std::size_t k = 0; k < leaves.size(); ++k) {
            float beat = -1.0f;
            for (std::uint32_t j = 0; j < tile.width; ++j)
                scan_lane(tile.first_lane + j, *leaves[k], tasks[k], allowed[k], beat,
                          std::span(candidates_).subspan(k * n_features, n_features));
        }
    });
    for (std::size_t k = 0; k < leaves.size(); ++k)
        leaves[k]->split = choose(*leaves[k], std::span(candidates_).subspan(k * n_features, n_features));
}

// The best split of each feature of a lane. Where rows need not be counted later, only a candidate that gains more
// than `beat`, the best so far, is of interest; on a tie the lower feature wins, so equal gains must be kept.
void TreeGrower::scan_lane(std::uint32_t lane_index, const OpenLeaf& leaf, const SplitTask& task,
                           std::span<const std::uint8_t> allowed, float& beat, std::span<Candidate> candidates) {
    const Lane& lane = matrix_->lanes()[lane_index];
    const Cell* const lane_cells = cells(leaf.slot) + layout_.lane_offset(lane_index);
    LaneCells room;
    if (lane.fused()) split_lane(*matrix_, lane, lane_cells, room);
    for (std::size_t place = 0; place < lane.features.size(); ++place) {
        const FeatureIndex feature = lane.features[place];
        Candidate& candidate = candidates[feature];
        candidate = {};
        const FeatureBins& bins = matrix_->feature(feature);
        if (bins.n_bins < 2 || (!allowed.empty() && !allowed[feature])) continue;
        const int direction = options_.monotone.empty() ? 0 : options_.monotone[feature];
        const Cell* const own = lane.fused() ? room.of(place) : lane_cells;
        candidate = best_candidate(bins, own, task, direction, {}, beat);
        if (counted_) beat = std::max(beat, std::nextafter(candidate.gain, -1.0f));
    }
}

// The cells of one feature of an open leaf, in the histogram itself or summed up in `room`.
const Cell* TreeGrower::feature_cells(const OpenLeaf& leaf, FeatureIndex feature, LaneCells& room) {
    const std::uint32_t lane_index = layout_.lane_of(feature);
    const Lane& lane = matrix_->lanes()[lane_index];
    const Cell* const lane_cells = cells(leaf.slot) + layout_.lane_offset(lane_index);
    if (!lane.fused()) return lane_cells;
    split_lane(*matrix_, lane, lane_cells, room);
    const auto place = std::find(lane.features.begin(), lane.features.end(), feature) - lane.features.begin();
    return room.of(static_cast<std::size_t>(place));
}

// The hessian proves that enough rows are in the child.
bool TreeGrower::surely_enough_rows(Cell child) const {
    return hessian_of(child) >
           static_cast<double>(units_.hessian_max) * (static_cast<double>(options_.min_samples_leaf) - 1);
}

// The best candidate whose children keep min_samples_leaf rows. Rows are counted only when the hessian leaves
// a doubt, and then for the winning feature alone, so counting costs next to nothing on large nodes.
Split TreeGrower::choose(const OpenLeaf& leaf, std::span<Candidate> candidates) {
    const SplitTask task = task_of(leaf);
    std::vector<std::vector<std::uint32_t>> counts(counted_ ? 0 : candidates.size());
    LaneCells room;
    for (;;) {
        std::size_t best = 0;
        for (std::size_t feature = 1; feature < candidates.size(); ++feature)
            if (candidates[feature].gain > candidates[best].gain) best = feature;
        const auto feature = static_cast<FeatureIndex>(best);
        const FeatureBins& bins = matrix_->feature(feature);
        const Cell* const own = feature_cells(leaf, feature, room);
        const Split split = counted_ ? spell_out(candidates[best], feature, bins, own, task, units_)
                                     : spell_out(candidates[best], feature, bins, own, task, units_, counts[best]);
        if (candidates[best].gain < 0 || split.gain <= options_.min_gain || counted_) return split;
        if (surely_enough_rows(split.left_total) && surely_enough_rows(leaf.total - split.left_total)) return split;
        if (!counts[best].empty()) return split;
        const std::size_t n_left = partition_.count_left(leaf.rows, feature, rule_of(split, rule_table_));
        if (n_left >= options_.min_samples_leaf && leaf.rows.n - n_left >= options_.min_samples_leaf) return split;
        counts[best] = partition_.count_bins(leaf.rows, feature);
        const int direction = options_.monotone.empty() ? 0 : options_.monotone[feature];
        candidates[best] =
            best_candidate(bins, own, task, direction, {.counts = counts[best], .least = options_.min_samples_leaf});
    }
}

std::array<TreeGrower::OpenLeaf, 2> TreeGrower::split_leaf(OpenLeaf& leaf, TreeBuilder& builder) {
    const Split& split = leaf.split;
    const NodeIndex left = builder.split(leaf.node, split, matrix_->feature(split.feature));
    builder.set_value(leaf.node, answer_of(leaf) * options_.learning_rate * options_.answer_unit);
    builder.set_cover(leaf.node, hessian_of(leaf.total) * units_.hessian, leaf.rows.n);
    const std::array<RowRange, 2> rows = partition_.split(leaf.rows, split.feature, rule_of(split, rule_table_));
    std::array<OpenLeaf, 2> children;
    for (std::uint32_t side = 0; side < 2; ++side) {
        OpenLeaf& child = children[side];
        child.node = left + side;
        child.depth = leaf.depth + 1;
        child.rows = rows[side];
        child.total = side == 0 ? split.left_total : leaf.total - split.left_total;
        child.bounds = leaf.bounds;
        for (const std::uint32_t set : leaf.sets) {
            const auto& members = options_.interaction_sets[set];
            if (std::find(members.begin(), members.end(), split.feature) != members.end()) child.sets.push_back(set);
        }
    }
    const int direction = options_.monotone.empty() ? 0 : options_.monotone[split.feature];
    if (direction != 0) {
        // Each side stays on its side of the middle, so that no later split can cross it.
        const double middle = (answer_of(children[0]) + answer_of(children[1])) / 2;
        (direction > 0 ? children[0].bounds.high : children[0].bounds.low) = middle;
        (direction > 0 ? children[1].bounds.low : children[1].bounds.high) = middle;
    }
    return children;
}

void TreeGrower::build_children(OpenLeaf& parent, std::array<OpenLeaf, 2>& children) {
    const std::array may = {may_split(children[0]), may_split(children[1])};
    if (!may[0] && !may[1]) {
        free_slots_.push_back(parent.slot);
        return;
    }
    const std::size_t small = children[0].rows.n <= children[1].rows.n ? 0 : 1;
    const std::size_t large = 1 - small;
    children[small].slot = take_slot();
    children[large].slot = parent.slot;
    histograms_.build(partition_.rows(children[small].rows, counted_), cells(children[small].slot));
    std::array<OpenLeaf*, 2> wanted{};
    std::size_t n = 0;
    for (std::size_t side = 0; side < 2; ++side)
        if (may[side]) wanted[n++] = &children[side];
    if (may[large])
        find_splits(std::span(wanted.data(), n), children[large].slot, children[small].slot);
    else
        find_splits(std::span(wanted.data(), n), -1, -1);
}

// Newton's step inside the leaf's bounds, before shrinkage: bounds are about unshrunk answers.
double TreeGrower::answer_of(const OpenLeaf& leaf) const {
    const double weight = hessian_of(leaf.total) * units_.hessian + options_.l2;
    const double gradient = static_cast<double>(sums_of(leaf.total, counted_).gradient) * units_.gradient;
    return weight > 0 ? leaf.bounds.clip(-gradient / weight) : 0.0;
}

void TreeGrower::finish_leaf(const OpenLeaf& leaf, TreeBuilder& builder, double answer) {
    const std::size_t n_all = derivatives_.rows.empty() ? matrix_->n_rows() : derivatives_.rows.size();
    if (n_all <= kExactAnswersBelow && leaf.depth > 0) {
        // Small tables: the rounded sums chose the split, the unrounded ones give the answer.
        double gradient = 0;
        double hessian = 0;
        const auto add = [&](RowIndex row) {
            gradient += static_cast<double>(derivatives_.gradient[row]);
            hessian += derivatives_.hessian.empty() ? 1.0 : static_cast<double>(derivatives_.hessian[row]);
        };
        if (leaf.rows.implicit)
            for (RowIndex row = 0; row < leaf.rows.n; ++row) add(row);
        else
            for (const Record record : partition_.records(leaf.rows)) add(row_of(record));
        const double weight = hessian + options_.l2;
        answer = weight > 0 ? leaf.bounds.clip(-gradient / weight) : 0.0;
    }
    answer *= options_.learning_rate;
    builder.set_value(leaf.node, answer * options_.answer_unit);
    builder.set_cover(leaf.node, hessian_of(leaf.total) * units_.hessian, leaf.rows.n);
    grown_.push_back({.rows = leaf.rows, .answer = answer});
}

void TreeGrower::add_answers(std::span<float> scores) const {
    require(scores.size() == matrix_->n_rows(), "There must be one score for each row of the matrix.");
    struct Piece {
        const Grown* leaf;
        std::size_t begin;
        std::size_t end;
    };
    std::vector<Piece> pieces;
    std::size_t n_rows = 0;
    for (const Grown& leaf : grown_) {
        n_rows += leaf.rows.n;
        for (std::size_t begin = 0; begin < leaf.rows.n; begin += kAnswerChunk)
            pieces.push_back({&leaf, begin, std::min(leaf.rows.n, begin + kAnswerChunk)});
    }
    parallel_for(pieces.size(), n_rows < 50'000 ? 1 : n_threads_, [&](std::size_t i) {
        const auto& [leaf, begin, end] = pieces[i];
        const auto answer = static_cast<float>(leaf->answer);
        if (leaf->rows.implicit) {
            for (std::size_t row = begin; row < end; ++row) scores[row] += answer;
            return;
        }
        const Record* const records = partition_.records(leaf->rows).data();
        for (std::size_t k = begin; k < end; ++k) scores[row_of(records[k])] += answer;
    });
}

}  // namespace coterie
