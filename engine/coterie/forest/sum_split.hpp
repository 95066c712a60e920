// forest/sum_split.hpp: the split of one node of a sum tree.
//
// Words
//   cell     the sums of one coarse code
//   few      rows that weigh so little that all their cuts are judged without sorting them (kernels/small_nodes.hpp)
//   cut      a place between two neighbouring codes (or cells) of a node; `left_*` hold what lies before each cut
//   lawful   both sides keep the rows and the weight that the options ask for
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "coterie/base/buffer.hpp"
#include "coterie/base/prefetch.hpp"
#include "coterie/forest/node_search.hpp"
#include "coterie/forest/random_cuts.hpp"

namespace coterie::sums {

inline constexpr std::size_t kDenseNode = 64;    // rows from which all cells of words are filled and scanned
inline constexpr std::size_t kFewNumbers = 127;  // rows of numbers that are few; those of classes never come here
inline constexpr std::size_t kDensePairs = 400;  // the same for cells of pairs

template <class Score, class Pay, bool kRandom, bool kCountRows>
class SumSplitFinder : public NodeSearch<Pay, kCountRows> {
    using Base = NodeSearch<Pay, kCountRows>;
    using Base::coarse_, Base::node_, Base::rows_, Base::options_, Base::keys_, Base::extent_, Base::varies_,
        Base::done_, Base::perfect_, Base::seen_, Base::n_rows, Base::for_codes, Base::ranks_of, Base::sort_codes,
        Base::sort_keys, Base::is_lawful;

public:
    using Node = NodeView<Pay>;
    static constexpr bool kScanWords = Pay::kWhole && std::is_same_v<Score, SquareScore> && !kCountRows;
    static constexpr std::size_t kLarge = kScanWords ? kDenseNode : kDensePairs;
    static constexpr bool kClasses = std::is_same_v<Pay, ClassPay>;
    static constexpr std::size_t kFew = kScanWords && !kRandom && !kClasses ? kFewNumbers : 0;
    static_assert(kFew <= kMaxNumberRows);
    static constexpr bool kSeesLanes = kScanWords && !kRandom;
    static constexpr std::size_t kMostLanes = 16;     // features that share a pass, if codes are kept
    static constexpr std::size_t kMostFetched = 256;  // codes of a row that are fetched before they are read

    SumSplitFinder(const ForestRows& rows, const ForestTreeOptions& options, const PackedForest& forest)
        : Base(rows, options, forest), cells_(kMostLanes * kColumnCells + 8), counts_(kTogether * kColumnCells, 0) {
        std::fill(cells_.begin(), cells_.end(), Pay{});
        if constexpr (kRandom) values_.emplace(rows);
    }

    /// `pay`: of all records.
    Split find(const Node& node, Pay pay, std::vector<FeatureIndex>& features) {
        pay_ = pay;
        total_ = pay.sums();
        best_ = {};
        Base::begin(node, Score::of_pure_sides(total_));
        if constexpr (kFew > 0)
            if (extent_ <= kFew) return find_few(features);
        const bool large = kRandom ? Base::takes_lanes() : extent_ > kLarge;
        const std::size_t together = !large ? 1 : kSeesLanes && Base::takes_lanes() ? kMostLanes : kTogether;
        Base::draw_features(features, together,
                            [&](const FeatureIndex* first, std::size_t n) { try_features(first, n); });
        if (best_.coarse) refine();
        return best_;
    }

private:
    struct SumSplit : Split {
        Sums left;
        Sums missing;  // what is missing in the node
    };

    void try_features(const FeatureIndex* features, std::size_t n) {
        if constexpr (kRandom) return n > 1 ? draw_lanes(features, n) : draw_one(features[0]);
        if constexpr (kSeesLanes)
            if (Base::takes_lanes()) return search_lanes(features, n);
        if (extent_ > kLarge) return search_dense(features, n);
        if (extent_ > kTinyNode) return search_touched(features[0]);
        search_sorted(features[0]);
    }

