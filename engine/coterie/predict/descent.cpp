#include "coterie/predict/descent.hpp"

#include <algorithm>
#include <numeric>

#include "coterie/kernels/kernels.hpp"

namespace coterie {
namespace {

constexpr std::size_t kPartNodes = 1 << 16;   // 512 KiB
constexpr std::size_t kNearForest = 1 << 18;  // nodes that stay in the second cache, or nearly
constexpr std::size_t kFarForest = 1 << 21;   // and nodes that do not stay in the last one
constexpr std::size_t kTransposed = 64;       // rows that are in the nearest cache with all their columns
constexpr std::size_t kTopSteps = 4;          // between two checks for lanes that have arrived
constexpr std::size_t kPartSteps = 8;

// Lanes that have arrived stay. No branch depends on the data. One tree: the nodes of lane 0 are
// those of all.
template <bool kOneTree, bool kNominal>
void walk_lanes(const PackedForest& forest, Lanes& lanes) {
    std::array<std::uint32_t, kLanes> at = lanes.at;
    const PackedNode* const nodes = lanes.nodes[0];
    for (std::uint32_t flags = 0; flags == 0;) {
        for (int i = 0; i < (kNominal ? 2 : 4); ++i) {
            flags = PackedNode::kLeafFlag;
            for (std::size_t k = 0; k < kLanes; ++k) {
                const PackedNode& node = (kOneTree ? nodes : lanes.nodes[k])[at[k]];
                const std::uint32_t condition = node.condition;
                const FeatureIndex feature = condition & PackedNode::kFeature;
                std::uint32_t code = lanes.codes[k][feature];
                if constexpr (kNominal) {
                    const bool nominal = condition & PackedNode::kNominal;
                    const std::uint32_t rank = lanes.ranks[k][nominal ? forest.first_rank[feature] + code : 0];
                    code = nominal ? rank : code;
                }
                const std::uint32_t next = node.left + !node.goes_left(code);
                const std::uint32_t stays = ~((condition >> 31) - 1);  // all bits at a leaf, none elsewhere
                at[k] = (at[k] & stays) | (next & ~stays);
                flags &= condition;
            }
        }
    }
    lanes.at = at;
}

std::size_t compared_index(std::uint32_t condition) {
    return 2 * (condition & PackedNode::kFeature) + (condition >> 30 & 1u);
}

}  // namespace

void walk_lanes(const PackedForest& forest, bool nominal, Lanes& lanes) {
    if (nominal)
        walk_lanes<false, true>(forest, lanes);
    else
        walk_lanes<false, false>(forest, lanes);
}

std::size_t nodes_per_row(std::size_t n_nodes) {
    if (n_nodes < kNearForest) return 12;
    return n_nodes < kFarForest ? 24 : 192;
}

void CodedRows::assign(const PackedForest& forest, const std::uint16_t* columns, std::size_t n) {
    const std::size_t d = forest.n_features;
    std::vector<std::size_t> seconds;  // features of the columns from d on
    ranked_.clear();
    compared_.clear();
    for (std::size_t feature = 0; feature < d; ++feature) {
        const std::uint16_t* const own = columns + feature * n;
        const auto first = static_cast<std::uint16_t>(feature);
        const auto second = static_cast<std::uint16_t>(d + seconds.size());
        if (forest.n_levels[feature] > 0) {
            ranked_.push_back({first, second, forest.first_rank[feature]});
            compared_.push_back({second, 0});
            compared_.push_back({static_cast<std::uint16_t>(second + 1), 1});
            seconds.insert(seconds.end(), 2, feature);
            continue;
        }
        const bool missing = std::find(own, own + n, std::uint16_t{0}) != own + n;
        compared_.push_back({first, 0});
        compared_.push_back(missing ? ComparedColumn{second, 1} : ComparedColumn{first, 0});
        if (missing) seconds.push_back(feature);
    }
    n_ = n;
    stride_ = d + seconds.size();
    resize_anew(codes_, n * stride_);
    for (std::size_t begin = 0; begin < n; begin += kTransposed) {
        const std::size_t end = std::min(n, begin + kTransposed);
        for (std::size_t column = 0; column < stride_; ++column) {
            const std::uint16_t less = column < d ? 0 : 1;
            const std::uint16_t* const from = columns + (column < d ? column : seconds[column - d]) * n;
            for (std::size_t i = begin; i < end; ++i)
                codes_[i * stride_ + column] = static_cast<std::uint16_t>(from[i] - less);
        }
    }
}

void CodedRows::rank_levels(const PackedTree& tree) {
    const std::uint16_t* const ranks = tree.ranks.data();
    std::uint16_t* row = codes_.data();
    for (std::size_t i = 0; i < n_; ++i, row += stride_)
        for (const Ranked& ranked : ranked_) {
            const std::uint16_t rank = ranks[ranked.first_rank + row[ranked.feature]];
            row[ranked.column] = rank;
            row[ranked.column + 1] = static_cast<std::uint16_t>(rank - 1);
        }
}

// Breadth first. A child's nodes begin where its own children are, and end where those of the right one begin.
void Descent::plan_parts(const Task& task) {
    const auto nodes = task.tree.nodes.view();
    parts_.clear();
    top_.clear();
    part_at_.clear();
    open_.assign(1, {0, 1, static_cast<NodeIndex>(nodes.size())});
    for (std::size_t i = 0; i < open_.size(); ++i) {
        const Part part = open_[i];
        const PackedNode& node = nodes[part.root];
        part_at_.push_back(static_cast<std::uint32_t>(parts_.size()));
        if (node.is_leaf() || part.n_nodes() <= kPartNodes) {
            top_.push_back({0, LaidNode::kAllGoLeft, static_cast<std::uint32_t>(i)});
            parts_.push_back(part);
            continue;
        }
        const ComparedColumn compared = task.rows.compared()[compared_index(node.condition)];
        top_.push_back({compared.column, static_cast<std::uint16_t>(node.code - compared.less),
                        static_cast<std::uint32_t>(open_.size())});
        const PackedNode& left = nodes[node.left];
        const PackedNode& right = nodes[node.left + 1];
        const NodeIndex middle = right.is_leaf() ? part.end : std::min(right.left, part.end);
        const NodeIndex begin = left.is_leaf() ? middle : std::min(left.left, middle);
        open_.push_back({node.left, begin, middle});
        open_.push_back({node.left + 1, middle, part.end});
    }
}

void Descent::sort_rows(const Task& task) {
    const std::size_t n = task.rows.size();
    order_.resize(n);
    std::iota(order_.begin(), order_.end(), 0u);
    first_.assign(parts_.size() + 1, 0);
    if (parts_.size() == 1) {
        first_[1] = static_cast<std::uint32_t>(n);
        return;
    }
    part_of_.resize(n);
    walk_laid_out(top_.data(), task.rows.codes(), order_, kTopSteps, false, part_of_.data());
    for (std::uint32_t& part : part_of_) {
        part = part_at_[part];
        ++first_[part + 1];
    }
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
    std::vector<std::uint32_t> next = first_;
    for (std::uint32_t row = 0; row < n; ++row) order_[next[part_of_[row]]++] = row;
}

// False if a node leads out of the part, as may be in trees that were not grown here. Plain: what nodes compare is in
// the columns of their features. The root of the part is node 0, and those below it follow.
template <bool kPlain>
bool Descent::lay_out(const Task& task, const Part& part) {
    if (nodes_.size() < part.n_nodes()) nodes_.resize(part.n_nodes());
    const PackedNode* const from = task.tree.nodes.data() + part.begin;
    const ComparedColumn* const columns = task.rows.compared();
    LaidNode* const to = nodes_.data() + 1;
    const std::uint32_t begin = part.begin;
    const std::size_t n = part.end - part.begin;
    std::uint32_t farthest = 0;
    const auto laid = [=, &farthest](const PackedNode& node, std::uint32_t own) {
        const std::uint32_t leaf = ~((node.condition >> 31) - 1);  // all bits, or none
        ComparedColumn compared{static_cast<std::uint16_t>(node.condition), 0};
        if constexpr (!kPlain) compared = columns[compared_index(node.condition)];
        const std::uint32_t left = node.left - begin;
        farthest = std::max(farthest, left & ~leaf);
        return LaidNode{compared.column, static_cast<std::uint16_t>((node.code - compared.less) | leaf),
                        ((left + 1) & ~leaf) | (own & leaf)};
    };
    to[-1] = laid(task.tree.nodes[part.root], 0);
    if constexpr (kPlain)
        farthest = std::max(farthest, kernels().node_walk.lay_out(from, n, begin, task.keeps_leaf_values(), to));
    else
        for (std::size_t i = 0; i < n; ++i) to[i] = laid(from[i], static_cast<std::uint32_t>(i + 1));
    return std::size_t{farthest} + 1 < n;
}

void Descent::walk_part(const Task& task, const Part& part, Rows rows) {
    const auto nodes = task.tree.nodes.view();
    if (nodes[part.root].is_leaf()) {
        for (const std::uint32_t row : rows) task.arrive(row, part.root);
        return;
    }
    if (task.should_lay_out(rows.size(), part.n_nodes()) &&
        (task.rows.plain() ? lay_out<true>(task, part) : lay_out<false>(task, part))) {
        walk_laid_part(task, part, rows);
        return;
    }
    Lanes lanes;
    lanes.nodes[0] = nodes.data();
    lanes.ranks.fill(task.tree.ranks.data());
    for (std::size_t first = 0; first < rows.size(); first += kLanes) {
        const std::size_t n_lanes = std::min(kLanes, rows.size() - first);
        for (std::size_t k = 0; k < kLanes; ++k) lanes.codes[k] = task.rows.row(rows[first + std::min(k, n_lanes - 1)]);
        lanes.at.fill(part.root);
        if (task.nominal)
            walk_lanes<true, true>(task.forest, lanes);
        else
            walk_lanes<true, false>(task.forest, lanes);
        for (std::size_t k = 0; k < n_lanes; ++k) task.arrive(rows[first + k], lanes.at[k]);
    }
}

void Descent::walk_laid_part(const Task& task, const Part& part, Rows rows) {
    const LeafNote note = task.keeps_leaf_values() ? LeafNote::column : LeafNote::number;
    const bool all = rows.size() == task.rows.size();  // in their own order
    std::uint32_t* ends = task.leaves;
    if (!all || note == LeafNote::number) {
        ends_.resize(rows.size());
        ends = ends_.data();
    }
    walk_laid_out(nodes_.data(), task.rows.codes(), rows, kPartSteps, false, ends, note);
    if (note == LeafNote::number)
        for (std::size_t i = 0; i < rows.size(); ++i) task.arrive(rows[i], part.begin + ends[i] - 1);
    else if (!all)
        for (std::size_t i = 0; i < rows.size(); ++i) task.leaves[rows[i]] = ends[i];
}

// A leaf compares nothing, but looks at its column: as many leaf values as there are columns have room there.
bool Descent::Task::keeps_leaf_values() const {
    return options.reached == Reached::leaf_value && rows.plain() &&
           tree.leaf_values.size() <= rows.codes().stride * forest.n_columns;
}

bool Descent::Task::should_lay_out(std::size_t n_rows, std::size_t n_nodes) const {
    return rows.have_room() && n_rows * options.nodes_per_row >= n_nodes;
}

void Descent::walk(const PackedForest& forest, const PackedTree& tree, CodedRows& rows, std::uint32_t* leaves,
                   const WalkOptions& options) {
    const Task task{forest, tree, rows, leaves, options, forest.n_ranks() > 0};
    if (task.should_lay_out(rows.size(), tree.nodes.size())) {
        rows.rank_levels(tree);
        plan_parts(task);
    } else {
        parts_.assign(1, {0, 1, static_cast<NodeIndex>(tree.nodes.size())});
    }
    sort_rows(task);
    for (std::size_t part = 0; part < parts_.size(); ++part) {
        const Rows own = Rows(order_).subspan(first_[part], first_[part + 1] - first_[part]);
        if (!own.empty()) walk_part(task, parts_[part], own);
    }
}

}  // namespace coterie
