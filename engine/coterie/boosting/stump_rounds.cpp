#include "coterie/boosting/stump_rounds.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
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
constexpr double kMinTotal = 0x1p50;
constexpr double kMaxTotal = 0x1p61;
constexpr double kTolerance = 0x1p-40;  // of the total: what rounding may do
// A split must be worth a millionth of the weight, or none is made. With very unequal class weights a first stump
// that is right on a few rows more than the heavy class would otherwise have nearly all votes there are.
constexpr double kWorth = 1e-6;

const char* const kWeights = "Weights must be numbers from 0 to 1e200 with a sum above 1e-200.";

std::size_t n_chunks_of(std::size_t n_rows) { return (n_rows + kChunk - 1) / kChunk; }

Amount amount_of(double weight, double unit) {
    return static_cast<Amount>(static_cast<std::int64_t>(weight * unit + 0.5));
}

double unit_for(double total) { return std::ldexp(1.0, kStartBits - std::ilogb(total)); }

// The largest of all workers' weights; refuses what is no weight.
double largest_weight(std::span<const double> weights, const Slice& slice) {
    const bool fine = std::ranges::all_of(weights, [](double weight) { return weight >= 0 && weight <= 1e200; });
    const double largest = fine && !weights.empty() ? std::ranges::max(weights) : 0.0;
    std::uint64_t most[] = {std::bit_cast<std::uint64_t>(largest), !fine};
    slice.max(most);
    require(most[1] == 0, kWeights);
    return std::bit_cast<double>(most[0]);
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
                         std::size_t n_classes, std::span<const double> weight, StumpScore score, int n_threads,
                         const Slice& slice)
    : matrix_(std::move(matrix)), sums_(*matrix_, n_classes), score_(score), n_threads_(n_threads), slice_(slice) {
    require(n_classes >= 2 && n_classes <= 65'535,
            "The engine takes from 2 to 65,535 classes; there are " + std::to_string(n_classes) + ".");
    require(score != StumpScore::exponential || n_classes == 2, "The exponential score is for two classes.");
    const auto below = [&](std::int32_t own) { return own >= 0 && static_cast<std::size_t>(own) < n_classes; };
    std::uint64_t wrong[] = {classes.size() != n_rows() || (!weight.empty() && weight.size() != n_rows()),
                             !std::ranges::all_of(classes, below)};
    slice_.max(wrong);
    require(wrong[0] == 0, "Classes, weights and the table differ in length.");
    require(wrong[1] == 0, "A class has a number that is not below the number of classes.");
    classes_.assign(classes.begin(), classes.end());
    first_weights_.assign(weight.begin(), weight.end());
    weights_ = weight.empty() ? std::vector<double>(n_rows(), 1.0) : first_weights_;
    scores_.assign(n_rows() * n_scores(), 0.0);
    first_units_ = FixedPoint(largest_weight(weights_, slice_), slice_.sum_of(n_rows()));
    unit_ = unit_for(checked_sum(weights_));
    cells_ = cells_of(weights_, unit_);
}

double StumpRounds::checked_sum(std::span<const double> weights) const {
    const FixedPoint units(largest_weight(weights, slice_), slice_.sum_of(n_rows()));
    std::uint64_t sum = 0;
    for (const double weight : weights) sum += units(weight);
    const double total = units.value_of(slice_.sum_of(sum));
    require(total > 1e-200 && std::isfinite(total), kWeights);
    return total;
}

// Adds what the rows of all workers have to add.
template <class Fill>
void StumpRounds::add_chunks(std::vector<Amount>& all_cells, Fill fill) const {
    const std::size_t updates = n_rows() * matrix_->bundles().size();
    const std::size_t n_chunks = n_chunks_of(n_rows());
    const std::size_t n_parts = std::max<std::size_t>(
        1, std::min({static_cast<std::size_t>(n_threads_), 1 + updates / kUpdatesPerThread, n_chunks}));
    std::vector<std::vector<Amount>> others(n_parts - 1);
    std::vector<Amount> exchanged(slice_.shared() ? all_cells.size() : 0, 0);
    std::vector<Amount>& cells = slice_.shared() ? exchanged : all_cells;
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
    if (!slice_.shared()) return;
    slice_.sum(exchanged);
    for (std::size_t i = 0; i < exchanged.size(); ++i) all_cells[i] += exchanged[i];
}

