// forest/sums.hpp: what the rows of a node add up to: one sum, or one of each class.
//
// Words
//   statistic      what one row adds: its weighted target and its weight. If weights are whole numbers both fit into
//   one
//            word; otherwise they are two floats. Targets are whole numbers, so that sums are exact
//   score    what a split search maximises
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "coterie/base/random.hpp"
#include "coterie/base/types.hpp"
#include "coterie/kernels/kernels.hpp"
#include "coterie/split/criterion.hpp"

namespace coterie::sums {

struct Sums {
    double sum = 0.0;
    double weight = 0.0;

    friend Sums operator+(const Sums& a, const Sums& b) { return {a.sum + b.sum, a.weight + b.weight}; }
    friend Sums operator-(const Sums& a, const Sums& b) { return {a.sum - b.sum, a.weight - b.weight}; }
};

/// Whole numbers in one word: the weighted target above, the weight in the low bits. Of classes both have 32 bits; of
/// numbers, weights have 24 and targets, which are never negative, 39.
template <int kWeightBits>
struct WordStatistic {
    static constexpr bool kWhole = true;
    static constexpr std::uint64_t kWeight = (std::uint64_t{1} << kWeightBits) - 1;

    std::uint64_t word = 0;

    static WordStatistic of(double target, double weight) {
        return {static_cast<std::uint64_t>(target * weight) << kWeightBits | static_cast<std::uint64_t>(weight)};
    }
    WordStatistic& operator+=(WordStatistic other) {
        word += other.word;
        return *this;
    }
    void add_if(bool goes, WordStatistic other) { word += other.word & (goes ? ~std::uint64_t{0} : 0); }
    bool empty() const { return word == 0; }
    double weight() const { return static_cast<double>(word & kWeight); }
    Sums sums() const { return {static_cast<double>(word >> kWeightBits), weight()}; }
    friend bool same_target(WordStatistic a, WordStatistic b) {
        return (a.word >> kWeightBits) * (b.word & kWeight) == (b.word >> kWeightBits) * (a.word & kWeight);
    }
};
using ClassStatistic = WordStatistic<32>;
using NumberStatistic = WordStatistic<24>;

/// Any weights; targets are whole numbers still.
struct PairStatistic {
    static constexpr bool kWhole = false;

    double sum = 0.0;
    double weight_sum = 0.0;

    static PairStatistic of(double target, double weight) { return {target * weight, weight}; }
    PairStatistic& operator+=(PairStatistic other) {
        sum += other.sum;
        weight_sum += other.weight_sum;
        return *this;
    }
    void add_if(bool goes, PairStatistic other) {
        sum += goes ? other.sum : 0.0;
        weight_sum += goes ? other.weight_sum : 0.0;
    }
    bool empty() const { return weight_sum == 0.0; }
    double weight() const { return weight_sum; }
    Sums sums() const { return {sum, weight_sum}; }
    friend bool same_target(PairStatistic a, PairStatistic b) { return a.sum * b.weight_sum == b.sum * a.weight_sum; }
};

/// A row of several classes: its weight counts for one of them. Whole weights are 32-bit numbers, any others doubles.
template <class Weight>
struct alignas(8) LabelStatistic {
    static constexpr bool kWhole = std::is_integral_v<Weight>;

    Weight own = 0;
    std::uint32_t label = 0;

