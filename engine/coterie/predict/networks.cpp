#include "coterie/predict/networks.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace coterie {
namespace {

constexpr std::size_t kMostCuts = 254;  // of a plane
constexpr std::size_t kPlaneStride = Networks::kBlockRows + kRouteRows;

bool same_question(const Tree& tree, NodeIndex a, NodeIndex b) {
    if (tree.is_leaf(a) || tree.is_leaf(b)) return tree.is_leaf(a) && tree.is_leaf(b);
    if (tree.feature[a] != tree.feature[b] || tree.missing_left[a] != tree.missing_left[b]) return false;
    if ((tree.levels[a] < 0) != (tree.levels[b] < 0)) return false;
    if (tree.levels[a] < 0) return tree.threshold[a] == tree.threshold[b];
    for (std::uint32_t level = 0; level + 1 < kMaxBins; ++level)
        if (tree.level_goes_left(tree.levels[a], level) != tree.level_goes_left(tree.levels[b], level)) return false;
    return true;
}

/// The levels of a symmetric tree, each with its nodes from left to right. Nothing if the tree is none.
std::optional<std::vector<std::vector<NodeIndex>>> levels_of(const Tree& tree) {
    std::vector<std::vector<NodeIndex>> levels{{0}};
    while (!tree.is_leaf(levels.back()[0])) {
        std::vector<NodeIndex> below;
        for (const NodeIndex node : levels.back()) {
            if (!same_question(tree, node, levels.back()[0])) return std::nullopt;
            below.push_back(tree.left[node]);
            below.push_back(tree.left[node] + 1);
        }
        levels.push_back(std::move(below));
    }
    const auto is_leaf = [&](NodeIndex node) { return tree.is_leaf(node); };
    if (!std::ranges::all_of(levels.back(), is_leaf)) return std::nullopt;
    return levels;
}

}  // namespace

/// Where the splits of the trees find their bytes.
class Networks::Planes {
public:
    explicit Planes(const std::vector<std::shared_ptr<const Tree>>& trees) {
        std::map<FeatureIndex, std::set<double>> cuts;
        std::set<FeatureIndex> nominal;
        for (const auto& tree : trees)
            for (NodeIndex node = 0; node < tree->n_nodes(); ++node) {
                if (tree->is_leaf(node)) continue;
                const auto feature = static_cast<FeatureIndex>(tree->feature[node]);
                if (tree->levels[node] >= 0)
                    nominal.insert(feature);
                else
                    cuts[feature].insert(tree->threshold[node]);
            }
        for (const auto& [feature, values] : cuts) {
            std::vector<double>& own = cuts_[feature];
            own.assign(values.begin(), values.end());
            first_[feature] = features.size();
            for (std::size_t begin = 0; begin < own.size(); begin += kMostCuts) {
                const std::size_t end = std::min(own.size(), begin + kMostCuts);
                features.push_back(feature);
                bins.push_back({.nominal = false,
                                .n_bins = static_cast<int>(end - begin) + 2,
                                .cuts = {own.begin() + static_cast<std::ptrdiff_t>(begin),
                                         own.begin() + static_cast<std::ptrdiff_t>(end)}});
            }
        }
        for (const FeatureIndex feature : nominal) {
            levels_[feature] = features.size();
            features.push_back(feature);
            bins.push_back({.nominal = true, .n_bins = kMaxBins, .cuts = {}});
        }
    }

    std::size_t of_levels(FeatureIndex feature) const { return levels_.at(feature); }

    /// The plane of a threshold, and the last bin at or below it.
    std::pair<std::size_t, Bin> of_threshold(FeatureIndex feature, double threshold) const {
        const std::vector<double>& cuts = cuts_.at(feature);
        const auto place = static_cast<std::size_t>(std::ranges::lower_bound(cuts, threshold) - cuts.begin());
        return {first_.at(feature) + place / kMostCuts, static_cast<Bin>(place % kMostCuts + 1)};
    }

    std::vector<FeatureIndex> features;
    std::vector<FeatureBins> bins;

private:
    std::map<FeatureIndex, std::vector<double>> cuts_;
    std::map<FeatureIndex, std::size_t> first_;
    std::map<FeatureIndex, std::size_t> levels_;
};

