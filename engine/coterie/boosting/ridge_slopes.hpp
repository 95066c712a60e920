// boosting/ridge_slopes.hpp: the slopes of a leaf's line, from the normal equations of a ridge regression.
#pragma once

#include <vector>

#include "coterie/boosting/options.hpp"

namespace coterie {

/// What a feature adds to a line: slope * (value - centre).
struct LineTerm {
    FeatureIndex feature = 0;
    double slope = 0;
    double centre = 0;
    double least = 0;
    double most = 0;
    double deviation = 0;
    int exponent = 0;  // of values: times 2^-exponent, none is further from zero than 1
};

/// Correlations of the features, and of each with Newton's step, in units of their deviations.
struct LineEquations {
    std::vector<double> correlation;  // square, row by row
    std::vector<double> with_step;
};

/// Solves for the slopes and drops the terms that have none: what the others explain, what a monotone constraint
/// forbids, and slopes that are rounding errors, since rows that are alike would get different predictions. `step` is
/// the size of a typical step.
void set_slopes(std::vector<LineTerm>& terms, const LineEquations& equations, double step, const GrowOptions& options);

}  // namespace coterie
