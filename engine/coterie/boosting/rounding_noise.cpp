#include "coterie/boosting/rounding_noise.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace coterie {
namespace {

constexpr double kLog2 = 0.6931471805599453;
constexpr double kRarely = 7;  // about one node in a thousand is split by noise

}  // namespace

// The number of digits instead of a logarithm, whose last bit depends on the machine.
RoundingNoise::RoundingNoise(const TreeFacts& facts, std::size_t n_candidates, double freedom)
    : facts_(facts), log_candidates_(kLog2 * std::bit_width(n_candidates) + kRarely), freedom_(freedom) {}

void RoundingNoise::add_scale(const OpenLeaf& leaf) {
    const double hessian = facts_.hessian(leaf.total);
    if (!(hessian > 0)) return;
    const double value = facts_.flat_hessian ? 0 : facts_.gradient(leaf.total) / hessian;
    const double scale = static_cast<double>(leaf.n_rows) * (1 + value * value) / 4 / hessian;
    scales_ += scale;
    squares_ += scale * scale;
    largest_ = std::max(largest_, scale);
}

void RoundingNoise::add(const OpenLeaf& leaf, Cell left_total) {
    add_scale(leaf);
    const double left = facts_.hessian(left_total), right = facts_.hessian(leaf.total - left_total);
    if (!(left > 0 && right > 0)) return;
    const double apart = facts_.gradient(left_total) / left - facts_.gradient(leaf.total - left_total) / right;
    gain_ += apart * apart * (left * right / (left + right));
}

double RoundingNoise::limit() const {
    return freedom_ * scales_ + 2 * std::sqrt(freedom_ * squares_ * log_candidates_) + 2 * largest_ * log_candidates_;
}

}  // namespace coterie
