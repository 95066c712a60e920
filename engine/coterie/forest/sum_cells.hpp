// forest/sum_cells.hpp: the best split of a node of a sum tree by the sums of coarse cells, made exact afterwards.
//
// Words
//   cell     the sums of one coarse code
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <utility>
#include <vector>

#include "coterie/base/buffer.hpp"
#include "coterie/forest/sum_cuts.hpp"

namespace coterie::sums {

template <class Score, class Statistic, bool kCountRows>
class SumCells : public SumCuts<Score, Statistic, kCountRows> {
    using Base = SumCuts<Score, Statistic, kCountRows>;

protected:
    using Base::coarse_, Base::node_, Base::rows_, Base::keys_, Base::varies_, Base::best_, Base::seen_, Base::n_rows,
        Base::for_codes, Base::for_cells, Base::sort_near, Base::statistic_, Base::total_, Base::best_left_,
        Base::best_missing_, Base::left_sum_, Base::left_weight_, Base::left_count_, Base::last_, Base::next_,
        Base::take, Base::score_cuts, Base::score_missing, Base::fill_cuts, Base::make_room, Base::search_inside;

public:
    static constexpr bool kScanWords = Statistic::kWhole && std::is_same_v<Score, SquareScore> && !kCountRows;
    static constexpr std::size_t kMaxLanes = 16;     // features that share a pass, if codes are kept
    static constexpr std::size_t kMaxFetched = 256;  // codes of a row that are fetched before they are read

    SumCells(const ForestRows& rows, const ForestTreeOptions& options, const PackedForest& forest)
        : Base(rows, options, forest), cells_(kMaxLanes * kColumnCells + 8), counts_(kTogether * kColumnCells, 0) {
        std::fill(cells_.begin(), cells_.end(), Statistic{});
    }

protected:
    // --- medium-sized nodes: by the cells that are touched

    void search_touched(FeatureIndex feature) {
        const Coarse coarse = coarse_[feature];
        std::array<std::uint64_t, 4> touched{};
        Statistic* const cells = cells_.data();
        const Record<Statistic>* const records = node_->records.data();
        for_codes(feature, [&](std::size_t i, std::uint32_t code) {
            const std::uint32_t cell = coarse(code);
            touched[cell >> 6] |= std::uint64_t{1} << (cell & 63);
            cells[cell] += records[i].statistic;
            if constexpr (kCountRows) ++counts_[cell];
        });
        score_touched(feature, touched);
    }

    // Walks the touched cells in order and leaves them empty.
    void score_touched(FeatureIndex feature, std::array<std::uint64_t, 4> touched) {
        make_room(256);
        Statistic missing{};
        std::uint32_t n_missing = 0;
        if (touched[0] & 1) {
            missing = std::exchange(cells_[0], {});
            n_missing = std::exchange(counts_[0], 0);
            touched[0] ^= 1;
        }
        Statistic left{};
        std::uint32_t n_left = 0;
        std::size_t n_cells = 0;
        for (std::uint32_t word = 0; word < 4; ++word) {
            for (std::uint64_t bits = touched[word]; bits != 0; bits &= bits - 1) {
                const std::uint32_t cell = word * 64 + static_cast<std::uint32_t>(std::countr_zero(bits));
                if (n_cells > 0) next_[n_cells - 1] = cell;
                left += cells_[cell];
                cells_[cell] = {};
                if constexpr (kCountRows) left_count_[n_cells] = n_left += std::exchange(counts_[cell], 0);
                const Sums so_far = left.sums();
                left_sum_[n_cells] = so_far.sum;
                left_weight_[n_cells] = so_far.weight;
                last_[n_cells++] = cell;
            }
        }
        score_cells(feature, n_cells, missing.sums(), n_missing);
    }

    // left_* are filled for n_cells cells that hold rows; the last of them is no cut.
    void score_cells(FeatureIndex feature, std::size_t n_cells, Sums missing, std::uint32_t n_missing) {
        const Coarse coarse = coarse_[feature];
        if (n_cells == 1 && coarse.shift > 0) return search_inside(feature);
        if (n_cells + (missing.weight > 0.0) < 2) return;
        varies_ = true;
        if (missing.weight > 0.0 && n_cells > 0) score_missing(feature, missing, n_missing);
        if (n_cells < 2) return;
        const std::size_t cut = score_cuts(feature, n_cells - 1, missing, n_missing);
        if (cut == n_cells - 1) return;
        best_.coarse = coarse.shift > 0;
        best_.next = next_[cut];
        if (!best_.coarse) best_.code = (best_.code + best_.next) / 2;
    }

