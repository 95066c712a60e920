#include "coterie/boosting/ridge_slopes.hpp"

#include <cmath>

namespace coterie {
namespace {

constexpr double kLeastUnexplained = 1e-9;  // share of a feature's variance that the others must leave
constexpr double kLeastRise = 1e-6;         // in sizes of a step; float32 derivatives say no more

// Cholesky's way, for the features in `used`, which loses those that the ones before them explain.
std::vector<double> solution_of(const LineEquations& equations, double l2, std::vector<std::size_t>& used) {
    const std::size_t n = equations.with_step.size();
    std::vector<std::vector<double>> lower;
    std::vector<double> half;
    std::vector<std::size_t> kept;
    for (const std::size_t i : used) {
        std::vector<double> row;
        double pivot = equations.correlation[i * n + i] + l2;
        double rest = equations.with_step[i];
        for (std::size_t k = 0; k < kept.size(); ++k) {
            double value = equations.correlation[i * n + kept[k]];
            for (std::size_t m = 0; m < k; ++m) value -= row[m] * lower[k][m];
            row.push_back(value / lower[k][k]);
            pivot -= row[k] * row[k];
            rest -= row[k] * half[k];
        }
        if (!(pivot > kLeastUnexplained)) continue;
        row.push_back(std::sqrt(pivot));
        half.push_back(rest / row.back());
        lower.push_back(std::move(row));
        kept.push_back(i);
    }
    std::vector<double> solution(kept.size());
    for (std::size_t i = kept.size(); i-- > 0;) {
        double rest = half[i];
        for (std::size_t k = i + 1; k < kept.size(); ++k) rest -= lower[k][i] * solution[k];
        solution[i] = rest / lower[i][i];
    }
    used = std::move(kept);
    return solution;
}

}  // namespace

void set_slopes(std::vector<LineTerm>& terms, const LineEquations& equations, double step, const GrowOptions& options) {
    const auto forbidden = [&](std::size_t k, double slope) {
        return !options.monotone.empty() && options.monotone[terms[k].feature] * slope < 0;
    };
    std::vector<std::size_t> used(terms.size());
    for (std::size_t k = 0; k < used.size(); ++k) used[k] = k;
    for (bool solved = false; !solved;) {
        const std::vector<double> solution = solution_of(equations, options.linear_l2, used);
        std::vector<std::size_t> allowed;
        for (std::size_t k = 0; k < used.size(); ++k)
            if (!forbidden(used[k], solution[k])) allowed.push_back(used[k]);
        solved = allowed.size() == used.size();
        for (std::size_t k = 0; solved && k < used.size(); ++k)
            terms[used[k]].slope = solution[k] / terms[used[k]].deviation;
        used = std::move(allowed);
    }
    std::erase_if(terms, [&](const LineTerm& term) {
        return !(std::abs(term.slope) * (term.most - term.least) > kLeastRise * step);
    });
}

}  // namespace coterie
