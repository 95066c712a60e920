// kernels/kernels.hpp: the hot loops, one table of functions per instruction set.
//
// The generic table is the definition: plain C++ that runs anywhere. Another table may only be faster; it
// gives the same bits, and the tests compare the two. Histograms are scalar adds in every set, so they are
// not in the table (kernels/histogram_rows.hpp).
//
// Words
//   record   a row with its derivatives, 64 bits: row in the low half, pair in the high half
//   pair     rounded gradient (int16, high) and hessian (uint16, low) of one row, 32 bits
//   cell     sums of the pairs of one bin in 64 bits. Plain: gradient 32, hessian 32. Counted, for trees of
//            fewer than 2^16 rows: gradient 26, hessian 22, number of rows 16, highest first
//   mark     one bit per row: goes left
#pragma once

#include <cstddef>
#include <cstdint>

#include "coterie/base/types.hpp"
#include "coterie/kernels/feature_draws.hpp"
#include "coterie/kernels/few_rows.hpp"
#include "coterie/kernels/row_sets.hpp"
#include "coterie/kernels/strips.hpp"
#include "coterie/kernels/word_records.hpp"

namespace coterie {

using Pair = std::uint32_t;
using Record = std::uint64_t;
using Cell = std::uint64_t;

constexpr RowIndex row_of(Record record) { return static_cast<RowIndex>(record); }
constexpr Pair pair_of(Record record) { return static_cast<Pair>(record >> 32); }
constexpr Record make_record(RowIndex row, Pair pair) { return static_cast<Record>(pair) << 32 | row; }
constexpr Pair make_pair(std::int32_t gradient, std::uint32_t hessian) {
    return static_cast<Pair>(gradient) << 16 | (hessian & 0xffffu);
}

/// What a pair adds to a cell. The sums of the lower fields stay inside them (boosting/rounded_pairs), so nothing
/// carries over.
template <bool Counted>
constexpr Cell widen(Pair pair) {
    const auto gradient = static_cast<Cell>(static_cast<std::int64_t>(static_cast<std::int16_t>(pair >> 16)));
    const Cell hessian = pair & 0xffffu;
    return Counted ? (gradient << 38) + (hessian << 16) + 1 : (gradient << 32) + hessian;
}

/// The fields of a cell; n is 0 if rows are not counted.
struct Sums {
    std::int32_t gradient;
    std::int32_t hessian;
    std::uint32_t n;
};
constexpr Sums sums_of(Cell cell, bool counted) {
    if (!counted) return {static_cast<std::int32_t>(cell >> 32), static_cast<std::int32_t>(cell), 0};
    return {static_cast<std::int32_t>(cell >> 32) >> 6, static_cast<std::int32_t>(cell >> 16 & 0x3fffffu),
            static_cast<std::uint32_t>(cell & 0xffffu)};
}

/// Cuts of one numeric feature for the two-level search: 16 pivots, then 16 x 16 cuts, padded by infinity.
template <class Float>
struct alignas(64) CutTable {
    Float pivots[16];
    Float cuts[256];
    std::size_t n_cuts;  // how many of the latter there are
};

/// A split of bins: numeric bins pass when (bin - shift) <= (last - shift) in uint8 arithmetic, so that the
/// missing bin 0 goes left with shift 0 and right with shift 1.
struct BinRule {
    Bin last = 0;
    Bin shift = 0;
    const Bin* table = nullptr;  // for nominal splits: 256 entries, 1 goes left
};

constexpr bool passes(const BinRule& rule, Bin bin) {
    if (rule.table != nullptr) return rule.table[bin] != 0;
    return static_cast<Bin>(bin - rule.shift) <= static_cast<Bin>(rule.last - rule.shift);
}

/// The node whose cells are scanned, in rounded units.
struct ScanTask {
    Cell total;
    float l2;           // in units of the rounded hessian
    float min_hessian;  // each child needs at least this rounded hessian, > 0
    bool counted;       // cells count rows, and each child needs at least min_rows of them
    std::uint32_t min_rows;
    float beat;  // only a gain above this one is of interest; -1: any
};

/// Gain of sending `left` to one side, or -1 if a child is too light. One division serves both children.
inline float gain_of_split(Cell left_cell, const ScanTask& task) {
    const Sums left = sums_of(left_cell, task.counted);
    const Sums right = sums_of(task.total - left_cell, task.counted);
    if (task.counted && (left.n < task.min_rows || right.n < task.min_rows)) return -1.0f;
    const auto left_g = static_cast<float>(left.gradient);
    const auto right_g = static_cast<float>(right.gradient);
    const auto left_h = static_cast<float>(left.hessian);
    const auto right_h = static_cast<float>(right.hessian);
    if (!(left_h >= task.min_hessian && right_h >= task.min_hessian)) return -1.0f;
    const float left_d = left_h + task.l2;
    const float right_d = right_h + task.l2;
    return (left_g * left_g * right_d + right_g * right_g * left_d) / (left_d * right_d);
}

/// The best threshold of one feature: bins <= last go left, missing rows by `missing_left`.
struct ScanResult {
    float gain = -1.0f;  // sum over both children of gradient^2 / (hessian + l2), rounded units; <= beat: none
    Bin last = 0;
    bool missing_left = false;
};

/// How to round derivatives to pairs.
struct Rounding {
    float gradient_scale;
    float hessian_scale;
    std::uint32_t salt;
};

struct PairSums {
    double gradient_mass = 0;  // sum of |gradient|
    double hessian_mass = 0;
    float gradient_max = 0;  // of |gradient|
    float hessian_max = 0;
};

struct MassBelow {
    double mass = 0;    // of the values below the limit
    std::size_t n = 0;  // how many there are
};

/// Of a nominal split: bit b says that bin b goes left.
struct alignas(32) LevelBits {
    std::uint8_t bits[32] = {};
};

/// One split of a tree on bins, and what becomes of the codes at hand, one for each row, which are those of the step
/// before. Bins that the rule lets pass take another code:
///   start   the codes at hand are put aside; rows that pass begin with `code`, others with `other`
///   attach  `code`
///   join    that which was put aside last, and is needed no more
struct RouteStep {
    enum class Way : std::uint8_t { start, attach, join };