    // --- large nodes: all cells of a few features in one pass

    void search_dense(const FeatureIndex* features, std::size_t n) {
        Statistic* const cells = cells_.data();
        [[maybe_unused]] std::uint32_t* const counts = counts_.data();
        for_cells(features, n, [=](std::size_t cell, Statistic statistic) {
            cells[cell] += statistic;
            if constexpr (kCountRows) ++counts[cell];
        });
        for (std::size_t k = 0; k < n; ++k) {
            if constexpr (kScanWords)
                scan_cells(features[k], kColumnCells * k);
            else
                score_dense(features[k], kColumnCells * k);
        }
    }

    // The same with codes that are kept, for up to sixteen features: rows are read from memory once.
    void search_lanes(const FeatureIndex* features, std::size_t n_features) {
        constexpr std::size_t kChunk = 512;  // rows that stay in a cache until all features have seen them
        const std::size_t n = n_rows();
        const std::size_t n_groups = (n_features + kCodeColumns - 1) / kCodeColumns;
        Code* const seen = seen_buffers_.room(n_groups * kCodeColumns * n, seen_);
        std::array<CellColumns, kMaxLanes / kCodeColumns> columns{};
        for (std::size_t k = 0; k < n_features; ++k) {
            CellColumns& own = columns[k / kCodeColumns];
            const Coarse coarse = coarse_[features[k]];
            own.column[own.n] = features[k];
            own.add[own.n] = static_cast<std::uint16_t>(coarse.add);
            own.factor[own.n++] = static_cast<std::uint16_t>(0x10000u >> coarse.shift);
        }
        CodeRows rows{node_->codes, node_->stride, 0, 0};
        const WordRecord* const records = word_records(node_->records);
        auto* const cells = reinterpret_cast<std::uint64_t*>(cells_.data());
        for (std::size_t first = 0; first < n; first += kChunk) {
            const std::size_t n_now = std::min(kChunk, n - first);
            for (std::size_t group = 0; group < n_groups; ++group) {
                rows.fetched = group == 0 && !node_->ranked ? std::min(node_->stride, kMaxFetched) : 0;
                rows.n_fetched = n - first;
                kernels().words.fill_cells(rows, records + first, n_now, columns[group],
                                           cells + group * kCodeColumns * kColumnCells,
                                           seen + (group * n + first) * kCodeColumns);
            }
        }
        for (std::size_t k = 0; k < n_features; ++k) {
            const double before = best_.score;
            scan_cells(features[k], kColumnCells * k);
            if (!(best_.score > before)) continue;
            seen_ = {seen + k / kCodeColumns * n * kCodeColumns + k % kCodeColumns, kCodeColumns};
            seen_buffers_.keep();
        }
    }

