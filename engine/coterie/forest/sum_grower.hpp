// forest/sum_grower.hpp: the grower of sum trees (sum_tree.hpp says how), for any way to keep the sums of a node.
//
// Made for three kinds of targets, each in a file of its own: two_class_trees.cpp, class_trees.cpp, number_trees.cpp.
#pragma once

#include <cstring>
#include <memory>

#include "coterie/base/error.hpp"
#include "coterie/base/prefetch.hpp"
#include "coterie/forest/few_grower.hpp"
#include "coterie/forest/few_search.hpp"
#include "coterie/forest/out_rows.hpp"
#include "coterie/forest/sum_tree.hpp"
#include "coterie/forest/tallies.hpp"
#include "coterie/forest/transposed_rows.hpp"

namespace coterie::sums {

struct Task {
    const ForestRows& rows;
    const WholeTargets& targets;
    const ForestTreeOptions& options;
    const PackedForest& forest;
    bool whole_weights;
    const ForestColumns& columns;
};

std::unique_ptr<SumTreeGrower> make_for_two_classes(const Task& task);
std::unique_ptr<SumTreeGrower> make_for_classes(const Task& task);
std::unique_ptr<SumTreeGrower> make_for_numbers(const Task& task);

inline constexpr std::size_t kBlockBytes = std::size_t{384} << 10;
inline constexpr std::size_t kMaxBlockRows = 4096;  // and at least kMaxNumberRows, whose search wants levels as ranks

/// What the whole numbers of a node stand for: a target is number * unit + centre.
struct Scale {
    double unit = 1.0;
    double centre = 0.0;
};

template <class Total>
struct Job {
    std::size_t begin;
    std::size_t end;
    NodeIndex node;
    std::uint32_t depth;
    std::uint32_t state;  // of allowed features
    bool local;           // its codes are in the block
    Scale scale;
    Total total;  // of all records

    std::size_t size() const { return end - begin; }
};

template <class Kind>
class Grower final : public SumTreeGrower {
public:
    using Statistic = typename Kind::Statistic;
    using Total = typename Kind::Total;
    using Tally = typename Kind::Tally;
    using Job = sums::Job<Total>;

    Grower(const ForestRows& rows, const WholeTargets& targets, const ForestTreeOptions& options,
           const PackedForest& forest)
        : rows_(rows),
          targets_(targets),
          forest_(forest),
          writer_(rows, options.tree),
          allowed_(options, rows.n_features()),
          finder_(rows, options, forest),
          few_search_(rows, finder_.draws()),
          few_(writer_),
          transposed_(rows.n_features()),
          out_rows_(rows, forest),
          all_(rows),
          left_(rows),
          right_(rows),
          stride_(rows.table.row_stride),
          block_rows_(std::clamp(kBlockBytes / (stride_ * sizeof(Code)), kMaxNumberRows, kMaxBlockRows)),
          block_(block_rows_ * stride_ + kCacheLine),
          block_place_(block_rows_) {
        for (std::size_t feature = 0; feature < rows.n_features(); ++feature)
            if (rows.n_levels[feature] > 0) nominal_.push_back(static_cast<FeatureIndex>(feature));
    }

    GrownTree& grow(const Bag& bag, std::vector<std::uint16_t> ranks, Cancellation& cancellation) override {
        writer_.start(std::move(ranks), false, 0.0);
        finder_.start_tree(tree_.ranks.data(), random_bits(bag.seed, Purpose::feature_draw, 0));
        allowed_.start_tree(bag.seed);
        stack_.clear();
        Job root{.begin = 0,
                 .end = bag.in.size(),
                 .node = 0,
                 .depth = 0,
                 .state = allowed_.root(),
                 .local = false,
                 .scale = {targets_.unit, targets_.centre},
                 .total = {}};
        fill_records(bag, root);
        total_weight_ = root.total.weight();
        new_node(all_, root.scale);
        open(root);
        while (!stack_.empty()) {
            cancellation.check();
            Job job = stack_.back();
            stack_.pop_back();
            if (extent_of(job) <= block_rows_)
                grow_block(job);
            else
                grow_node(job);
        }
        out_rows_.walk(bag, tree_);
        return tree_;
    }

private:
    static constexpr bool kRescales = std::is_same_v<Statistic, NumberStatistic>;
    static constexpr bool kLabels = !std::is_same_v<Statistic, Total>;

