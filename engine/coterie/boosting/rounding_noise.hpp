// boosting/rounding_noise.hpp: whether a split tells more than the rounding of derivatives can.
//
// Rounding at random adds noise of variance at most 1/4 to a rounded gradient, and as much to a rounded hessian. A node
// of value v then differs from its parent's by noise of variance (1 + v^2) / 4 a row, so a split that separates nothing
// gains s * chi-square with one degree of freedom, s = rows * (1 + v^2) / 4 / hessian in rounded units. The best of all
// candidates is rarely above s * (d + 2 sqrt(d t) + 2 t), t = log(candidates) + 7 (Laurent and Massart, 2000, lemma 1);
// d is 1 for a threshold, and the number of levels less one for a set of them, which are sorted by the noise.
// A real gradient is thousands of units large, so only what is next to nothing is below that.
#pragma once

#include "coterie/boosting/open_leaf.hpp"

namespace coterie {

/// Sums up what the leaves that share a split gain, and what they could gain by rounding alone.
class RoundingNoise {
public:
    /// `n_candidates`: splits that are compared; `freedom`: degrees of freedom of the one that was chosen.
    RoundingNoise(const TreeFacts& facts, std::size_t n_candidates, double freedom);

    /// What the leaf gains by sending these sums left, apart from any regularisation.
    void add(const OpenLeaf& leaf, Cell left_total);

    /// The most that rounding alone would gain, in rounded units.
    double limit() const;

    /// The gain cannot be explained by rounding.
    bool exceeded() const { return gain_ > limit(); }

    /// What a leaf adds to the limit.
    void add_scale(const OpenLeaf& leaf);

private:
    const TreeFacts& facts_;
    double log_candidates_;
    double freedom_;
    double gain_ = 0;
    double scales_ = 0;
    double squares_ = 0;
    double largest_ = 0;
};

}  // namespace coterie
