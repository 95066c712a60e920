// forest/sum_split.hpp: the best split of a node of a sum tree.
//
// Words
//   few      rows that weigh so little that all their cuts are scored without sorting them (kernels/small_nodes.hpp)
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

#include "coterie/forest/sum_cells.hpp"

namespace coterie::sums {

inline constexpr std::size_t kDenseNode = 64;    // rows from which all cells of words are filled and scanned
inline constexpr std::size_t kFewNumbers = 127;  // rows of numbers that are few; those of classes never come here
inline constexpr std::size_t kDensePairs = 400;  // the same for cells of pairs

template <class Score, class Statistic, bool kCountRows>
class SumSplitFinder : public SumCells<Score, Statistic, kCountRows> {
    using Base = SumCells<Score, Statistic, kCountRows>;
    using Base::node_, Base::rows_, Base::extent_, Base::varies_, Base::done_, Base::best_, Base::seen_, Base::n_rows,
        Base::statistic_, Base::total_, Base::best_left_, Base::takes_lanes;

public:
    static constexpr std::size_t kLarge = Base::kScanWords ? kDenseNode : kDensePairs;
    static constexpr std::size_t kFew =
        Base::kScanWords && !std::is_same_v<Statistic, ClassStatistic> ? kFewNumbers : 0;
    static_assert(kFew <= kMaxNumberRows);

    using Base::Base;

    /// `statistic`: of all records.
    Split find(const NodeView<Statistic>& node, Statistic statistic, std::vector<FeatureIndex>& features) {
        Base::begin(node, statistic);
        if constexpr (kFew > 0)
            if (extent_ <= kFew) {
                find_few(features);
                return best_;
            }
        const bool lanes = Base::kScanWords && takes_lanes();
        const std::size_t together = extent_ <= kLarge ? 1 : lanes ? Base::kMaxLanes : kTogether;
        Base::draw_features(features, together, [&](const FeatureIndex* first, std::size_t n) {
            if constexpr (Base::kScanWords)
                if (lanes) return Base::search_lanes(first, n);
            if (extent_ > kLarge) return Base::search_dense(first, n);
            if (extent_ > kTinyNode) return Base::search_touched(first[0]);
            Base::search_sorted(first[0]);
        });
        if (best_.coarse) Base::refine();
        return best_;
    }

private:
    // --- few rows of numbers: every cut against every row

    void find_few(std::vector<FeatureIndex>& features) {
        few_cut_ = {};
        if (n_rows() == 2) {
            Base::draw_features(features, 1, [&](const FeatureIndex* first, std::size_t) { split_two(*first); });
        } else {
            begin_few();
            Base::draw_features(features, kSmallNodeFeatures,
                                [&](const FeatureIndex* first, std::size_t n) { search_few(first, n); });
        }
        if (few_cut_.gain >= 0.0f) finish_few();
    }

    // Any feature that varies parts two rows: the first will do.
    void split_two(FeatureIndex feature) {
        const auto [a, b] = std::minmax({code_of(0, feature), code_of(1, feature)});
        if (a == b) return;
        varies_ = done_ = true;
        few_cut_ = {0.0f, a == kMissingCode ? b : a};
        best_.feature = feature;
        best_.missing_left = false;
        few_seen_[0] = code_of(0, feature);
        few_seen_[1] = code_of(1, feature);
    }

    Code code_of(std::size_t i, FeatureIndex feature) const {
        return node_->codes[node_->records[i].row * node_->stride + feature];
    }

    void begin_few() {
        const std::size_t n = n_rows();
        few_ = {.statistic = few_statistic_.data(),
                .n = n,
                .sum = 0,
                .weight = static_cast<std::uint32_t>(extent_),
                .salt = static_cast<std::uint16_t>(Base::draws_.bits(0) & 0xffff)};
        // Numbers of 24 bits: counted from the least of the node, and without the last bits that have no room.
        std::array<std::uint64_t, kFewNumbers> number;
        std::uint64_t least = ~std::uint64_t{0};
        for (std::size_t i = 0; i < n; ++i) {
            const Sums own = node_->records[i].statistic.sums();
            number[i] = static_cast<std::uint64_t>(own.sum / own.weight);
            least = std::min(least, number[i]);
        }
        const std::uint64_t all = (statistic_.word >> 24) - least * few_.weight;
        const int spare = std::max(0, static_cast<int>(std::bit_width(all)) - 24);
        for (std::size_t i = 0; i < n; ++i) {
            const auto weight = static_cast<std::uint32_t>(node_->records[i].statistic.word & 0xff);
            const auto sum = static_cast<std::uint32_t>((number[i] - least) >> spare) * weight;
            few_statistic_[i] = sum << 8 | weight;
            few_.sum += sum;
        }
    }