    void fill_records(const Bag& bag, Job& job) {
        records_.resize(bag.in.size());
        twin_.resize(bag.in.size() + 1);
        for (std::size_t i = 0; i < bag.in.size(); ++i) {
            const RowIndex place = bag.in[i];
            const double target = kRescales ? 0.0 : targets_.value[place];
            records_[i] = {.statistic = Statistic::of(target, bag.weight[i]), .row = place};
        }
        if constexpr (kRescales)
            rescale(job);
        else
            count(job);
    }

    std::span<const Record<Statistic>> records(std::size_t begin, std::size_t end) const {
        return {records_.data() + begin, end - begin};
    }

    void count(Job& job) {
        all_.count(records(job.begin, job.end));
        job.total = all_.total;
    }

    // Numbers have as many bits as the sum of all can have: the fewer rows, the finer. Returns whether targets differ.
    bool rescale(Job& job) {
        double low = std::numeric_limits<double>::infinity();
        double high = -low;
        double weight = 0.0;
        for (std::size_t i = job.begin; i < job.end; ++i) {
            const double target = rows_.targets.value[place_of(job, i)];
            low = std::min(low, target);
            high = std::max(high, target);
            weight += records_[i].statistic.weight();
        }
        const int bits = 39 - std::bit_width(static_cast<std::uint64_t>(weight));
        job.scale = {.unit = high > low ? (high - low) / (std::exp2(bits) - 1.0) : 1.0, .centre = low};
        const double times = 1.0 / job.scale.unit;
        for (std::size_t i = job.begin; i < job.end; ++i) {
            const double number = std::nearbyint((rows_.targets.value[place_of(job, i)] - low) * times);
            records_[i].statistic = Statistic::of(std::max(0.0, number), records_[i].statistic.weight());
        }
        count(job);
        return high > low;
    }

    NodeIndex new_node(const Tally& tally, const Scale& scale) {
        if constexpr (kLabels) {
            const double weight = tally.total.weight();
            for (const auto sum : tally.sums) tree_.value.push_back(static_cast<double>(sum) / weight);
            return writer_.add(weight);
        } else {
            const Sums sums = tally.total.sums();
            if (rows_.targets.are_classes()) return writer_.add(sums);
            tree_.value.push_back(scale.centre + sums.sum / sums.weight * scale.unit);
            return writer_.add(sums.weight);
        }
    }

    // From a difference of scores to one of impurities.
    double factor(const Scale& scale) const {
        if (rows_.targets.are_classes()) return Kind::kSquares ? 2.0 : 1.0;
        return Kind::kSquares ? scale.unit * scale.unit : scale.unit;
    }

    // Rows with their copies: where a block begins must not depend on whether copies are rows or a weight.
    static std::size_t extent_of(const Job& job) {
        return Statistic::kWhole ? static_cast<std::size_t>(job.total.weight()) : job.size();
    }

    RowIndex place_of(const Job& job, std::size_t i) const {
        return job.local ? block_place_[records_[i].row] : records_[i].row;
    }

    // The subtree of a node whose rows fit into the block: nothing else is grown until it is done.
    void grow_block(Job job) {
        for (std::size_t i = job.begin; i < job.end; ++i) {
            if (i + kAhead < job.end) prefetch(rows_.table.row(records_[i + kAhead].row));
            const std::size_t local = i - job.begin;
            const RowIndex place = records_[i].row;
            Code* const codes = block_.data() + local * stride_;
            std::memcpy(codes, rows_.table.row(place), stride_ * sizeof(Code));
            for (const FeatureIndex feature : nominal_)
                codes[feature] = tree_.ranks[forest_.first_rank[feature] + codes[feature]];
            block_place_[local] = place;
            records_[i].row = static_cast<std::uint32_t>(local);
        }
        job.local = true;
        if constexpr (kRescales) rescale(job);
        const std::size_t depth = stack_.size();
        stack_.push_back(job);
        while (stack_.size() > depth) {
            Job next = stack_.back();
            stack_.pop_back();
            grow_node(next);
        }
    }