    // --- cuts

    void take(double score, FeatureIndex feature, std::uint32_t code, bool missing_left, Sums left) {
        best_ = {{.score = score, .feature = feature, .code = code, .missing_left = missing_left}, left, {}};
        done_ = score >= perfect_ || extent_ == 2;
    }

    // The best of n cuts: left_* say what lies before each, without missing rows. Returns its number, or n.
    std::size_t judge_cuts(FeatureIndex feature, std::size_t n, Sums missing, std::uint32_t n_missing) {
        std::size_t chosen = n;
        for (const bool missing_left : {false, true}) {
            if (missing_left) {
                if (missing.weight == 0.0) break;
                for (std::size_t i = 0; i < n; ++i) {
                    left_sum_[i] += missing.sum;
                    left_weight_[i] += missing.weight;
                    left_count_[i] += n_missing;
                }
            }
            Score::scores(left_sum_.data(), left_weight_.data(), n, total_, score_.data());
            double best = best_.score;
            std::size_t at = n;
            for (std::size_t i = 0; i < n; ++i) {
                if (!(score_[i] > best)) continue;
                if (!is_lawful(left_weight_[i], left_count_[i])) continue;
                best = score_[i];
                at = i;
            }
            if (at == n) continue;
            take(best, feature, last_[at], missing_left, {left_sum_[at], left_weight_[at]});
            best_.missing = missing;
            chosen = at;
        }
        // What was never missing follows the heavier side.
        if (chosen < n && missing.weight == 0.0) best_.missing_left = best_.left.weight * 2 > total_.weight;
        return chosen;
    }

    // Known values on the left, missing ones on the right.
    void judge_missing(FeatureIndex feature, Sums missing, std::uint32_t n_missing) {
        const Sums left = total_ - missing;
        if (!is_lawful(left.weight, n_rows() - n_missing)) return;
        const double score = Score::split(left, missing);
        if (score > best_.score) take(score, feature, rows_.table.features[feature].n_codes - 1, false, left);
    }

    void make_room(std::size_t n_cuts) {
        if (left_sum_.size() >= n_cuts) return;
        left_sum_.resize(n_cuts);
        left_weight_.resize(n_cuts);
        left_count_.resize(n_cuts);
        score_.resize(n_cuts);
        last_.resize(n_cuts);
        next_.resize(n_cuts);
    }

    // --- small nodes: by sorted codes

    void search_sorted(FeatureIndex feature) {
        const std::size_t n = n_rows();
        keys_.resize(n);
        if (n == 2) {  // most nodes; a feature that varies parts them
            const std::uint16_t* const ranks = ranks_of(feature);
            std::uint32_t a = node_->codes[node_->records[0].row * node_->stride + feature];
            std::uint32_t b = node_->codes[node_->records[1].row * node_->stride + feature];
            if (ranks != nullptr) a = ranks[a], b = ranks[b];
            if (a == b) return;
            keys_[0] = std::min(std::uint64_t{a} << 32, std::uint64_t{b} << 32 | 1);
            keys_[1] = std::max(std::uint64_t{a} << 32, std::uint64_t{b} << 32 | 1);
        } else if (!sort_codes(feature)) {
            return;
        }
        varies_ = true;
        judge_keys(feature, n);
    }

    // The cuts between different codes from key `first` on. Keys are code << 32 | record, ascending; `below` is on the
    // left already. Returns how many there are.
    std::size_t fill_cuts(std::size_t first, std::size_t n, Sums below, std::uint32_t n_below) {
        make_room(n);
        Pay left{};
        std::size_t n_cuts = 0;
        for (std::size_t i = first; i + 1 < n; ++i) {
            left += node_->records[static_cast<std::uint32_t>(keys_[i])].pay;
            const auto code = static_cast<std::uint32_t>(keys_[i] >> 32);
            const auto next = static_cast<std::uint32_t>(keys_[i + 1] >> 32);
            const Sums so_far = below + left.sums();
            left_sum_[n_cuts] = so_far.sum;
            left_weight_[n_cuts] = so_far.weight;
            left_count_[n_cuts] = n_below + static_cast<std::uint32_t>(i + 1 - first);
            last_[n_cuts] = (code + next) / 2;
            n_cuts += code != next;
        }
        return n_cuts;
    }

