// forest/set_grower.hpp: trees of random thresholds for two classes, where a node is a set of rows.
//
// A random threshold needs the range of a feature in a node and then a comparison with each of its codes: no cells, no
// order. Both are quickest if codes lie by column and nothing is moved.
//
// Steps
//   1. A block holds some rows by column. The nodes of a subtree are sets of its rows; each split reads the columns of
//      the features that were drawn from the first row of the block to the last.
//   2. A node of less than a sixth of the rows would waste that: its rows become the next block, and so on.
//   3. At 64 rows a set is one word (few_grower.hpp).
// The first block is the table itself, which all trees share.
#pragma once

#include <algorithm>
#include <memory>

#include "coterie/forest/few_grower.hpp"
#include "coterie/forest/out_rows.hpp"
#include "coterie/forest/sum_tree.hpp"
#include "coterie/forest/transposed_rows.hpp"

namespace coterie::sums {

inline constexpr std::size_t kNarrow = 6;          // a block has at most so many times the rows of a node
inline constexpr std::size_t kCheckedRows = 2048;  // nodes with more rows check whether to stop

template <class Score>
class SetGrower final : public SumTreeGrower {
public:
    SetGrower(const ForestRows& rows, const ForestTreeOptions& options, const PackedForest& forest,
              const ForestColumns& columns)
        : rows_(rows),
          forest_(forest),
          columns_(columns),
          writer_(rows, options.tree),
          allowed_(options, rows.n_features()),
          draws_(options.tree.max_features),
          values_(rows),
          search_(values_, options.tree, draws_),
          few_(writer_),
          out_rows_(rows, forest),
          prunes_(options.ccp_alpha > 0.0 || options.prune_out_of_bag) {
        for (std::size_t feature = 0; feature < rows.n_features(); ++feature)
            if (rows.n_levels[feature] > 0) nominal_.push_back(static_cast<FeatureIndex>(feature));
        const auto& targets = rows.targets.value;
        second_ = static_cast<std::size_t>(std::ranges::lower_bound(targets, 1.0) - targets.begin());
    }

    GrownTree& grow(const Bag& bag, std::vector<std::uint16_t> ranks, Cancellation& cancellation) override {
        bag_ = &bag;
        cancellation_ = &cancellation;
        draws_.start_tree(random_bits(bag.seed, Purpose::feature_draw, 0));
        allowed_.start_tree(bag.seed);
        Node root{{0, 0, allowed_.root(), {}}, bag.in.size()};
        root.total = total_of(bag);
        all_once_ = std::ranges::all_of(bag.counts, [](std::uint16_t count) { return count <= 1; });
        factor_ = (std::is_same_v<Score, SquareScore> ? 2.0 : 1.0) / root.total.weight();
        writer_.start(std::move(ranks), bag.out.empty() && !prunes_, root.total.weight());
        writer_.add(root.total.sums());
        if (is_leaf(root))
            writer_.close(root.node, root.total);
        else if (columns_.are_made() && root.n_rows * kNarrow >= rows_.n_places())
            grow_table(root);
        else
            grow_rows(0, {bag.in.data(), bag.in.size()}, root);
        writer_.finish();
        out_rows_.walk(bag, writer_.tree());
        return writer_.tree();
    }

private:
    struct Node : FewNode {
        std::size_t n_rows;
    };
    struct Waiting : Node {
        bool is_set;  // otherwise its rows are the last that wait
    };

    /// Rows by column, and the sets of the nodes that wait.
    struct ColumnBlock {
        TransposedCodes codes;
        SetWeights weights;
        const RowIndex* rows = nullptr;
        std::size_t n_words = 0;
        std::size_t narrow = 0;  // rows up to which a node is transposed again

        TransposedRows transposed;
        WeightSets weight_sets;
        std::vector<Buffer<RowSet>> sets;
        std::size_t n_sets = 0;
        Buffer<RowIndex> waiting;
        std::size_t n_waiting = 0;

        explicit ColumnBlock(std::size_t n_features) : transposed(n_features) {}