    void grow_node(Job& job) {
        if (!targets_differ(job)) return finish_leaf(job);
        all_.recall(job.total, records(job.begin, job.end));
        const NodeView<Statistic> view{.records = records(job.begin, job.end),
                                       .codes = job.local ? block_.data() : rows_.table.codes.data(),
                                       .stride = stride_,
                                       .ranked = job.local,
                                       .weight = job.total.weight()};
        if constexpr (Kind::kGrowsFew)
            if (extent_of(job) <= kMaxClassRows) return grow_few(job, view);
        const Split split = Kind::find(finder_, view, all_, allowed_.features(job.state));
        if (!split.found()) return finish_leaf(job);
        const double gain = (split.score - all_.score()) * factor(job.scale) / total_weight_;
        if (!writer_.gains_enough(gain)) return finish_leaf(job);
        split_node(job, view, split);
    }

    // Rows of a block are in the order of places, those of the second class last.
    void grow_few(const Job& job, const NodeView<Statistic>& view) {
        std::array<RowIndex, kMaxClassRows> rows;
        std::size_t second = job.size();
        for (std::size_t i = job.size(); i-- > 0;) {
            rows[i] = view.records[i].row;
            if (view.records[i].statistic.word >> 32 != 0) second = i;
        }
        transposed_.transpose(view.codes, stride_, {rows.data(), job.size()});
        const SetWeights weights = weights_.weigh(job.size(), second, [&](std::size_t i) {
            return static_cast<std::uint32_t>(view.records[i].statistic.word);
        });
        few_search_.start(view.records);
        few_.grow({job.node, job.depth, job.state, job.total}, job.size(), transposed_.codes(), weights, few_search_,
                  allowed_, factor(job.scale) / total_weight_);
    }

    // What is known without a look at the records.
    bool is_leaf(const Job& job) const {
        if (writer_.is_small(job.depth, job.size(), job.total.weight())) return true;
        if constexpr (std::is_same_v<Statistic, ClassStatistic>) {
            const Sums all = job.total.sums();
            return all.sum == 0.0 || all.sum == all.weight;
        }
        return false;
    }

    bool targets_differ(Job& job) {
        if constexpr (std::is_same_v<Statistic, ClassStatistic>) return true;
        const Statistic first = records_[job.begin].statistic;
        for (std::size_t i = job.begin + 1; i < job.end; ++i)
            if (!same_target(records_[i].statistic, first)) return true;
        if constexpr (kRescales) return rescale(job);  // equal numbers may stand for targets that differ a little
        return false;
    }

    // The mean of the targets themselves, not of the whole numbers that stand for them.
    void finish_leaf(const Job& job) {
        if (!rows_.targets.are_classes()) {
            const double first = rows_.targets.value[place_of(job, job.begin)];
            double sum = 0.0;
            double weight = 0.0;
            for (std::size_t i = job.begin; i < job.end; ++i) {
                const double own = records_[i].statistic.weight();
                sum += own * (rows_.targets.value[place_of(job, i)] - first);
                weight += own;
            }
            tree_.value[job.node] = first + sum / weight;
        }
    }

    void split_node(const Job& job, const NodeView<Statistic>& view, const Split& split) {
        const FeatureIndex feature = split.feature;
        PackedNode rule;
        writer_.write_rule(rule, 0, feature, split.code, split.missing_left);
        const std::uint16_t* const ranks =
            rule.is_nominal() && !job.local ? tree_.ranks.data() + forest_.first_rank[feature] : nullptr;
        const std::size_t middle = partition_records(job, view, rule, ranks);
        left_.count(records(job.begin, middle));
        right_.count_rest(all_, left_, records(middle, job.end));
        const double gain = Kind::score(left_, right_) - all_.score();
        tree_.gain[job.node] = NodeWriter::gain_of(gain * factor(job.scale) / total_weight_);
        const NodeIndex child = rule.left = new_node(left_, job.scale);
        new_node(right_, job.scale);
        tree_.nodes[job.node] = rule;

        Job next = job;
        next.depth = job.depth + 1;
        next.state = allowed_.after(job.state, feature);
        next.begin = middle;
        next.node = child + 1;
        next.total = right_.total;
        open(next);
        next.begin = job.begin;
        next.end = middle;
        next.node = child;
        next.total = left_.total;
        open(next);
    }