    void judge_keys(FeatureIndex feature, std::size_t n) {
        Pay missing{};
        std::uint32_t n_missing = 0;
        for (; n_missing < n && keys_[n_missing] >> 32 == kMissingCode; ++n_missing)
            missing += node_->records[static_cast<std::uint32_t>(keys_[n_missing])].pay;
        const std::size_t n_cuts = fill_cuts(n_missing, n, {}, 0);
        if (n_missing > 0) judge_missing(feature, missing.sums(), n_missing);
        judge_cuts(feature, n_cuts, missing.sums(), n_missing);
    }

    // --- few rows of numbers: every cut against every row

    Split find_few(std::vector<FeatureIndex>& features) {
        few_cut_ = {};
        if (n_rows() == 2) {
            Base::draw_features(features, 1, [&](const FeatureIndex* first, std::size_t) { part_two(*first); });
        } else {
            begin_few();
            Base::draw_features(features, kSmallNodeFeatures,
                                [&](const FeatureIndex* first, std::size_t n) { search_few(first, n); });
        }
        if (few_cut_.gain >= 0.0f) finish_few();
        return best_;
    }

    // Any feature that varies parts two rows: the first will do.
    void part_two(FeatureIndex feature) {
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
        few_ = {.statistic = few_pay_.data(),
                .n = n,
                .sum = 0,
                .weight = static_cast<std::uint32_t>(extent_),
                .salt = static_cast<std::uint16_t>(Base::draws_.bits(0) & 0xffff)};
        // Numbers of 24 bits: counted from the least of the node, and without the last bits that have no room.
        std::array<std::uint64_t, kFewNumbers> number;
        std::uint64_t least = ~std::uint64_t{0};
        for (std::size_t i = 0; i < n; ++i) {
            const Sums own = node_->records[i].pay.sums();
            number[i] = static_cast<std::uint64_t>(own.sum / own.weight);
            least = std::min(least, number[i]);
        }
        const std::uint64_t all = (pay_.word >> 24) - least * few_.weight;
        const int spare = std::max(0, static_cast<int>(std::bit_width(all)) - 24);
        for (std::size_t i = 0; i < n; ++i) {
            const auto weight = static_cast<std::uint32_t>(node_->records[i].pay.word & 0xff);
            const auto sum = static_cast<std::uint32_t>((number[i] - least) >> spare) * weight;
            few_pay_[i] = sum << 8 | weight;
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
            judge_few(features[lane], lane, {cuts.gain[lane], cuts.code[lane] + has_missing}, false);
            if (has_missing) judge_few(features[lane], lane, missing_left[lane], true);
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

    void judge_few(FeatureIndex feature, std::size_t lane, SmallNodeCut cut, bool missing_left) {
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
        Pay left{};
        for (std::size_t i = 0; i < n_rows(); ++i) {
            const std::uint32_t code = few_seen_[i];
            const bool missing = code == kMissingCode;
            has_missing |= missing;
            last = std::max(last, code);
            next = code > few_cut_.code ? std::min(next, code) : next;
            left.add_if(missing ? best_.missing_left : code <= few_cut_.code, node_->records[i].pay);
        }
        if (few_cut_.code == kMissingCode) {  // missing against known: known values go left
            best_.missing_left = false;
            left.word = pay_.word - left.word;
            next = 0x10000;
        }
        best_.code = next <= last ? (few_cut_.code + next) / 2 : rows_.table.features[best_.feature].n_codes - 1;
        best_.left = left.sums();
        if (!has_missing) best_.missing_left = best_.left.weight * 2 > total_.weight;
        best_.score = Score::split(best_.left, total_ - best_.left);
    }

    // --- middling nodes: by the cells that are touched

    void search_touched(FeatureIndex feature) {
        const Coarse coarse = coarse_[feature];
        std::array<std::uint64_t, 4> touched{};
        Pay* const cells = cells_.data();
        const Record<Pay>* const records = node_->records.data();
        for_codes(feature, [&](std::size_t i, std::uint32_t code) {
            const std::uint32_t cell = coarse(code);
            touched[cell >> 6] |= std::uint64_t{1} << (cell & 63);
            cells[cell] += records[i].pay;
            if constexpr (kCountRows) ++counts_[cell];
        });
        judge_touched(feature, touched);
    }

    // Walks the touched cells in order and leaves them empty.
    void judge_touched(FeatureIndex feature, std::array<std::uint64_t, 4> touched) {
        make_room(256);
        Pay missing{};
        std::uint32_t n_missing = 0;
        if (touched[0] & 1) {
            missing = std::exchange(cells_[0], {});
            n_missing = std::exchange(counts_[0], 0);
            touched[0] ^= 1;
        }
        Pay left{};
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
        judge_cells(feature, n_cells, missing.sums(), n_missing);
    }

    // left_* are filled for n_cells cells that hold rows; the last of them is no cut.
    void judge_cells(FeatureIndex feature, std::size_t n_cells, Sums missing, std::uint32_t n_missing) {
        const Coarse coarse = coarse_[feature];
        if (n_cells == 1 && coarse.shift > 0) return search_inside(feature);
        if (n_cells + (missing.weight > 0.0) < 2) return;
        varies_ = true;
        if (missing.weight > 0.0 && n_cells > 0) judge_missing(feature, missing, n_missing);
        if (n_cells < 2) return;
        const std::size_t cut = judge_cuts(feature, n_cells - 1, missing, n_missing);
        if (cut == n_cells - 1) return;
        best_.coarse = coarse.shift > 0;
        best_.next = next_[cut];
        if (!best_.coarse) best_.code = (best_.code + best_.next) / 2;
    }

    // All known values lie in one cell, so its codes are searched.
    void search_inside(FeatureIndex feature) {
        if (!sort_codes(feature)) return;
        varies_ = true;
        judge_keys(feature, keys_.size());
    }

    // --- large nodes: all cells of a few features in one pass

    template <std::size_t kFeatures>
    void fill_dense(const FeatureIndex* features) {
        std::array<Coarse, kFeatures> coarse;
        std::array<FeatureIndex, kFeatures> column;
        std::array<const std::uint16_t*, kFeatures> ranks{};
        bool ranked = false;
        for (std::size_t k = 0; k < kFeatures; ++k) {
            coarse[k] = coarse_[features[k]];
            column[k] = features[k];
            ranks[k] = ranks_of(features[k]);
            ranked = ranked || ranks[k] != nullptr;
        }
        Pay* const cells = cells_.data();
        const Code* const base = node_->codes;
        const std::size_t stride = node_->stride;
        const Record<Pay>* const records = node_->records.data();
        const std::size_t n = n_rows();
        for (std::size_t i = 0; i < n; ++i) {
            const Record<Pay> record = records[i];
            if (i + kAhead < n) prefetch(base + records[i + kAhead].row * stride + column[0]);
            const Code* const row = base + record.row * stride;
            for (std::size_t k = 0; k < kFeatures; ++k) {
                std::uint32_t code = row[column[k]];
                if (ranked && ranks[k] != nullptr) code = ranks[k][code];
                const std::size_t cell = 256 * k + coarse[k](code);
                cells[cell] += record.pay;
                if constexpr (kCountRows) ++counts_[cell];
            }
        }
    }

    void search_dense(const FeatureIndex* features, std::size_t n) {
        static_assert(kTogether == 8);
        switch (n) {
            case 1: fill_dense<1>(features); break;
            case 2: fill_dense<2>(features); break;
            case 3: fill_dense<3>(features); break;
            case 4: fill_dense<4>(features); break;
            case 5: fill_dense<5>(features); break;
            case 6: fill_dense<6>(features); break;
            case 7: fill_dense<7>(features); break;
            default: fill_dense<8>(features); break;
        }
        for (std::size_t k = 0; k < n; ++k) {
            if constexpr (kScanWords)
                scan_cells(features[k], kColumnCells * k);
            else
                judge_dense(features[k], kColumnCells * k);
        }
    }

    // The same with codes that are kept, for up to sixteen features: rows are read from memory once.
    void search_lanes(const FeatureIndex* features, std::size_t n_features) {
        constexpr std::size_t kChunk = 512;  // rows that stay in a cache until all features have seen them
        const std::size_t n = n_rows();
        const std::size_t n_groups = (n_features + kCodeColumns - 1) / kCodeColumns;
        Code* const seen = room_to_see(n_groups * kCodeColumns);
        std::array<CellColumns, kMostLanes / kCodeColumns> columns{};
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
                rows.fetched = group == 0 && !node_->ranked ? std::min(node_->stride, kMostFetched) : 0;
                rows.n_fetched = n - first;
                kernels().words.fill_cells(rows, records + first, n_now, columns[group],
                                           cells + group * kCodeColumns * kColumnCells,
                                           seen + (group * n + first) * kCodeColumns);
            }
        }
        for (std::size_t k = 0; k < n_features; ++k) {
            const double before = best_.score;
            scan_cells(features[k], kColumnCells * k);
            if (best_.score > before)
                keep_seen({seen + k / kCodeColumns * n * kCodeColumns + k % kCodeColumns, kCodeColumns});
        }
    }

