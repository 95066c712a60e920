#include "coterie/predict/select_networks.hpp"

#include <algorithm>
#include <functional>
#include <limits>

#include "coterie/tree/route_plan.hpp"

namespace coterie {
namespace {

constexpr std::size_t kMaxCuts = 254;  // of a plane
constexpr std::size_t kPlaneStride = SelectNetworks::kBlockRows + kRouteRows;

bool same_split(const Tree& tree, NodeIndex a, NodeIndex b) {
    if (tree.is_leaf(a) || tree.is_leaf(b)) return tree.is_leaf(a) && tree.is_leaf(b);
    if (tree.feature[a] != tree.feature[b] || tree.missing_left[a] != tree.missing_left[b]) return false;
    if ((tree.levels[a] < 0) != (tree.levels[b] < 0)) return false;
    if (tree.levels[a] < 0) return tree.threshold[a] == tree.threshold[b];
    for (std::uint32_t level = 0; level + 1 < kMaxBins; ++level)
        if (tree.level_goes_left(tree.levels[a], level) != tree.level_goes_left(tree.levels[b], level)) return false;
    return true;
}

/// The values of a row lie side by side, and so that they may be read as what they are.
bool side_by_side(std::span<const ColumnView> columns, ValueType type, std::size_t size) {
    const auto address = reinterpret_cast<std::uintptr_t>(columns[0].data);
    if (address % size != 0 || columns[0].stride % static_cast<std::ptrdiff_t>(size) != 0) return false;
    for (std::size_t k = 0; k < columns.size(); ++k)
        if (columns[k].type != type || columns[k].stride != columns[0].stride ||
            columns[k].data != columns[0].data + static_cast<std::ptrdiff_t>(k * size))
            return false;
    return true;
}

/// The nodes of each depth of a symmetric tree, from left to right. Nothing if the tree is none.
std::optional<std::vector<std::vector<NodeIndex>>> nodes_by_depth(const Tree& tree) {
    std::vector<std::vector<NodeIndex>> nodes{{0}};
    while (!tree.is_leaf(nodes.back()[0])) {
        std::vector<NodeIndex> below;
        for (const NodeIndex node : nodes.back()) {
            if (!same_split(tree, node, nodes.back()[0])) return std::nullopt;
            below.push_back(tree.left[node]);
            below.push_back(tree.left[node] + 1);
        }
        nodes.push_back(std::move(below));
    }
    const auto is_leaf = [&](NodeIndex node) { return tree.is_leaf(node); };
    if (!std::ranges::all_of(nodes.back(), is_leaf)) return std::nullopt;
    return nodes;
}

}  // namespace

/// Where the splits of the trees find their bytes.
class SelectNetworks::Planes {
public:
    Planes(const std::vector<std::shared_ptr<const Tree>>& trees, std::size_t n_features) : of_feature_(n_features) {
        for (const auto& tree : trees)
            for (NodeIndex node = 0; node < tree->n_nodes(); ++node) {
                if (tree->is_leaf(node)) continue;
                Own& own = of_feature_[static_cast<std::size_t>(tree->feature[node])];
                if (tree->levels[node] >= 0)
                    own.nominal = true;
                else
                    own.cuts.push_back(tree->threshold[node]);
            }
        for (Own& own : of_feature_) {
            std::ranges::sort(own.cuts);
            own.cuts.erase(std::unique(own.cuts.begin(), own.cuts.end()), own.cuts.end());
        }
        for (std::size_t first = 0; first < n_features; first += kStripFeatures) {
            const std::size_t end = std::min(first + kStripFeatures, n_features);
            if (is_strip(first))
                strips.push_back(static_cast<FeatureIndex>(first));
            else
                for (std::size_t feature = first; feature < end; ++feature) add(static_cast<FeatureIndex>(feature));
        }
        for (std::size_t strip = 0; strip < strips.size(); ++strip)
            for (std::size_t k = 0; k < kStripFeatures; ++k)
                of_feature_[strips[strip] + k].first = features.size() + strip * kStripFeatures + k;
    }

    const std::vector<double>& cuts(std::size_t feature) const { return of_feature_[feature].cuts; }

    std::size_t of_levels(FeatureIndex feature) const { return of_feature_[feature].levels; }