    void open(const Job& job) {
        if (is_leaf(job))
            finish_leaf(job);
        else
            stack_.push_back(job);
    }

    // Stable on both sides. Returns where the right side begins.
    std::size_t partition_records(const Job& job, const NodeView<Statistic>& view, const PackedNode& rule,
                                  const std::uint16_t* ranks) {
        const SeenCodes seen = finder_.seen();
        if constexpr (sizeof(Record<Statistic>) == sizeof(WordRecord)) {
            if (seen.codes != nullptr) return partition_seen(job, seen, rule);
        }
        const Code* const column = view.codes + rule.feature();
        Record<Statistic>* left = records_.data() + job.begin;
        Record<Statistic>* right = twin_.data();
        for (std::size_t i = job.begin; i < job.end; ++i) {
            const Record<Statistic> record = records_[i];
            if (!job.local && i + kAhead < job.end) prefetch(column + records_[i + kAhead].row * stride_);
            const Code code = column[record.row * stride_];
            const bool goes_left = rule.goes_left(ranks == nullptr ? code : ranks[code]);
            *left = record;
            *right = record;
            left += goes_left;
            right += !goes_left;
        }
        std::copy(twin_.data(), right, left);
        return static_cast<std::size_t>(left - records_.data());
    }

    std::size_t partition_seen(const Job& job, const SeenCodes& seen, const PackedNode& rule) {
        auto* const records = reinterpret_cast<WordRecord*>(records_.data() + job.begin);
        auto* const twin = reinterpret_cast<WordRecord*>(twin_.data());
        const RecordCodes codes{.codes = seen.codes,
                                .stride = seen.stride,
                                .shift = static_cast<std::uint16_t>(rule.missing_left() ? 0 : 1),
                                .last = rule.code};
        const std::size_t n_left = kernels().words.partition(records, job.size(), codes, twin);
        std::copy_n(twin, job.size() - n_left, records + n_left);
        return job.begin + n_left;
    }

    const ForestRows& rows_;
    const WholeTargets& targets_;
    const PackedForest& forest_;
    NodeWriter writer_;
    GrownTree& tree_ = writer_.tree();
    AllowedFeatures allowed_;
    typename Kind::Finder finder_;
    FewSearch few_search_;
    FewGrower few_;
    TransposedRows transposed_;
    WeightSets weights_;
    OutRows out_rows_;
    Tally all_;   // of the node that is being split
    Tally left_;  // of its sides
    Tally right_;
    std::size_t stride_;
    std::size_t block_rows_;
    Buffer<Code> block_;
    std::vector<RowIndex> block_place_;
    std::vector<FeatureIndex> nominal_;

    double total_weight_ = 0.0;
    std::vector<Job> stack_;
    Buffer<Record<Statistic>> records_;
    Buffer<Record<Statistic>> twin_;
};

template <template <class, class, bool, bool> class Kind, class Score, class Statistic, bool kRandom>
std::unique_ptr<SumTreeGrower> make(const Task& task) {
    const auto& [rows, targets, options, forest, whole_weights, columns] = task;
    if (options.tree.min_rows_leaf > 1 || options.tree.min_weight_leaf > 0.0)
        return std::make_unique<Grower<Kind<Score, Statistic, kRandom, true>>>(rows, targets, options, forest);
    return std::make_unique<Grower<Kind<Score, Statistic, kRandom, false>>>(rows, targets, options, forest);
}

template <template <class, class, bool, bool> class Kind, class Score, class Statistic>
std::unique_ptr<SumTreeGrower> make(const Task& task) {
    return task.options.tree.random_splits ? make<Kind, Score, Statistic, true>(task)
                                           : make<Kind, Score, Statistic, false>(task);
}

}  // namespace coterie::sums