    // For codes of n features, elsewhere than the codes of the best so far.
    Code* room_to_see(std::size_t n) {
        filled_room_ = seen_.codes != nullptr && seen_room_ == 0 ? 1 : 0;
        Buffer<Code>& room = dense_seen_[filled_room_];
        if (room.size() < n * n_rows()) room.resize(n * n_rows());
        return room.data();
    }

    void keep_seen(SeenCodes codes) {
        seen_ = codes;
        seen_room_ = filled_room_;
    }

    // The same as judge_dense in fewer steps; the score of the best cut only is exact.
    void scan_cells(FeatureIndex feature, std::size_t first) {
        const Coarse coarse = coarse_[feature];
        const std::uint32_t last = coarse(rows_.table.features[feature].n_codes - 1);
        Pay* const cells = cells_.data() + first;
        const Pay missing = std::exchange(cells[0], {});
        const bool has_missing = !missing.empty();
        static_assert(sizeof(Pay) == sizeof(std::uint64_t));
        WordScan task{.start = 0,
                      .total = pay_.word,
                      .mean = static_cast<float>(total_.sum / total_.weight),
                      .narrow = std::is_same_v<Pay, ClassPay>};
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
            std::fill_n(cells, last + 1, Pay{});
            if (coarse.shift > 0) search_inside(feature);
            return;
        }
        varies_ = true;
        if (has_missing && coarse.shift > 0) {
            std::uint32_t lowest = 1;
            while (cells[lowest].empty()) ++lowest;
            if (cells[lowest].word + missing.word == pay_.word) {  // all known values lie in this cell
                std::fill_n(cells, last + 1, Pay{});
                return search_inside(feature);
            }
        }
        Pay left = missing_left ? missing : Pay{};
        for (std::uint32_t cell = 1; cell <= cut.cell; ++cell) left += cells[cell];
        if (missing_left && left.word == missing.word) {  // missing against known: known values go left
            missing_left = false;
            left.word = pay_.word - missing.word;
            cut.cell = last;
        }
        const double score = Score::split(left.sums(), total_ - left.sums());
        if (score > best_.score) {
            std::uint32_t next = cut.cell + 1;
            while (next <= last && cells[next].empty()) ++next;
            take(score, feature, cut.cell, has_missing ? missing_left : left.sums().weight * 2 > total_.weight,
                 left.sums());
            best_.missing = missing.sums();
            if (next > last) {  // only missing values on the right
                best_.code = rows_.table.features[feature].n_codes - 1;
            } else if (coarse.shift > 0) {
                best_.coarse = true;
                best_.next = next;
            } else {
                best_.code = (cut.cell + next) / 2;
            }
        }
        std::fill_n(cells, last + 1, Pay{});
    }