        void start(const RowIndex* all, std::size_t n) {
            rows = all;
            n_words = words_of(n);
            narrow = std::max(kSetRows, n / kNarrow);
            n_sets = 0;
            n_waiting = 0;
            if (waiting.size() < n + 16) waiting.resize(n + 16);
        }
        RowSet* set(std::size_t slot) {
            while (sets.size() <= slot) sets.emplace_back();
            if (sets[slot].size() < n_words) sets[slot].resize(n_words);
            return sets[slot].data();
        }
        // The rows of a set, which wait.
        void put(std::size_t slot) {
            n_waiting += kernels().row_set.rows_of(set(slot), n_words, rows, waiting.data() + n_waiting);
        }
        std::span<const RowIndex> take(std::size_t n) { return {waiting.data() + (n_waiting -= n), n}; }
    };

    ClassStatistic total_of(const Bag& bag) const {
        const auto weight = [&](std::size_t begin, std::size_t end) {
            std::uint64_t sum = 0;
            for (std::size_t place = begin; place < end; ++place) sum += bag.counts[place];
            return sum;
        };
        const std::uint64_t second = weight(second_, bag.counts.size());
        return {second << 32 | (second + weight(0, second_))};
    }

    ColumnBlock& block_at(std::size_t depth) {
        while (blocks_.size() <= depth) blocks_.push_back(std::make_unique<ColumnBlock>(rows_.n_features()));
        return *blocks_[depth];
    }

    bool is_leaf(const Node& node) const {
        const Sums sums = node.total.sums();
        return sums.sum == 0.0 || sums.sum == sums.weight || writer_.is_small(node.depth, node.n_rows, sums.weight);
    }

    const std::uint16_t* ranks_of(FeatureIndex feature) const {
        return rows_.n_levels[feature] > 0 ? writer_.tree().ranks.data() + forest_.first_rank[feature] : nullptr;
    }

    template <class RowOf>
    SetWeights weigh(ColumnBlock& block, std::size_t n, std::size_t second, RowOf row_of) {
        if (all_once_) return {nullptr, 0, second};
        return block.weight_sets.weigh(n, second,
                                       [&](std::size_t i) { return std::uint32_t{bag_->counts[row_of(i)]}; });
    }

    // All places are the rows of the first block, and the bag is a set of them.
    void grow_table(const Node& root) {
        ColumnBlock& block = block_at(0);
        const std::size_t n = rows_.n_places();
        block.weights = weigh(block, n, second_, [](std::size_t i) { return i; });
        block.start(columns_.places(), n);
        table_columns_ = columns_.columns();
        ranked_.resize(nominal_.size());
        for (std::size_t k = 0; k < nominal_.size(); ++k) {
            const Code* const levels = table_columns_[nominal_[k]];
            const std::uint16_t* const ranks = ranks_of(nominal_[k]);
            ranked_[k].resize(block.n_words * kSetRows);
            for (std::size_t i = 0; i < n; ++i) ranked_[k][i] = ranks[levels[i]];
            table_columns_[nominal_[k]] = ranked_[k].data();
        }
        block.codes = {table_columns_.data(), block.n_words};
        RowSet* const all = block.set(0);
        fill_set(all, block.n_words, bag_->in.size() == n ? n : 0);
        if (bag_->in.size() < n)
            for (const RowIndex place : bag_->in) all[place / kSetRows] |= RowSet{1} << (place % kSetRows);
        grow_block(0, root);
    }

    void grow_rows(std::size_t depth, std::span<const RowIndex> rows, const Node& node) {
        if (rows.size() > kCheckedRows) cancellation_->check();
        ColumnBlock& block = block_at(depth);
        block.transposed.transpose(rows_.table.codes.data(), rows_.table.row_stride, rows);
        for (const FeatureIndex feature : nominal_) block.transposed.rank(feature, ranks_of(feature), rows.size());
        const auto second = std::ranges::lower_bound(rows, static_cast<RowIndex>(second_));
        block.weights = weigh(block, rows.size(), static_cast<std::size_t>(second - rows.begin()),
                              [&](std::size_t i) { return rows[i]; });
        if (rows.size() <= kSetRows) {
            few_.grow(node, rows.size(), block.transposed.codes(), block.weights, search_, allowed_, factor_);
        } else {
            block.start(rows.data(), rows.size());
            block.codes = block.transposed.codes();
            fill_set(block.set(0), block.n_words, rows.size());
            grow_block(depth, node);
        }
    }