    /// The plane of a threshold, and the last bin at or below it.
    std::pair<std::size_t, Bin> of_threshold(FeatureIndex feature, double threshold) const {
        const Own& own = of_feature_[feature];
        const auto index = static_cast<std::size_t>(std::ranges::lower_bound(own.cuts, threshold) - own.cuts.begin());
        return {own.first + index / kMaxCuts, static_cast<Bin>(index % kMaxCuts + 1)};
    }

    std::vector<FeatureIndex> features;  // of planes, before those of strips
    std::vector<FeatureBins> bins;
    std::vector<FeatureIndex> strips;  // the first feature of each

private:
    struct Own {
        std::vector<double> cuts;  // ascending, each once
        bool nominal = false;      // some splits are by levels
        std::size_t first = 0;     // plane of cuts
        std::size_t levels = 0;    // plane of levels
    };

    /// Whether sixteen features are worth mapping together: at least half of them are used.
    bool is_strip(std::size_t first) const {
        if (first + kStripFeatures > of_feature_.size()) return false;
        const std::span<const Own> all(of_feature_.data() + first, kStripFeatures);
        const auto fits = [](const Own& own) { return !own.nominal && own.cuts.size() <= kMaxStripCuts; };
        const auto is_used = [](const Own& own) { return !own.cuts.empty(); };
        return std::ranges::all_of(all, fits) &&
               static_cast<std::size_t>(std::ranges::count_if(all, is_used)) * 2 >= kStripFeatures;
    }

    void add(FeatureIndex feature) {
        Own& own = of_feature_[feature];
        own.first = features.size();
        for (std::size_t begin = 0; begin < own.cuts.size(); begin += kMaxCuts) {
            const std::size_t end = std::min(own.cuts.size(), begin + kMaxCuts);
            features.push_back(feature);
            bins.push_back({.nominal = false,
                            .n_bins = static_cast<int>(end - begin) + 2,
                            .cuts = {own.cuts.begin() + static_cast<std::ptrdiff_t>(begin),
                                     own.cuts.begin() + static_cast<std::ptrdiff_t>(end)}});
        }
        if (!own.nominal) return;
        own.levels = features.size();
        features.push_back(feature);
        bins.push_back({.nominal = true, .n_bins = kMaxBins, .cuts = {}});
    }

    std::vector<Own> of_feature_;
};

std::optional<SelectNetworks> SelectNetworks::of(const std::vector<std::shared_ptr<const Tree>>& trees,
                                                 std::size_t n_features) {
    for (const auto& tree : trees)
        if (static_cast<std::size_t>(std::ranges::count(tree->feature, kLeaf)) > kMaxLeaves) return std::nullopt;
    Planes planes(trees, n_features);
    SelectNetworks networks;
    for (const auto& tree : trees) {
        const auto nodes = nodes_by_depth(*tree);
        networks.is_symmetric_.push_back(nodes.has_value());
        if (nodes) {
            for (std::size_t depth = 0; depth + 1 < nodes->size(); ++depth)
                networks.steps_.push_back(networks.step_of(*tree, planes, (*nodes)[depth][0]));
            networks.leaves_.insert(networks.leaves_.end(), nodes->back().begin(), nodes->back().end());
        } else {
            networks.add_tree(*tree, planes);
        }
        networks.first_step_.push_back(networks.steps_.size());
        networks.first_leaf_.push_back(networks.leaves_.size());
    }
    for (const FeatureIndex first : planes.strips) {
        Strip& strip = networks.strips_.emplace_back();
        strip.first = first;
        for (std::size_t k = 0; k < kStripFeatures; ++k) {
            const std::vector<double>& cuts = planes.cuts(first + k);
            strip.doubles.n_cuts = strip.floats.n_cuts = std::max(strip.doubles.n_cuts, cuts.size());
            for (std::size_t j = 0; j < kMaxStripCuts; ++j) {
                const double cut = j < cuts.size() ? cuts[j] : std::numeric_limits<double>::infinity();
                strip.doubles.cuts[j][k] = cut;
                strip.floats.cuts[j][k] = float_below(cut);
            }
        }
    }
    networks.n_single_ = planes.features.size();
    networks.features_ = std::move(planes.features);
    networks.mapper_.emplace(std::move(planes.bins));
    return networks;
}

struct SelectNetworks::Splits {
    const Tree& tree;
    std::vector<std::uint8_t> codes;              // by node: of leaves
    std::function<RouteStep(NodeIndex)> step_of;  // the rule of a split