Amount StumpRounds::total_of(const std::vector<Amount>& cells) const {
    std::vector<Amount> all;
    sums_.of_feature(0, cells.data(), all);
    return std::accumulate(all.begin(), all.end(), Amount{0});
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
    const bool anew = expected * unit_ < kMinTotal || expected * unit_ > kMaxTotal;
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
    std::vector<std::uint64_t> wrong(n_chunks);
    add_chunks(cells_, [&](std::size_t chunk, Batch& batch) {
        const std::size_t begin = chunk * kChunk, end = std::min(n_rows(), begin + kChunk);
        if (n_scores() == 1)
            change_two(change, begin, end, batch);
        else
            change_many(change, begin, end, batch);
        wrong[chunk] = wrong_weight(begin, end);
    });
    unit_ = unit;
    const std::uint64_t all_wrong = slice_.sum_of(std::accumulate(wrong.begin(), wrong.end(), std::uint64_t{0}));
    return {.weight = static_cast<double>(total_of(cells_)) / unit_,
            .exponent = exponent_,
            .wrong_weight = first_units_.value_of(all_wrong)};
}

void StumpRounds::change_two(const Change& change, std::size_t begin, std::size_t end, Batch& batch) {
    // Copies, which no write to a weight can change.
    double factors[4], votes[2];
    for (int i = 0; i < 4; ++i) factors[i] = change.effect.factors[i] * change.halved;
    for (int i = 0; i < 2; ++i) votes[i] = change.effect.votes[i];
    const double unit = change.unit, old_unit = change.anew ? 0 : unit;
    const std::uint8_t* const right = change.right.data();
    const Bin* const bins = change.bins;
    const ClassIndex* const classes = classes_.data();
    double *const weights = weights_.data(), *const scores = scores_.data();
    for (std::size_t row = begin; row < end; ++row) {
        const std::size_t side = right[bins[row]];
        const ClassIndex own = classes[row];
        const double old_weight = weights[row];
        const double new_weight = old_weight * factors[2 * side + own];
        weights[row] = new_weight;
        scores[row] += votes[side];
        batch.offer(row, own, amount_of(new_weight, unit) - amount_of(old_weight, old_unit));
    }
}

void StumpRounds::change_many(const Change& change, std::size_t begin, std::size_t end, Batch& batch) {
    const std::size_t n = n_classes();
    const double old_unit = change.anew ? 0 : change.unit;
    for (std::size_t row = begin; row < end; ++row) {
        const std::size_t side = change.right[change.bins[row]];
        const ClassIndex own = classes_[row];
        const double old_weight = weights_[row];
        const double new_weight = old_weight * (change.effect.factors[side * n + own] * change.halved);
        weights_[row] = new_weight;
        for (std::size_t k = 0; k < n; ++k) scores_[row * n + k] += change.effect.votes[side * n + k];
        batch.offer(row, own, amount_of(new_weight, change.unit) - amount_of(old_weight, old_unit));
    }
}

// A tie goes to the first class.
std::uint64_t StumpRounds::wrong_weight(std::size_t begin, std::size_t end) const {
    const std::size_t n = n_scores();
    const auto is_wrong = [&](std::size_t row) {
        const double* const scores = scores_.data() + row * n;
        const std::size_t predicted =
            n == 1 ? (scores[0] > 0) : static_cast<std::size_t>(std::max_element(scores, scores + n) - scores);
        return predicted != classes_[row];
    };
    if (first_weights_.empty()) {
        std::uint64_t n_wrong = 0;
        for (std::size_t row = begin; row < end; ++row) n_wrong += is_wrong(row);
        return n_wrong * first_units_(1.0);
    }
    std::uint64_t total = 0;
    for (std::size_t row = begin; row < end; ++row) total += is_wrong(row) ? first_units_(first_weights_[row]) : 0;
    return total;
}

}  // namespace coterie
