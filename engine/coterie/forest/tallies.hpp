// forest/tallies.hpp: what the grower of sum trees has to know of a kind of targets.
//
// Words
//   tally    what the rows of a node, or of one side of its split, add up to
//   total    the part of a tally that is kept while a node waits to be grown
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "coterie/forest/class_split.hpp"
#include "coterie/forest/random_split.hpp"
#include "coterie/forest/sum_split.hpp"

namespace coterie::sums {

/// Two classes, or numbers: one sum is the whole tally.
template <class Score, class Own, bool kRandom, bool kCountRows>
struct OneSum {
    using Statistic = Own;
    using Total = Statistic;
    using Records = std::span<const Record<Statistic>>;
    using Finder = std::conditional_t<kRandom, RandomSumFinder<Score, Statistic, kCountRows>,
                                      SumSplitFinder<Score, Statistic, kCountRows>>;
    static constexpr bool kSquares = std::is_same_v<Score, SquareScore>;
    static constexpr bool kGrowsFew = std::is_same_v<Statistic, ClassStatistic> && kSquares && !kRandom && !kCountRows;

    struct Tally {
        Total total;

        explicit Tally(const ForestRows&) {}
        void clear() { total = {}; }
        void count(Records records) {
            clear();
            for (const Record<Statistic>& record : records) total += record.statistic;
        }
        void recall(Total known, Records) { total = known; }
        /// What `all` has beyond `part`; `rest` are its records.
        void count_rest(const Tally& all, const Tally& part, Records rest) {
            if constexpr (Statistic::kWhole)
                total.word = all.total.word - part.total.word;
            else
                count(rest);
        }
        double score() const { return Score::node(total.sums()); }
    };

    static double score(const Tally& left, const Tally& right) {
        return Score::split(left.total.sums(), right.total.sums());
    }
    static Split find(Finder& finder, const NodeView<Statistic>& node, const Tally& tally,
                      std::vector<FeatureIndex>& features) {
        return finder.find(node, tally.total, features);
    }
};

/// Several classes: a sum for each.
template <class Score, class Weight, bool kRandom, bool kCountRows>
struct SumPerClass {
    using Statistic = LabelStatistic<Weight>;
    struct Total {
        double all = 0.0;
        double weight() const { return all; }
    };
    using Records = std::span<const Record<Statistic>>;
    using Finder = std::conditional_t<kRandom, RandomClassFinder<Score, Weight, kCountRows>,
                                      ClassSplitFinder<Score, Weight, kCountRows>>;
    static constexpr bool kSquares = false;
    static constexpr bool kGrowsFew = false;

    struct Tally {
        Total total;
        std::vector<Weight> sums;

        explicit Tally(const ForestRows& rows) : sums(rows.targets.n_classes[0]) {}
        void clear() {
            total = {};
            std::fill(sums.begin(), sums.end(), Weight{0});
        }
        void count(Records records) {
            clear();
            for (const Record<Statistic>& record : records) sums[record.statistic.label] += record.statistic.own;
            add_up();
        }
        void recall(Total, Records records) { count(records); }
        void count_rest(const Tally& all, const Tally& part, Records rest) {
            if constexpr (Statistic::kWhole) {
                for (std::size_t k = 0; k < sums.size(); ++k) sums[k] = all.sums[k] - part.sums[k];
                add_up();
            } else {
                count(rest);
            }
        }
        void add_up() {
            total = {};
            for (const Weight sum : sums) total.all += static_cast<double>(sum);
        }
        double score() const { return Score::node(std::span<const Weight>(sums), total.all); }
    };

    static double score(const Tally& left, const Tally& right) { return left.score() + right.score(); }
    static Split find(Finder& finder, const NodeView<Statistic>& node, const Tally& tally,
                      std::vector<FeatureIndex>& features) {
        return finder.find(node, tally.sums, features);
    }
};

}  // namespace coterie::sums
