#include "coterie/split/constrained.hpp"

#include <cmath>
#include <optional>

namespace coterie {
namespace {

enum class OutOfOrder : std::uint8_t { refused, meet };

// What both children gain by their values; nothing if one is too light, or if they are out of order and that is
// refused.
std::optional<double> gain_of_children(Cell left_cell, const SplitTask& task, double l2, int direction,
                                       OutOfOrder out_of_order) {
    const Sums left = task.sums(left_cell);
    const Sums right = task.sums(task.total - left_cell);
    if (task.counted && (left.n < task.min_rows || right.n < task.min_rows)) return {};
    const auto left_h = static_cast<double>(left.hessian);
    const auto right_h = static_cast<double>(right.hessian);
    const auto least = static_cast<double>(task.min_hessian);
    if (!(left_h >= least && right_h >= least)) return {};
    const auto left_g = static_cast<double>(left.gradient);
    const auto right_g = static_cast<double>(right.gradient);
    const auto l1 = static_cast<double>(task.l1);
    double left_value = task.bounds.clip(-shrunk(left_g, l1) / (left_h + l2));
    double right_value = task.bounds.clip(-shrunk(right_g, l1) / (right_h + l2));
    if (direction * (right_value - left_value) < 0) {
        if (out_of_order == OutOfOrder::refused) return {};
        left_value = right_value = (left_value + right_value) / 2;
    }
    return gain_of_value(left_g, left_h + l2, left_value, l1) + gain_of_value(right_g, right_h + l2, right_value, l1);
}

}  // namespace

float gain_within(Cell left_cell, const SplitTask& task, double l2, int direction) {
    const std::optional<double> gain = gain_of_children(left_cell, task, l2, direction, OutOfOrder::refused);
    if (!gain) return -1.0f;
    return *gain < 0 ? 0.0f : static_cast<float>(*gain);
}

float gain_above(float parent, Cell left_cell, const SplitTask& task, double l2, int direction) {
    const std::optional<double> gain = gain_of_children(left_cell, task, l2, direction, OutOfOrder::meet);
    return gain ? static_cast<float>(*gain) - parent : 0.0f;
}

double gain_of_value(double gradient, double hessian_and_l2, double value, double l1) {
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