    void judge_dense(FeatureIndex feature, std::size_t first) {
        make_room(256);
        Pay* const cells = cells_.data() + first;
        std::uint32_t* const counts = counts_.data() + first;
        const std::uint32_t last = coarse_[feature](rows_.table.features[feature].n_codes - 1);
        const Pay missing = std::exchange(cells[0], {});
        const std::uint32_t n_missing = std::exchange(counts[0], 0);
        Pay left{};
        std::uint32_t n_left = 0;
        std::size_t n_cells = 0;
        for (std::uint32_t cell = 1; cell <= last; ++cell) {
            const Pay pay = cells[cell];
            left += pay;
            cells[cell] = {};
            const Sums so_far = left.sums();
            left_sum_[n_cells] = so_far.sum;
            left_weight_[n_cells] = so_far.weight;
            if constexpr (kCountRows) left_count_[n_cells] = n_left += std::exchange(counts[cell], 0);
            last_[n_cells] = cell;
            n_cells += !pay.empty();
        }
        for (std::size_t i = 0; i + 1 < n_cells; ++i) next_[i] = last_[i + 1];
        judge_cells(feature, n_cells, missing.sums(), n_missing);
    }

    // The best cut lies between two cells; the exact one is looked for among the codes of both.
    void refine() {
        const FeatureIndex feature = best_.feature;
        const Coarse coarse = coarse_[feature];
        const SumSplit rough = best_;
        const std::uint32_t from = coarse.first(rough.code);
        const std::uint32_t reach = coarse.last(rough.next) - from;
        const std::uint32_t between = coarse.last(rough.code);  // the last code of the low cell
        keys_.resize(n_rows() + 1);
        std::size_t n_near = 0;
        std::uint32_t n_below = 0;
        std::uint32_t n_missing = 0;
        const auto see = [&](std::size_t i, std::uint32_t code) {
            if constexpr (kCountRows) {
                n_below += code != kMissingCode && code < from;
                n_missing += code == kMissingCode;
            }
            keys_[n_near] = std::uint64_t{code} << 32 | i;
            n_near += code - from <= reach;
        };
        if (seen_.codes == nullptr)
            for_codes(feature, see);
        else
            for (std::size_t i = 0; i < n_rows(); ++i) see(i, seen_[i]);
        keys_.resize(n_near);
        std::sort(keys_.begin(), keys_.end());
        Sums below = rough.left;
        if (rough.missing_left) below = below - rough.missing;
        Pay low{};
        for (const std::uint64_t key : keys_)
            if (key >> 32 <= between) low += node_->records[static_cast<std::uint32_t>(key)].pay;
        below = below - low.sums();
        best_ = {};
        judge_cuts(feature, fill_cuts(0, keys_.size(), below, n_below), rough.missing, n_missing);
        if (best_.found()) return;
        best_ = rough;  // only rounding, of weights that are no whole numbers, can lead here
        best_.code = between;
        best_.coarse = false;
    }

