#include "coterie/split/constrained.hpp"

#include <cmath>

namespace coterie {
float gain_within(Cell left_cell, const SplitTask& task, double l2, int direction) {
    const Sums left = task.sums(left_cell);
    const Sums right = task.sums(task.total - left_cell);
    if (task.counted && (left.n < task.min_rows || right.n < task.min_rows)) return -1.0f;
    const auto left_h = static_cast<double>(left.hessian);
    const auto right_h = static_cast<double>(right.hessian);
    const auto least = static_cast<double>(task.min_hessian);
    if (!(left_h >= least && right_h >= least)) return -1.0f;
    const auto left_g = static_cast<double>(left.gradient);
    const auto right_g = static_cast<double>(right.gradient);
    const auto l1 = static_cast<double>(task.l1);
    const double left_answer = task.bounds.clip(-shrunk(left_g, l1) / (left_h + l2));
    const double right_answer = task.bounds.clip(-shrunk(right_g, l1) / (right_h + l2));
    if (direction * (right_answer - left_answer) < 0) return -1.0f;
    const double gain =
        gain_of_answer(left_g, left_h + l2, left_answer, l1) + gain_of_answer(right_g, right_h + l2, right_answer, l1);
    return gain < 0 ? 0.0f : static_cast<float>(gain);
}

double gain_of_answer(double gradient, double hessian_and_l2, double value, double l1) {
    return -(2 * gradient * value + hessian_and_l2 * value * value + 2 * l1 * std::abs(value));
}

Candidate best_threshold_within(const Cell* cells, int n_bins, const SplitTask& task, int direction,
                                const RowCounts& rows) {
    Candidate best;
    const bool limited = task.limited(direction);
    const ScanTask scan = task.scan();
    for (int pass = 0; pass < (cells[0] != 0 ? 2 : 1); ++pass) {
        Cell left = pass == 1 ? cells[0] : 0;
        std::uint32_t n_left = pass == 1 && !rows.counts.empty() ? rows.counts[0] : 0;
        for (int bin = 1; bin < n_bins; ++bin) {
            left += cells[bin];
            if (!rows.counts.empty()) {
                n_left += rows.counts[static_cast<std::size_t>(bin)];
                if (n_left < rows.least || task.n_rows - n_left < rows.least) continue;
            }
            const float gain =
                limited ? gain_within(left, task, static_cast<double>(task.l2), direction) : gain_of_split(left, scan);
            if (gain > best.gain) {
                best.gain = gain;
                best.last = static_cast<Bin>(bin);
                best.missing_left = pass == 1;
            }
        }
    }
    return best;
}

}  // namespace coterie