    std::size_t column = 0;             // where the bins of its feature begin
    const std::uint8_t* set = nullptr;  // of nominal splits: LevelBits
    bool out_of_set = false;            // who is not in the set passes
    Bin shift = 0;                      // of numeric splits: bins pass when (bin - shift) <= span in uint8 arithmetic
    Bin span = 0;
    Way way = Way::attach;
    std::uint8_t code = 0;
    std::uint8_t other = 0;

    /// Who passed does not, and the other way round. Not all bins may pass.
    constexpr RouteStep turned_round() const {
        RouteStep turned = *this;
        turned.out_of_set = !out_of_set;
        turned.shift = static_cast<Bin>(shift + span + 1);
        turned.span = static_cast<Bin>(254 - span);
        return turned;
    }
};
inline constexpr std::size_t kMostPutAside = 10;  // of a tree that a byte can tell the leaves of (tree/route_plan.hpp)
inline constexpr std::size_t kRouteRows = 128;

/// 32 random bits for a row: a finaliser good enough to decide draws and roundings, cheap enough for a vector lane.
constexpr std::uint32_t hash_of_row(std::uint32_t row, std::uint32_t salt) {
    std::uint32_t x = row * 0x9e3779b1u + salt;
    x ^= x >> 16;
    x *= 0x85ebca6bu;
    x ^= x >> 13;
    x *= 0xc2b2ae35u;
    x ^= x >> 16;
    return x;
}

/// The node of a forest whose cells are scanned. A cell is a word: a sum above, a weight in the low bits.
struct WordScan {
    std::uint64_t start = 0;  // on the left from the beginning
    std::uint64_t total = 0;  // of the node
    float mean = 0.0f;        // sum over weight of the node
    bool narrow = true;       // weights have 32 bits; otherwise 24, below sums of 39
};

/// Gain: the squared distance of the left sum from its share, over the product of the weights; -1 if there is no cut.
struct WordCut {
    float gain = -1.0f;
    std::uint32_t cell = 0;
};

struct WordSums {
    float sum;
    float weight;
};

inline WordSums word_sums(std::uint64_t word, bool narrow) {
    const auto high = static_cast<float>(static_cast<std::int32_t>(word >> 32));
    const auto low = static_cast<std::uint32_t>(word);
    if (narrow) return {high, static_cast<float>(static_cast<std::int32_t>(low))};
    return {high * 256.0f + static_cast<float>(static_cast<std::int32_t>(low >> 24)),
            static_cast<float>(static_cast<std::int32_t>(low & 0xffffffu))};
}

/// Where integrals over [0, 1] are read, and what each place counts (Gauss and Legendre).
struct ShapPoints {
    std::size_t n = 0;  // 4, 8, 16 or 32
    const double* at = nullptr;
    const double* weight = nullptr;
};

/// A tree as SHAP values see it. Nodes come after their parents; entries of the root are not read.
///
/// The *share* of a node is what part of the training rows takes every split of its feature on the path to it, among
/// those that get to ask; the share before is that without the last split on this feature, 1 if there was no other.
/// The *way* of a row at a node: 0 if it takes every split of the feature so far, 1 if the last one is the first that
/// it does not take, 2 if it failed earlier.
struct ShapTree {
    std::size_t n_nodes = 0;
    std::size_t n_outputs = 1;
    std::size_t n_features = 0;  // that its splits ask for
    ShapPoints points;
    const std::uint32_t* parent = nullptr;
    const std::uint32_t* feature = nullptr;  // that the parent asks for, counted among those of this tree
    const double* share = nullptr;
    const double* share_before = nullptr;
    const double* value = nullptr;   // n_outputs per node, zeros inside the tree
    const double* ratio = nullptr;   // for nodes, ways and points, or null
    const double* factor = nullptr;  // the same
    std::size_t n_leaves = 0;        // from here on for interactions only
    const std::uint32_t* leaf = nullptr;
    const std::uint32_t* path = nullptr;  // of a leaf: for each feature the last node whose parent asks for it
    const std::size_t* first_of_path = nullptr;
};

struct Kernels {
    const char* name;