    void search_few(const FeatureIndex* features, std::size_t n_features) {
        const SmallNodeCodes codes{few_codes_.data(), n_features};
        const std::uint32_t missing =
            kernels().small_node.pick_codes({node_->codes, node_->stride, 0, 0}, word_records(node_->records), n_rows(),
                                            features, n_features, few_codes_.data());
        // Less one, what is missing is the greatest.
        SmallNodeCuts cuts;
        SmallNodeCuts missing_left;
        if (missing != 0) shift_few(missing, -1);
        kernels().small_node.cut_numbers(codes, few_, cuts);
        if (missing != 0) {
            shift_few(missing, 1);
            kernels().small_node.cut_numbers(codes, few_, missing_left);
        }
        for (std::size_t lane = 0; lane < n_features; ++lane) {
            const bool has_missing = missing >> lane & 1;
            score_few(features[lane], lane, {cuts.gain[lane], cuts.code[lane] + has_missing}, false);
            if (has_missing) score_few(features[lane], lane, missing_left[lane], true);
        }
    }

    void shift_few(std::uint32_t lanes, int step) {
        for (std::size_t lane = 0; lane < kSmallNodeFeatures; ++lane) {
            if (!(lanes >> lane & 1)) continue;
            for (std::size_t i = 0; i < n_rows(); ++i)
                few_codes_[i * kSmallNodeFeatures + lane] =
                    static_cast<Code>(few_codes_[i * kSmallNodeFeatures + lane] + step);
        }
    }

    void score_few(FeatureIndex feature, std::size_t lane, SmallNodeCut cut, bool missing_left) {
        if (cut.gain < 0.0f) return;
        varies_ = true;
        if (!(cut.gain > few_cut_.gain)) return;
        few_cut_ = cut;
        best_.feature = feature;
        best_.missing_left = missing_left;
        for (std::size_t i = 0; i < n_rows(); ++i) few_seen_[i] = few_codes_[i * kSmallNodeFeatures + lane];
    }

    // The exact sums of the best cut, and its threshold in the middle.
    void finish_few() {
        seen_ = {few_seen_.data()};
        std::uint32_t next = 0x10000;
        std::uint32_t last = 0;  // known
        bool has_missing = false;
        Statistic left{};
        for (std::size_t i = 0; i < n_rows(); ++i) {
            const std::uint32_t code = few_seen_[i];
            const bool missing = code == kMissingCode;
            has_missing |= missing;
            last = std::max(last, code);
            next = code > few_cut_.code ? std::min(next, code) : next;
            left.add_if(missing ? best_.missing_left : code <= few_cut_.code, node_->records[i].statistic);
        }
        if (few_cut_.code == kMissingCode) {  // missing against known: known values go left
            best_.missing_left = false;
            left.word = statistic_.word - left.word;
            next = 0x10000;
        }
        best_.code = next <= last ? (few_cut_.code + next) / 2 : rows_.table.features[best_.feature].n_codes - 1;
        best_left_ = left.sums();
        if (!has_missing) best_.missing_left = best_left_.weight * 2 > total_.weight;
        best_.score = Score::split(best_left_, total_ - best_left_);
    }

    // Of few rows: what they add, codes of some features, and those of the best.
    SmallNumberNode few_;
    SmallNodeCut few_cut_;
    std::array<std::uint32_t, kFewNumbers> few_statistic_;
    alignas(kCacheLine) std::array<Code, kFewNumbers * kSmallNodeFeatures> few_codes_;
    std::array<Code, kFewNumbers> few_seen_;
};

}  // namespace coterie::sums