    // --- random thresholds, for extra trees

    // What was never missing follows the heavier side.
    void judge_drawn(FeatureIndex feature, const CodeRange& range, RandomCut cut, Sums left) {
        const double score = Score::split(left, total_ - left);
        if (score <= best_.score) return;
        take(score, feature, cut.last, range.has_missing() ? cut.shift == 0 : left.weight * 2 > total_.weight, left);
    }

    void draw_one(FeatureIndex feature) {
        const std::size_t n = n_rows();
        if (drawn_.size() < n) drawn_.resize(n);
        CodeRange range;
        for_codes(feature, [&](std::size_t i, std::uint32_t code) {
            drawn_[i] = static_cast<Code>(code);
            range.see(code);
        });
        if (!range.varies()) return;
        varies_ = true;
        const RandomCut cut = draw_cut(*values_, Base::draws_, &feature, 0, range);
        Pay left{};
        std::uint32_t n_left = 0;
        for (std::size_t i = 0; i < n; ++i) {
            const bool goes = cut.goes_left(drawn_[i]);
            left.add_if(goes, node_->records[i].pay);
            if constexpr (kCountRows) n_left += goes;
        }
        const double before = best_.score;
        if (is_lawful(left.weight(), n_left)) judge_drawn(feature, range, cut, left.sums());
        if (best_.score > before) seen_ = {};  // what was kept is another feature's
    }