    // Bins of n values at data, data + stride, ...: 0 if NaN, else 1 + the number of cuts below the value.
    void (*map_float)(const std::byte* data, std::ptrdiff_t stride, std::size_t n, const CutTable<float>& cuts,
                      Bin* out);
    void (*map_double)(const std::byte* data, std::ptrdiff_t stride, std::size_t n, const CutTable<double>& cuts,
                       Bin* out);

    // The same for sixteen features at once (strips.hpp).
    MapStrip<float> map_strip_float;
    MapStrip<double> map_strip_double;

    // Marks, eight rows to a byte, and their count. Rows are [0, n) of the column, or those of the records.
    std::size_t (*mark_rows)(const Bin* column, std::size_t n, const BinRule& rule, std::uint8_t* marks);
    std::size_t (*mark_records)(const Bin* column, const Record* records, std::size_t n, const BinRule& rule,
                                std::uint8_t* marks);

    // Stable split of rows first_row + [0, n), or of n records, by their marks into exactly n_left and n - n_left.
    void (*pack_rows)(RowIndex first_row, const Pair* pairs, std::size_t n, const std::uint8_t* marks, Record* left,
                      std::size_t n_left, Record* right);
    void (*pack_records)(const Record* records, std::size_t n, const std::uint8_t* marks, Record* left,
                         std::size_t n_left, Record* right);

    // The best threshold among value bins 1 .. n_bins - 1 of one feature's cells; cell 0 holds missing rows.
    ScanResult (*scan)(const Cell* cells, int n_bins, const ScanTask& task);

    // Adds to sums[bin], for value bins 1 .. n_bins - 1, what a threshold after the bin gains above `parent`; nothing
    // where a child is too light. What else is written to the first n_bins sums, rounded up to eights, does not matter.
    void (*add_gains)(const Cell* cells, int n_bins, const ScanTask& task, float parent, bool missing_left,
                      float* sums);

    // What n cuts of a forest's node score, of which the left sums are given: the squares of both sums over their
    // weights. Nothing that compares greater than a number where a side has no weight.
    void (*square_scores)(const double* sum, const double* weight, std::size_t n, double total_sum, double total_weight,
                          double* out);

    // Codes of n records in up to eight columns, eight to a row of `out`, and their ranges.
    void (*gather_codes)(const std::uint16_t* codes, std::size_t stride, const WordRecord* records, std::size_t n,
                         const std::uint32_t* columns, std::size_t n_columns, std::uint16_t* out, CodeRanges& ranges);

    // Per lane, the sum of the pays of rows with code - shift <= last - shift.
    void (*sum_left)(const std::uint16_t* codes, const WordRecord* records, std::size_t n, const std::uint16_t* shift,
                     const std::uint16_t* last, std::uint64_t* sums);

    // Fills the cells of a forest's node, and parts its records (word_records.hpp).
    void (*fill_cells)(const CodeRows& rows, const WordRecord* records, std::size_t n, const CellColumns& columns,
                       std::uint64_t* cells, std::uint16_t* seen);
    std::size_t (*part_words)(WordRecord* records, std::size_t n, const RecordCodes& codes, WordRecord* right);

    // The best cut of a forest's node of few rows (few_rows.hpp).
    FewCut (*cut_few_classes)(std::uint16_t* codes, const FewClasses& rows);
    std::uint32_t (*pick_codes)(const CodeRows& rows, const WordRecord* records, std::size_t n,
                                const std::uint32_t* columns, std::size_t n_columns, std::uint16_t* out);
    void (*cut_few_numbers)(const FewCodes& codes, const FewNumbers& rows, FewCuts& cuts);

    // What a node of a forest draws (feature_draws.hpp).
    void (*draw_features)(FeatureChoice& choice, std::size_t n_draws, std::uint32_t* drawn, std::uint32_t* shares);