    bool is_leaf(NodeIndex node) const { return tree.is_leaf(node); }
    NodeIndex left(NodeIndex node) const { return tree.left[node]; }
    std::uint8_t code(NodeIndex leaf) const { return codes[leaf]; }
    RouteStep step(NodeIndex node) const { return step_of(node); }
};

void SelectNetworks::add_tree(const Tree& tree, const Planes& planes) {
    Splits splits{.tree = tree, .codes = std::vector<std::uint8_t>(tree.n_nodes()), .step_of = [&](NodeIndex node) {
                      return step_of(tree, planes, node);
                  }};
    for (NodeIndex node = 0; node < tree.n_nodes(); ++node) {
        if (!tree.is_leaf(node)) continue;
        splits.codes[node] = static_cast<std::uint8_t>(leaves_.size() - first_leaf_.back());
        leaves_.push_back(node);
    }
    RoutePlan(splits, steps_).add(0, tree.n_nodes());
}

/// The rule of the split: rows that go left pass.
RouteStep SelectNetworks::step_of(const Tree& tree, const Planes& planes, NodeIndex node) {
    RouteStep step;
    const auto feature = static_cast<FeatureIndex>(tree.feature[node]);
    const bool missing_left = tree.missing_left[node] != 0;
    if (tree.levels[node] < 0) {
        const auto [plane, last] = planes.of_threshold(feature, tree.threshold[node]);
        step.column = plane * kPlaneStride;
        step.shift = missing_left ? Bin{0} : Bin{1};
        step.span = static_cast<Bin>(last - step.shift);
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

void SelectNetworks::fill_planes(Buffer<Bin>& planes, const TableView& table, std::size_t begin, std::size_t n) const {
    planes.resize(n_planes() * kPlaneStride);
    for (std::size_t plane = 0; plane < n_single_; ++plane)
        for (std::size_t done = 0; done < n; done += 256)
            mapper_->map(static_cast<FeatureIndex>(plane), table.columns[features_[plane]], begin + done,
                         std::min<std::size_t>(256, n - done), planes.data() + plane * kPlaneStride + done);
    if (!strips_.empty()) map_strips(planes.data() + n_single_ * kPlaneStride, table, begin, n);
}

// A few rows at a time, so that each is read from its beginning to its end: a processor foresees that.
void SelectNetworks::map_strips(Bin* planes, const TableView& table, std::size_t begin, std::size_t n) const {
    constexpr std::size_t kRows = 16;
    for (std::size_t done = 0; done < n; done += kRows) {
        const std::size_t n_now = std::min(kRows, n - done);
        Bin* out = planes + done;
        for (const Strip& strip : strips_) {
            map_strip(strip, table, begin + done, n_now, out);
            out += kStripFeatures * kPlaneStride;
        }
    }
}

void SelectNetworks::map_strip(const Strip& strip, const TableView& table, std::size_t begin, std::size_t n,
                               Bin* out) const {
    const std::span<const ColumnView> columns(table.columns.data() + strip.first, kStripFeatures);
    const std::byte* const rows = columns[0].data + static_cast<std::ptrdiff_t>(begin) * columns[0].stride;
    if (side_by_side(columns, ValueType::float32, sizeof(float)))
        return kernels().binning.map_strip_float(rows, columns[0].stride, n, strip.floats, kPlaneStride, out);
    if (side_by_side(columns, ValueType::float64, sizeof(double)))
        return kernels().binning.map_strip_double(rows, columns[0].stride, n, strip.doubles, kPlaneStride, out);
    std::array<double, 16 * kStripFeatures> copies;
    for (std::size_t k = 0; k < kStripFeatures; ++k) columns[k].read(begin, n, copies.data() + k, kStripFeatures);
    kernels().binning.map_strip_double(reinterpret_cast<const std::byte*>(copies.data()),
                                       kStripFeatures * sizeof(double), n, strip.doubles, kPlaneStride, out);
}

std::size_t SelectNetworks::n_bytes() const {
    return steps_.capacity() * sizeof(RouteStep) + leaves_.capacity() * sizeof(NodeIndex) +
           sets_.size() * sizeof(LevelBits) + n_single_ * (sizeof(CutTable<float>) + sizeof(CutTable<double>)) +
           strips_.capacity() * sizeof(Strip) + n_trees() * 2 * sizeof(std::size_t);
}

}  // namespace coterie
