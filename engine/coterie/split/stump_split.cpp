#include "coterie/split/stump_split.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace coterie {
namespace {

using Weights = std::span<const std::uint64_t>;

struct ErrorScore {
    static double of(Weights weights) { return static_cast<double>(*std::max_element(weights.begin(), weights.end())); }
};

struct GiniScore {
    static double of(Weights weights) {
        double total = 0, squares = 0;
        for (const std::uint64_t each : weights) {
            const auto weight = static_cast<double>(each);
            total += weight;
            squares += weight * weight;
        }
        return total > 0 ? squares / total : 0;
    }
};

// A side that predicts half its log odds has the loss first / odds + second * odds, odds = sqrt(p / (1 - p)).
struct ExponentialScore {
    static double of(Weights weights) {
        const auto first = static_cast<double>(weights[0]), second = static_cast<double>(weights[1]);
        const double total = first + second;
        if (total == 0) return 0;
        const double odds = std::sqrt(share(first, total) / share(second, total));
        return -(first / odds + second * odds);
    }

    static double share(double weight, double total) { return std::max(weight / total, kMinShare); }
};

// Bins move from right to left one after the other, and each time the two sides are scored.
template <class Score>
class Scan {
public:
    Scan(const StumpCells& cells, double tolerance, ScoredStump& best)
        : cells_(cells),
          n_(cells.n_classes),
          tolerance_(tolerance),
          best_(best),
          left_(n_),
          right_(n_),
          total_(n_),
          missing_(cells.weights.first(n_)) {
        for (std::size_t bin = 0; bin < n_bins(); ++bin)
            for (std::size_t k = 0; k < n_; ++k) total_[k] += weight(bin, k);
    }

    void numeric() {
        if (n_bins() < 2) return;
        if (weight_of(missing_) == 0) return numeric_with(false);
        numeric_with(true);
        numeric_with(false);
    }

    void nominal_by_error() {
        for (std::size_t a = 0; a < n_; ++a)
            for (std::size_t b = a + 1; b < n_; ++b) {
                double score = 0;
                for (std::size_t bin = 0; bin < n_bins(); ++bin)
                    score += static_cast<double>(std::max(weight(bin, a), weight(bin, b)));
                if (!better(score)) continue;
                Stump& stump = accept(score);
                for (std::size_t bin = 0; bin < n_bins(); ++bin) stump.right[bin] = weight(bin, b) > weight(bin, a);
                assign_empty_bins(stump);
            }
    }

    void nominal_by_order() {
        std::vector<std::size_t> order;
        std::vector<double> key(n_bins());
        for (std::size_t k = n_ == 2 ? 1 : 0; k < n_; ++k) {
            order.clear();
            for (std::size_t bin = 0; bin < n_bins(); ++bin) {
                const std::uint64_t total = weight_of(cells_.weights.subspan(bin * n_, n_));
                if (total == 0) continue;
                key[bin] = static_cast<double>(weight(bin, k)) / static_cast<double>(total);
                order.push_back(bin);
            }
            std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return key[a] < key[b]; });
            start(false);
            for (std::size_t position = 0; position + 1 < order.size(); ++position) {
                move_left(order[position]);
                const double score = sides();
                if (!better(score)) continue;
                Stump& stump = accept(score);
                for (std::size_t later = position + 1; later < order.size(); ++later) stump.right[order[later]] = 1;
                assign_empty_bins(stump);
            }
        }
    }

private:
    std::size_t n_bins() const { return static_cast<std::size_t>(cells_.bins.n_bins); }
    std::uint64_t weight(std::size_t bin, std::size_t k) const { return cells_.weights[bin * n_ + k]; }
    bool better(double score) const { return score > best_.score + tolerance_; }
    double sides() const { return Score::of(left_) + Score::of(right_); }

    static std::uint64_t weight_of(Weights weights) {
        std::uint64_t total = 0;
        for (const std::uint64_t each : weights) total += each;
        return total;
    }

    void start(bool missing_left) {
        std::fill(left_.begin(), left_.end(), 0);
        right_ = total_;
        if (missing_left) move_left(kMissingBin);
    }

    void move_left(std::size_t bin) {
        for (std::size_t k = 0; k < n_; ++k) {
            left_[k] += weight(bin, k);
            right_[k] -= weight(bin, k);
        }
    }

    // The last cut has every value on the left, and only missing ones on the right.
    void numeric_with(bool missing_left) {
        start(missing_left);
        const std::size_t n_cuts = missing_left || weight_of(missing_) == 0 ? n_bins() - 1 : n_bins();
        for (std::size_t bin = 1; bin < n_cuts; ++bin) {
            move_left(bin);
            const double score = sides();
            if (!better(score)) continue;
            Stump& stump = accept(score);
            for (std::size_t later = bin + 1; later < n_bins(); ++later) stump.right[later] = 1;
            stump.right[kMissingBin] = weight_of(missing_) > 0 ? !missing_left : weight_of(right_) > weight_of(left_);
        }
    }

    Stump& accept(double score) {
        best_.score = score;
        best_.stump.feature = static_cast<std::int32_t>(cells_.feature);
        best_.stump.right.fill(0);
        return best_.stump;
    }

    void assign_empty_bins(Stump& stump) const {
        std::uint64_t side[2] = {0, 0};
        for (std::size_t bin = 0; bin < n_bins(); ++bin)
            side[stump.right[bin]] += weight_of(cells_.weights.subspan(bin * n_, n_));
        for (std::size_t bin = 0; bin < n_bins(); ++bin)
            if (weight_of(cells_.weights.subspan(bin * n_, n_)) == 0) stump.right[bin] = side[1] > side[0];
    }

    const StumpCells& cells_;
    std::size_t n_;
    double tolerance_;
    ScoredStump& best_;
    std::vector<std::uint64_t> left_, right_, total_;
    Weights missing_;
};

template <class Score>
void improve(const StumpCells& cells, double tolerance, ScoredStump& best) {
    Scan<Score> scan(cells, tolerance, best);
    if (!cells.bins.nominal)
        scan.numeric();
    else if constexpr (std::is_same_v<Score, ErrorScore>)
        scan.nominal_by_error();
    else
        scan.nominal_by_order();
}

}  // namespace

double side_score(StumpScore score, Weights weights) {
    switch (score) {
        case StumpScore::error: return ErrorScore::of(weights);
        case StumpScore::gini: return GiniScore::of(weights);
        case StumpScore::exponential: return ExponentialScore::of(weights);
    }
    return 0;
}

void improve_stump(StumpScore score, const StumpCells& cells, double tolerance, ScoredStump& best) {
    switch (score) {
        case StumpScore::error: return improve<ErrorScore>(cells, tolerance, best);
        case StumpScore::gini: return improve<GiniScore>(cells, tolerance, best);
        case StumpScore::exponential: return improve<ExponentialScore>(cells, tolerance, best);
    }
}

}  // namespace coterie