std::optional<Networks> Networks::of(const std::vector<std::shared_ptr<const Tree>>& trees) {
    for (const auto& tree : trees)
        if (static_cast<std::size_t>(std::ranges::count(tree->feature, kLeaf)) > kMostLeaves) return std::nullopt;
    Planes planes(trees);
    Networks networks;
    for (const auto& tree : trees) {
        const auto levels = levels_of(*tree);
        networks.is_levelled_.push_back(levels.has_value());
        if (levels) {
            for (std::size_t depth = 0; depth + 1 < levels->size(); ++depth)
                networks.steps_.push_back(networks.step_of(*tree, planes, (*levels)[depth][0]));
            networks.leaves_.insert(networks.leaves_.end(), levels->back().begin(), levels->back().end());
            networks.root_.push_back(kMostLeaves);
            networks.first_step_.push_back(networks.steps_.size());
            networks.first_leaf_.push_back(networks.leaves_.size());
            continue;
        }
        std::vector<std::uint32_t> code(tree->n_nodes());
        for (NodeIndex node = 0; node < tree->n_nodes(); ++node) {
            if (!tree->is_leaf(node)) continue;
            code[node] = static_cast<std::uint32_t>(networks.leaves_.size() - networks.first_leaf_.back());
            networks.leaves_.push_back(node);
        }
        networks.root_.push_back(networks.add_steps(*tree, planes, 0, kMostLeaves, code));
        networks.first_step_.push_back(networks.steps_.size());
        networks.first_leaf_.push_back(networks.leaves_.size());
    }
    networks.features_ = std::move(planes.features);
    networks.mapper_.emplace(std::move(planes.bins));
    return networks;
}

// Post-order: what is below a split comes first. The answer of a split waits in `lane`; its right side may use the next
// one on. Returns where the codes of the node are.
std::uint32_t Networks::add_steps(const Tree& tree, const Planes& planes, NodeIndex node, std::uint32_t lane,
                                  std::span<const std::uint32_t> code) {
    if (tree.is_leaf(node)) return code[node];
    const std::uint32_t left = add_steps(tree, planes, tree.left[node], lane, code);
    const std::uint32_t right = add_steps(tree, planes, tree.left[node] + 1, left == lane ? lane + 1 : lane, code);
    RouteStep& step = steps_.emplace_back(step_of(tree, planes, node));
    step.left = left;
    step.right = right;
    step.to = lane;
    n_lanes_ = std::max<std::size_t>(n_lanes_, lane + 1);
    return lane;
}

/// What the split asks, without the lanes.
RouteStep Networks::step_of(const Tree& tree, const Planes& planes, NodeIndex node) {
    RouteStep step;
    const auto feature = static_cast<FeatureIndex>(tree.feature[node]);
    const bool missing_left = tree.missing_left[node] != 0;
    if (tree.levels[node] < 0) {
        const auto [plane, last] = planes.of_threshold(feature, tree.threshold[node]);
        step.column = plane * kPlaneStride;
        step.last = last;
        step.shift = missing_left ? Bin{0} : Bin{1};
        return step;
    }
    step.column = planes.of_levels(feature) * kPlaneStride;
    LevelBits& set = *sets_.emplace_back(std::make_unique<LevelBits>());
    if (missing_left) set.bits[0] |= 1;
    for (std::uint32_t level = 0; level + 1 < kMaxBins; ++level)
        if (tree.level_goes_left(tree.levels[node], level))
            set.bits[(level + 1) / 8] |= static_cast<std::uint8_t>(1u << ((level + 1) % 8));
    step.set = set.bits;
    return step;
}

void Networks::prepare(Scratch& scratch, const TableView& table, std::size_t begin, std::size_t n) const {
    scratch.planes.resize(n_planes() * kPlaneStride);
    for (std::size_t plane = 0; plane < n_planes(); ++plane)
        for (std::size_t done = 0; done < n; done += 256)
            mapper_->map(static_cast<FeatureIndex>(plane), table.columns[features_[plane]], begin + done,
                         std::min<std::size_t>(256, n - done), scratch.planes.data() + plane * kPlaneStride + done);
    if (scratch.lanes.size() >= n_lanes_ * kRouteRows) return;
    scratch.lanes.resize(n_lanes_ * kRouteRows);
    for (std::size_t code = 0; code < kMostLeaves; ++code)
        std::fill_n(scratch.lanes.data() + code * kRouteRows, kRouteRows, static_cast<std::uint8_t>(code));
}

std::size_t Networks::n_bytes() const {
    return steps_.capacity() * sizeof(RouteStep) + leaves_.capacity() * sizeof(NodeIndex) +
           sets_.size() * sizeof(LevelBits) + n_planes() * (sizeof(CutTable<float>) + sizeof(CutTable<double>)) +
           n_trees() * (2 * sizeof(std::size_t) + sizeof(std::uint32_t));
}

}  // namespace coterie