    // The same as score_dense in fewer steps; the score of the best cut only is exact.
    void scan_cells(FeatureIndex feature, std::size_t first) {
        const Coarse coarse = coarse_[feature];
        const std::uint32_t last = coarse(rows_.table.features[feature].n_codes - 1);
        Statistic* const cells = cells_.data() + first;
        const Statistic missing = std::exchange(cells[0], {});
        const bool has_missing = !missing.empty();
        static_assert(sizeof(Statistic) == sizeof(std::uint64_t));
        WordScan task{.start = 0,
                      .total = statistic_.word,
                      .mean = static_cast<float>(total_.sum / total_.weight),
                      .narrow = std::is_same_v<Statistic, ClassStatistic>};
        const auto* const words = reinterpret_cast<const std::uint64_t*>(cells);
        WordCut cut = kernels().words.scan(words, last, task);
        bool missing_left = false;
        if (has_missing) {
            task.start = missing.word;
            const WordCut other = kernels().words.scan(words, last, task);
            missing_left = other.gain > cut.gain;
            if (missing_left) cut = other;
        }
        if (cut.gain < 0.0f) {
            std::fill_n(cells, last + 1, Statistic{});
            if (coarse.shift > 0) search_inside(feature);
            return;
        }
        varies_ = true;
        if (has_missing && coarse.shift > 0) {
            std::uint32_t lowest = 1;
            while (cells[lowest].empty()) ++lowest;
            if (cells[lowest].word + missing.word == statistic_.word) {  // all known values lie in this cell
                std::fill_n(cells, last + 1, Statistic{});
                return search_inside(feature);
            }
        }
        Statistic left = missing_left ? missing : Statistic{};
        for (std::uint32_t cell = 1; cell <= cut.cell; ++cell) left += cells[cell];
        if (missing_left && left.word == missing.word) {  // missing against known: known values go left
            missing_left = false;
            left.word = statistic_.word - missing.word;
            cut.cell = last;
        }
        const double score = Score::split(left.sums(), total_ - left.sums());
        if (score > best_.score) {
            std::uint32_t next = cut.cell + 1;
            while (next <= last && cells[next].empty()) ++next;
            take(score, feature, cut.cell, has_missing ? missing_left : left.sums().weight * 2 > total_.weight,
                 left.sums());
            best_missing_ = missing.sums();
            if (next > last) {  // only missing values on the right
                best_.code = rows_.table.features[feature].n_codes - 1;
            } else if (coarse.shift > 0) {
                best_.coarse = true;
                best_.next = next;
            } else {
                best_.code = (cut.cell + next) / 2;
            }
        }
        std::fill_n(cells, last + 1, Statistic{});
    }

    void score_dense(FeatureIndex feature, std::size_t first) {
        make_room(256);
        Statistic* const cells = cells_.data() + first;
        std::uint32_t* const counts = counts_.data() + first;
        const std::uint32_t last = coarse_[feature](rows_.table.features[feature].n_codes - 1);
        const Statistic missing = std::exchange(cells[0], {});
        const std::uint32_t n_missing = std::exchange(counts[0], 0);
        Statistic left{};
        std::uint32_t n_left = 0;
        std::size_t n_cells = 0;
        for (std::uint32_t cell = 1; cell <= last; ++cell) {
            const Statistic statistic = cells[cell];
            left += statistic;
            cells[cell] = {};
            const Sums so_far = left.sums();
            left_sum_[n_cells] = so_far.sum;
            left_weight_[n_cells] = so_far.weight;
            if constexpr (kCountRows) left_count_[n_cells] = n_left += std::exchange(counts[cell], 0);
            last_[n_cells] = cell;
            n_cells += !statistic.empty();
        }
        for (std::size_t i = 0; i + 1 < n_cells; ++i) next_[i] = last_[i + 1];
        score_cells(feature, n_cells, missing.sums(), n_missing);
    }

    // The best cut lies between two cells; the exact one is looked for among the codes of both.
    void refine() {
        const Split rough = best_;
        const Sums rough_left = best_left_;
        const Sums missing = best_missing_;
        const Coarse coarse = coarse_[rough.feature];
        const std::uint32_t from = coarse.first(rough.code);
        const std::uint32_t between = coarse.last(rough.code);  // the last code of the low cell
        std::uint32_t n_below = 0;
        std::uint32_t n_missing = 0;
        sort_near(rough, [&](std::size_t, std::uint32_t code, bool) {
            if constexpr (kCountRows) {
                n_below += code != kMissingCode && code < from;
                n_missing += code == kMissingCode;
            }
        });
        Sums below = rough_left;
        if (rough.missing_left) below = below - missing;
        Statistic low{};
        for (const std::uint64_t key : keys_)
            if (key >> 32 <= between) low += node_->records[static_cast<std::uint32_t>(key)].statistic;
        below = below - low.sums();
        best_ = {};
        score_cuts(rough.feature, fill_cuts(0, keys_.size(), below, n_below), missing, n_missing);
        if (!best_.found()) Base::fall_back_on(rough);
    }

private:
    SeenBuffers seen_buffers_;
    Buffer<Statistic> cells_;
    std::vector<std::uint32_t> counts_;
};

}  // namespace coterie::sums
