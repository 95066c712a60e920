#include "coterie/boosting/stump_rounds.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>
#include <string>

#include "coterie/base/error.hpp"
#include "coterie/base/parallel.hpp"

namespace coterie {
namespace {

constexpr std::size_t kChunk = 2048;
constexpr std::size_t kUpdatesPerThread = 50'000;
constexpr int kStartBits = 51;  // all amounts together, when the histogram is new
constexpr double kLeastTotal = 0x1p50;
constexpr double kMostTotal = 0x1p61;
constexpr double kTolerance = 0x1p-40;  // of the total: what rounding may do
// A question must be worth a millionth of the weight, or none is asked. With very unequal class weights a first stump
// that is right on a few rows more than the heavy class would otherwise have nearly all votes there are.
constexpr double kWorth = 1e-6;

std::size_t n_chunks_of(std::size_t n_rows) { return (n_rows + kChunk - 1) / kChunk; }

Amount amount_of(double weight, double unit) {
    return static_cast<Amount>(static_cast<std::int64_t>(weight * unit + 0.5));
}

double unit_for(double total) { return std::ldexp(1.0, kStartBits - std::ilogb(total)); }

// Chunk by chunk, so that the order of the additions is always the same.
double sum_of(std::span<const double> values) {
    double total = 0;
    for (std::size_t begin = 0; begin < values.size(); begin += kChunk) {
        const auto part = values.subspan(begin, std::min(kChunk, values.size() - begin));
        total += std::accumulate(part.begin(), part.end(), 0.0);
    }
    return total;
}

double checked_sum(std::span<const double> weights) {
    const bool fine = std::all_of(weights.begin(), weights.end(), [](double w) { return w >= 0 && w <= 1e200; });
    const double total = fine ? sum_of(weights) : 0;
    require(total > 1e-200 && std::isfinite(total), "Weights must be numbers from 0 to 1e200 with a sum above 1e-200.");
    return total;
}

}  // namespace

struct StumpRounds::Batch {
    RowIndex rows[kChunk];
    ClassIndex classes[kChunk];
    Amount amounts[kChunk];
    std::size_t n = 0;