    // The first set of the block has the rows of the node.
    void grow_block(std::size_t depth, const Node& top) {
        ColumnBlock& block = *blocks_[depth];
        const std::size_t n_before = stack_.size();
        block.n_sets = 1;
        stack_.push_back({top, true});
        while (stack_.size() > n_before) {
            const Waiting next = stack_.back();
            stack_.pop_back();
            if (next.is_set)
                grow_set(block, next);
            else
                grow_rows(depth + 1, block.take(next.n_rows), next);
        }
    }

    void grow_set(ColumnBlock& block, const Node& node) {
        const std::size_t slot = --block.n_sets;
        RowSet* const set = block.set(slot);
        const SetSplit& split =
            search_.find({set, node.total, node.n_rows}, block.codes, block.weights, allowed_.features(node.state));
        const double gain = split.gain * factor_;
        if (!split.found() || !writer_.gains_enough(gain)) return writer_.close(node.node, node.total);
        const FeatureIndex feature = split.feature;
        kernels().row_set.partition(block.codes.column[feature], block.n_words, split.cut.shift, split.cut.last, set,
                                    block.set(slot + 1));
        const ClassStatistic right_total{node.total.word - split.left.word};
        const NodeIndex child = writer_.add(split.left.sums());
        writer_.add(right_total.sums());
        PackedNode& packed = writer_.tree().nodes[node.node];
        writer_.write_rule(packed, child, feature, split.cut.last, split.missing_left);
        if (writer_.packs())
            writer_.write_share(packed, feature, split.left.weight() / node.total.weight(), gain);
        else
            writer_.tree().gain[node.node] = NodeWriter::gain_of(gain);
        const std::uint32_t state = allowed_.after(node.state, feature);
        const Node left{{child, node.depth + 1, state, split.left}, split.n_left};
        const Node right{{child + 1, node.depth + 1, state, right_total}, node.n_rows - split.n_left};
        // The right side is in the slot of the node, the left one in the next.
        open(block, right, slot);
        open(block, left, slot + 1);
    }

    void open(ColumnBlock& block, const Node& node, std::size_t slot) {
        if (is_leaf(node)) {
            writer_.close(node.node, node.total);
        } else if (node.n_rows <= block.narrow) {
            block.put(slot);
            stack_.push_back({node, false});
        } else {
            if (slot != block.n_sets) std::swap(block.sets[slot], block.sets[block.n_sets]);
            ++block.n_sets;
            stack_.push_back({node, true});
        }
    }

    const ForestRows& rows_;
    const PackedForest& forest_;
    const ForestColumns& columns_;
    NodeWriter writer_;
    AllowedFeatures allowed_;
    NodeDraws draws_;
    CodeValues values_;
    RandomSetSearch<Score> search_;
    FewGrower few_;
    OutRows out_rows_;
    std::vector<FeatureIndex> nominal_;
    std::size_t second_ = 0;  // the first place of the second class

    const Bag* bag_ = nullptr;
    Cancellation* cancellation_ = nullptr;
    bool prunes_;            // trees are pruned when they are grown
    bool all_once_ = false;  // no row of the bag weighs more than 1
    double factor_ = 1.0;    // from a gain of the score to a share of the impurity
    std::vector<Waiting> stack_;
    std::vector<std::unique_ptr<ColumnBlock>> blocks_;
    std::vector<const Code*> table_columns_;  // of the first block
    std::vector<Buffer<Code>> ranked_;        // those of nominal features
};

}  // namespace coterie::sums