    // Nodes of a forest as sets of rows (row_sets.hpp).
    void (*turn_codes)(const std::uint16_t* codes, std::size_t stride, const std::uint32_t* rows, std::size_t n,
                       std::size_t n_columns, std::uint16_t* out, std::size_t out_stride);
    void (*set_ranges)(const TurnedCodes& codes, const RowSet* set, const std::uint32_t* columns, std::size_t n_columns,
                       CodeRanges& ranges);
    void (*sum_set)(const TurnedCodes& codes, const RowSet* set, const std::uint32_t* columns, std::size_t n_columns,
                    const SetCuts& cuts, const SetPays& pays, SetSums& sums, RowSet* left);
    void (*part_set)(const std::uint16_t* column, std::size_t n_words, std::uint16_t shift, std::uint16_t last,
                     RowSet* set, RowSet* left);
    std::size_t (*set_rows)(const RowSet* set, std::size_t n_words, const std::uint32_t* rows, std::uint32_t* out);
    void (*set_codes)(const std::uint16_t* column, RowSet set, std::uint16_t* out);
    bool (*draw_cuts)(const TurnedCodes& codes, RowSet set, const std::uint32_t* columns, std::size_t n_columns,
                      const std::uint32_t* shares, const SetPays& pays, std::uint64_t total, DrawnCut& best);

    // The best cut after one of cells 1 .. last of a forest's node.
    WordCut (*scan_words)(const std::uint64_t* cells, std::uint32_t last, const WordScan& task);

    void (*subtract)(Cell* from, const Cell* what, std::size_t n);  // from -= what

    // Derivatives to pairs, and what the choice of scales needs to know of them. An empty hessian means 1.
    PairSums (*sum_pairs)(const float* gradient, const float* hessian, std::size_t n);
    void (*round_pairs)(const float* gradient, const float* hessian, std::size_t n, RowIndex first_row,
                        const Rounding& rounding, Pair* out);

    // Sampling: sqrt(gradient^2 + weight * hessian^2) of each row; the mass of the sizes below a limit; and who is
    // drawn (1) or not (0), with chance min(1, size / limit), and how many. Rows are first_row + [0, n), or those
    // given.
    void (*row_sizes)(const float* gradient, const float* hessian, std::size_t n, float weight, float* sizes);
    MassBelow (*mass_below)(const float* sizes, std::size_t n, float limit);
    std::size_t (*draw)(const float* sizes, float limit, const RowIndex* rows, RowIndex first_row, std::size_t n,
                        std::uint32_t salt, std::uint8_t* drawn);

    // Picks codes for rows begin + [0, kRouteRows), step after step; without steps they are 0. Columns can be read
    // kRouteRows bytes from any row on.
    void (*route)(const Bin* columns, const RouteStep* steps, std::size_t n_steps, std::size_t begin,
                  std::uint8_t* codes);

    // The same for a tree with one step a level: the answers of a row are the bits of its code, the root's the highest,
    // 1 where it does not pass. The ways of the steps are not looked at.
    void (*route_levels)(const Bin* columns, const RouteStep* steps, std::size_t n_steps, std::size_t begin,
                         std::uint8_t* codes);

    // Everything that depends on node, way and point: 3 * points numbers per node in each table.
    void (*shap_tables)(const ShapTree& tree, double* ratio, double* factor);
    // SHAP values of one row in one tree: adds to sums[(output * n_features + feature) * points + point]. `ways` has an
    // entry per node; scratch has room for two numbers per node and point.
    void (*shap_row)(const ShapTree& tree, const std::uint8_t* ways, double* scratch, double* sums);
    // And interactions: adds to sums[(output * n_features + a) * n_features + b] for a > b. Scratch has room for a
    // number per node and point, and one per feature and point.
    void (*shap_pairs)(const ShapTree& tree, const std::uint8_t* ways, double* scratch, double* sums);

    // Losses: gradient and hessian of each row; weight may be null.
    void (*log_loss)(const float* score, const float* y, const float* weight, std::size_t n, float* gradient,
                     float* hessian);
    void (*squared_error)(const float* score, const float* y, const float* weight, std::size_t n, float* gradient);
    // Multinomial: log of the sum of exp(score_k) of each row, then the derivatives for one class.
    void (*log_sum_exp)(const float* scores, std::size_t n_classes, std::size_t class_stride, std::size_t n,
                        float* out);
    void (*softmax)(const float* score, const float* log_sum, const std::int32_t* y, std::int32_t which,
                    const float* weight, std::size_t n, float* gradient, float* hessian);
};

const Kernels& generic_kernels();
#if defined(COTERIE_HAS_AVX2)
const Kernels& avx2_kernels();
const Kernels& avx512_kernels();
#endif

/// The fastest table this processor can run, or a slower one if COTERIE_ISA names it. Chosen once.
const Kernels& kernels();

}  // namespace coterie