    // The same for up to eight features in one pass.
    void draw_lanes(const FeatureIndex* features, std::size_t n_features) {
        static_assert(kTogether == kCodeColumns);
        if constexpr (Pay::kWhole) {
            const std::size_t n = n_rows();
            Code* const seen = room_to_see(kCodeColumns);
            const WordRecord* const records = word_records(node_->records);
            CodeRanges ranges;
            kernels().words.gather_codes(node_->codes, node_->stride, records, n, features, n_features, seen, ranges);
            std::array<RandomCut, kCodeColumns> cuts{};
            std::array<std::uint16_t, kCodeColumns> shift{};
            std::array<std::uint16_t, kCodeColumns> last{};
            for (std::size_t k = 0; k < n_features; ++k) {
                const CodeRange range = CodeRange::of_lane(ranges, k);
                if (!range.varies()) continue;
                varies_ = true;
                cuts[k] = draw_cut(*values_, Base::draws_, features, k, range);
                shift[k] = cuts[k].shift;
                last[k] = cuts[k].last;
            }
            std::array<std::uint64_t, kCodeColumns> left;
            kernels().words.sum_left(seen, records, n, shift.data(), last.data(), left.data());
            for (std::size_t k = 0; k < n_features; ++k) {
                const CodeRange range = CodeRange::of_lane(ranges, k);
                if (!range.varies()) continue;
                const double before = best_.score;
                judge_drawn(features[k], range, cuts[k], Pay{left[k]}.sums());
                if (best_.score > before) keep_seen({seen + k, kCodeColumns});
            }
        }
    }

    // Of few rows: what they add, codes of some features, and those of the best.
    SmallNumberNode few_;
    SmallNodeCut few_cut_;
    std::array<std::uint32_t, kFewNumbers> few_pay_;
    alignas(kCacheLine) std::array<Code, kFewNumbers * kSmallNodeFeatures> few_codes_;
    std::array<Code, kFewNumbers> few_seen_;

    Pay pay_;     // of the node
    Sums total_;  // the same, as numbers
    SumSplit best_;
    std::optional<CodeValues> values_;

    std::array<Buffer<Code>, 2> dense_seen_;  // codes of the features that are tried, and of those with the best
    std::size_t filled_room_ = 0;
    std::size_t seen_room_ = 0;

    Buffer<Pay> cells_;
    std::vector<std::uint32_t> counts_;
    std::vector<double> left_sum_;
    std::vector<double> left_weight_;
    std::vector<std::uint32_t> left_count_;
    std::vector<double> score_;
    std::vector<std::uint32_t> last_;
    std::vector<std::uint32_t> next_;
    std::vector<Code> drawn_;
};

}  // namespace coterie::sums