    // Written always and kept if there is something to add: cheaper than a branch that is hard to foresee.
    void offer(std::size_t row, ClassIndex own_class, Amount amount) {
        rows[n] = static_cast<RowIndex>(row);
        classes[n] = own_class;
        amounts[n] = amount;
        n += amount != 0;
    }
};

// What happens to the rows in one pass.
struct StumpRounds::Change {
    const Bin* bins;  // of the stump's feature
    std::array<std::uint8_t, kMaxBins> right;
    StumpEffect effect;
    double halved;  // a power of two for all weights
    double unit;    // of the new amounts
    bool anew;      // there are no old amounts
};

StumpRounds::StumpRounds(std::shared_ptr<const BinnedMatrix> matrix, std::span<const std::int32_t> classes,
                         std::size_t n_classes, std::span<const double> weight, StumpScore score, int n_threads)
    : matrix_(std::move(matrix)), sums_(*matrix_, n_classes), score_(score), n_threads_(n_threads) {
    require(n_classes >= 2 && n_classes <= 65'535,
            "The engine takes from 2 to 65,535 classes; there are " + std::to_string(n_classes) + ".");
    require(score != StumpScore::exponential || n_classes == 2, "The exponential score is for two classes.");
    require(classes.size() == n_rows() && (weight.empty() || weight.size() == n_rows()),
            "Classes, weights and the table differ in length.");
    require(std::all_of(classes.begin(), classes.end(),
                        [&](std::int32_t own) { return own >= 0 && static_cast<std::size_t>(own) < n_classes; }),
            "A class has a number that is not below the number of classes.");
    classes_.assign(classes.begin(), classes.end());
    first_weights_.assign(weight.begin(), weight.end());
    weights_ = weight.empty() ? std::vector<double>(n_rows(), 1.0) : first_weights_;
    scores_.assign(n_rows() * n_scores(), 0.0);
    unit_ = unit_for(checked_sum(weights_));
    cells_ = cells_of(weights_, unit_);
}

template <class Fill>
void StumpRounds::add_chunks(std::vector<Amount>& cells, Fill fill) const {
    const std::size_t updates = n_rows() * matrix_->lanes().size();
    const std::size_t n_chunks = n_chunks_of(n_rows());
    const std::size_t n_parts =
        std::min({static_cast<std::size_t>(n_threads_), 1 + updates / kUpdatesPerThread, n_chunks});
    std::vector<std::vector<Amount>> others(n_parts - 1);
    std::atomic<std::size_t> next{0};
    parallel_for(n_parts, n_threads_, [&](std::size_t part) {
        if (part > 0) others[part - 1].assign(cells.size(), 0);
        Amount* const own = part > 0 ? others[part - 1].data() : cells.data();
        Batch batch;
        for (std::size_t chunk; (chunk = next.fetch_add(1, std::memory_order_relaxed)) < n_chunks;) {
            batch.n = 0;
            fill(chunk, batch);
            sums_.add(std::span(batch.rows).first(batch.n), batch.classes, batch.amounts, own);
        }
    });
    for (const std::vector<Amount>& other : others)
        for (std::size_t i = 0; i < cells.size(); ++i) cells[i] += other[i];
}

std::vector<Amount> StumpRounds::cells_of(std::span<const double> weights, double unit) const {
    std::vector<Amount> cells(sums_.n_cells(), 0);
    add_chunks(cells, [&](std::size_t chunk, Batch& batch) {
        for (std::size_t row = chunk * kChunk; row < std::min(n_rows(), (chunk + 1) * kChunk); ++row)
            batch.offer(row, classes_[row], amount_of(weights[row], unit));
    });
    return cells;
}

Stump StumpRounds::find() const { return best(cells_); }

Stump StumpRounds::find_for(std::span<const double> weights) const {
    require(weights.size() == n_rows(), "There must be a weight for each row.");
    return best(cells_of(weights, unit_for(checked_sum(weights))));
}

Stump StumpRounds::best(const std::vector<Amount>& cells) const {
    const std::size_t n_features = matrix_->n_features();
    std::vector<Amount> totals(n_classes(), 0), all;
    sums_.of_feature(0, cells.data(), all);
    for (std::size_t i = 0; i < all.size(); ++i) totals[i % n_classes()] += all[i];
    const auto total = static_cast<double>(std::accumulate(totals.begin(), totals.end(), Amount{0}));
    const ScoredStump none{.stump = {}, .score = side_score(score_, totals) + kWorth * total};
    const double tolerance = kTolerance * total;
    // Some features at a time have a best stump of their own, and the first of these is kept on a tie.
    constexpr std::size_t kTogether = 8;
    std::vector<ScoredStump> found((n_features + kTogether - 1) / kTogether, none);
    const int threads = n_features * n_classes() * kMaxBins > kUpdatesPerThread ? n_threads_ : 1;
    parallel_ranges(n_features, kTogether, threads, [&](std::size_t begin, std::size_t end) {
        std::vector<Amount> own;
        for (std::size_t i = begin; i < end; ++i) {
            const auto feature = static_cast<FeatureIndex>(i);
            sums_.of_feature(feature, cells.data(), own);
            improve_stump(
                score_,
                {.feature = feature, .bins = matrix_->feature(feature), .weights = own, .n_classes = n_classes()},
                tolerance, found[begin / kTogether]);
        }
    });
    ScoredStump chosen = none;
    for (const ScoredStump& each : found)
        if (each.score > chosen.score + tolerance) chosen = each;
    return chosen.stump;
}

std::vector<double> StumpRounds::sums(const Stump& stump) const {
    require(stump.feature < static_cast<std::int32_t>(matrix_->n_features()), "There is no feature of this number.");
    std::vector<Amount> own;
    sums_.of_feature(static_cast<FeatureIndex>(std::max(stump.feature, 0)), cells_.data(), own);
    std::vector<Amount> sides(2 * n_classes(), 0);
    for (std::size_t i = 0; i < own.size(); ++i) {
        const std::size_t side = stump.feature < 0 ? 0 : stump.right[i / n_classes()];
        sides[side * n_classes() + i % n_classes()] += own[i];
    }
    std::vector<double> sums;
    for (const Amount amount : sides) sums.push_back(static_cast<double>(amount) / unit_);
    return sums;
}

RoundTotals StumpRounds::count(const Stump& stump, const StumpEffect& effect) {
    require(effect.factors.size() == 2 * n_classes() && effect.votes.size() == 2 * n_scores(),
            "A stump needs a factor for each class and a vote for each score, on both sides.");
    const std::vector<double> before = sums(stump);
    const double expected = std::inner_product(before.begin(), before.end(), effect.factors.begin(), 0.0);
    require(expected > 0 && std::isfinite(expected), "The factors of a stump leave no weight, or too much.");
    const bool anew = expected * unit_ < kLeastTotal || expected * unit_ > kMostTotal;
    double halved = 1;  // powers of two leave the ratios of the weights alone
    if (anew) {
        const int exponent = std::ilogb(expected);
        halved = std::ldexp(1.0, -exponent);
        exponent_ += exponent;
        std::fill(cells_.begin(), cells_.end(), 0);
    }
    const double unit = anew ? unit_for(expected * halved) : unit_;
    const Change change{.bins = matrix_->column(static_cast<FeatureIndex>(std::max(stump.feature, 0))),
                        .right = stump.right,
                        .effect = effect,
                        .halved = halved,
                        .unit = unit,
                        .anew = anew};
    const std::size_t n_chunks = n_chunks_of(n_rows());
    std::vector<double> weight(n_chunks), wrong(n_chunks);
    add_chunks(cells_, [&](std::size_t chunk, Batch& batch) {
        const std::size_t begin = chunk * kChunk, end = std::min(n_rows(), begin + kChunk);
        weight[chunk] =
            n_scores() == 1 ? change_two(change, begin, end, batch) : change_many(change, begin, end, batch);
        wrong[chunk] = wrong_weight(begin, end);
    });
    unit_ = unit;
    return {.weight = std::accumulate(weight.begin(), weight.end(), 0.0),
            .exponent = exponent_,
            .wrong_weight = std::accumulate(wrong.begin(), wrong.end(), 0.0)};
}

double StumpRounds::change_two(const Change& change, std::size_t begin, std::size_t end, Batch& batch) {
    // Copies, which no write to a weight can change.
    double factors[4], votes[2];
    for (int i = 0; i < 4; ++i) factors[i] = change.effect.factors[i] * change.halved;
    for (int i = 0; i < 2; ++i) votes[i] = change.effect.votes[i];
    const double unit = change.unit, old_unit = change.anew ? 0 : unit;
    const std::uint8_t* const right = change.right.data();
    const Bin* const bins = change.bins;
    const ClassIndex* const classes = classes_.data();
    double *const weights = weights_.data(), *const scores = scores_.data();
    double totals[4] = {0, 0, 0, 0};  // four sums need not wait for one another
    for (std::size_t row = begin; row < end; ++row) {
        const std::size_t side = right[bins[row]];
        const ClassIndex own = classes[row];
        const double old_weight = weights[row];
        const double new_weight = old_weight * factors[2 * side + own];
        weights[row] = new_weight;
        scores[row] += votes[side];
        totals[row % 4] += new_weight;
        batch.offer(row, own, amount_of(new_weight, unit) - amount_of(old_weight, old_unit));
    }
    return (totals[0] + totals[1]) + (totals[2] + totals[3]);
}

double StumpRounds::change_many(const Change& change, std::size_t begin, std::size_t end, Batch& batch) {
    const std::size_t n = n_classes();
    const double old_unit = change.anew ? 0 : change.unit;
    double total = 0;
    for (std::size_t row = begin; row < end; ++row) {
        const std::size_t side = change.right[change.bins[row]];
        const ClassIndex own = classes_[row];
        const double old_weight = weights_[row];
        const double new_weight = old_weight * (change.effect.factors[side * n + own] * change.halved);
        weights_[row] = new_weight;
        for (std::size_t k = 0; k < n; ++k) scores_[row * n + k] += change.effect.votes[side * n + k];
        total += new_weight;
        batch.offer(row, own, amount_of(new_weight, change.unit) - amount_of(old_weight, old_unit));
    }
    return total;
}

// A tie goes to the first class.
double StumpRounds::wrong_weight(std::size_t begin, std::size_t end) const {
    const std::size_t n = n_scores();
    const auto is_wrong = [&](std::size_t row) {
        const double* const scores = scores_.data() + row * n;
        const std::size_t said =
            n == 1 ? (scores[0] > 0) : static_cast<std::size_t>(std::max_element(scores, scores + n) - scores);
        return said != classes_[row];
    };
    if (first_weights_.empty()) {
        std::size_t n_wrong = 0;
        for (std::size_t row = begin; row < end; ++row) n_wrong += is_wrong(row);
        return static_cast<double>(n_wrong);
    }
    double total = 0;
    for (std::size_t row = begin; row < end; ++row) total += is_wrong(row) ? first_weights_[row] : 0;
    return total;
}

}  // namespace coterie