    static LabelStatistic of(double target, double weight) {
        return {static_cast<Weight>(weight), static_cast<std::uint32_t>(target)};
    }
    double weight() const { return static_cast<double>(own); }
    friend bool same_target(LabelStatistic a, LabelStatistic b) { return a.label == b.label; }
};
using WholeLabelStatistic = LabelStatistic<std::int32_t>;
using AnyLabelStatistic = LabelStatistic<double>;

template <class Statistic>
struct Record {
    Statistic statistic;
    std::uint32_t row;
};

/// As the kernels see records whose statistic is a word.
template <class Statistic>
const WordRecord* word_records(std::span<const Record<Statistic>> records) {
    static_assert(sizeof(Statistic) == sizeof(std::uint64_t) && sizeof(Record<Statistic>) == sizeof(WordRecord));
    return reinterpret_cast<const WordRecord*>(records.data());
}

inline double x_log_x(double x) { return x > 0.0 ? x * criterion::log_base_2(x) : 0.0; }

/// Two classes by Gini, or numbers by squared error: up to a factor the same thing.
struct SquareScore {
    static double node(Sums s) { return s.sum * s.sum / s.weight; }
    static double split(Sums l, Sums r) {
        return (l.sum * l.sum * r.weight + r.sum * r.sum * l.weight) / (l.weight * r.weight);
    }
    static void scores(const double* sum, const double* weight, std::size_t n, Sums total, double* out) {
        kernels().words.square_scores(sum, weight, n, total.sum, total.weight, out);
    }
    static double of_pure_sides(Sums total) { return total.sum; }  // of two classes
    /// In the order of scores. As kernels find it for small sets (row_sets.hpp).
    static double merit(Sums l, Sums total) {
        const double distance = l.sum * total.weight - l.weight * total.sum;
        return distance * distance / (l.weight * (total.weight - l.weight));
    }
    /// Of the score of a split with this merit, beyond that of the node.
    static double gain(double merit, Sums total) { return merit / total.weight; }
};

template <class Score>
struct OneByOne {
    static void scores(const double* sum, const double* weight, std::size_t n, Sums total, double* out) {
        for (std::size_t i = 0; i < n; ++i) {
            const Sums left{sum[i], weight[i]};
            const Sums right = total - left;
            out[i] = left.weight > 0.0 && right.weight > 0.0 ? Score::split(left, right) : criterion::kForbidden;
        }
    }
};

struct EntropyScore : OneByOne<EntropyScore> {
    static double node(Sums s) { return x_log_x(s.sum) + x_log_x(s.weight - s.sum) - x_log_x(s.weight); }
    static double split(Sums l, Sums r) { return node(l) + node(r); }
    static double of_pure_sides(Sums) { return 0.0; }
    static double merit(Sums l, Sums total) { return split(l, total - l); }
    static double gain(double merit, Sums total) { return merit - node(total); }
};

struct PoissonScore : OneByOne<PoissonScore> {
    static double node(Sums s) { return s.sum > 0.0 ? s.sum * criterion::log_base_2(s.sum / s.weight) : 0.0; }
    static double split(Sums l, Sums r) {  // a mean of zero cannot be predicted
        return l.sum > 0.0 && r.sum > 0.0 ? node(l) + node(r) : criterion::kForbidden;
    }
    static double of_pure_sides(Sums) { return -criterion::kForbidden; }
};

/// Several classes by Gini: the sums of squares of both sides say it all, and can be kept up to date row by row.
struct ClassSquares {
    static constexpr bool kSquares = true;
    template <class Weight>
    static double node(std::span<const Weight> sums, double weight) {
        double squares = 0.0;
        for (const Weight sum : sums) squares += static_cast<double>(sum) * static_cast<double>(sum);
        return squares / weight;
    }
    static double of_pure_sides(double weight) { return weight; }
};

struct ClassEntropy {
    static constexpr bool kSquares = false;
    template <class Weight>
    static double node(std::span<const Weight> sums, double weight) {
        double all = -x_log_x(weight);
        for (const Weight sum : sums) all += x_log_x(static_cast<double>(sum));
        return all;
    }
    static double of_pure_sides(double) { return 0.0; }
};

/// A stream of random numbers: the order of growth is fixed, so a counter will do.
class Stream {
public:
    explicit Stream(std::uint64_t seed = 0) : state_(seed) {}
    std::uint64_t bits() { return mix(state_ += 0x9e3779b97f4a7c15ull); }

private:
    std::uint64_t state_;
};

inline constexpr std::uint32_t kMaxCells = 127;  // twice as many would take longer to scan than to sort the rows of one

/// Codes of one feature without their last bits: at most kMaxCells known ones. Missing stays 0.
struct Coarse {
    std::uint32_t add = 0;
    std::uint32_t shift = 0;

    std::uint32_t operator()(std::uint32_t code) const { return (code + add) >> shift; }
    std::uint32_t first(std::uint32_t cell) const { return ((cell - 1) << shift) + 1; }
    std::uint32_t last(std::uint32_t cell) const { return cell << shift; }

    static Coarse of(std::uint32_t n_codes) {
        Coarse coarse;
        while (coarse(n_codes - 1) > kMaxCells) {
            ++coarse.shift;
            coarse.add = (1u << coarse.shift) - 1;
        }
        return coarse;
    }
};

}  // namespace coterie::sums
