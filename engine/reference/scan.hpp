// reference/scan.hpp: what the best threshold of one numeric feature means. Used by tests only.
//
// Every threshold is tried with the missing rows on the right, then, if there are any, on the left. The first of
// the best wins. Sums are wide integers; only the gain is computed in floats, as the kernels' contract says.
#pragma once

#include "coterie/kernels/kernels.hpp"
#include "reference/histogram.hpp"

namespace coterie::reference {

inline float slow_gain(const BinStats& left, const BinStats& right, const ScanTask& task) {
    if (task.counted && (left.n < task.min_rows || right.n < task.min_rows)) return -1.0f;
    const auto left_h = static_cast<float>(left.hessian);
    const auto right_h = static_cast<float>(right.hessian);
    if (left_h < task.min_hessian || right_h < task.min_hessian) return -1.0f;
    const auto left_g = static_cast<float>(left.gradient);
    const auto right_g = static_cast<float>(right.gradient);
    const float left_d = left_h + task.l2;
    const float right_d = right_h + task.l2;
    return (left_g * left_g * right_d + right_g * right_g * left_d) / (left_d * right_d);
}

inline ScanResult slow_scan(std::span<const BinStats> bins, const ScanTask& task) {
    BinStats total;
    for (const BinStats& bin : bins)
        total = {total.gradient + bin.gradient, total.hessian + bin.hessian, total.n + bin.n};
    ScanResult best{.gain = task.beat, .last = 0, .missing_left = false};
    for (const bool missing_left : {false, true}) {
        if (missing_left && bins[0] == BinStats{}) break;
        BinStats left = missing_left ? bins[0] : BinStats{};
        for (std::size_t bin = 1; bin < bins.size(); ++bin) {
            left = {left.gradient + bins[bin].gradient, left.hessian + bins[bin].hessian, left.n + bins[bin].n};
            const BinStats right{total.gradient - left.gradient, total.hessian - left.hessian, total.n - left.n};
            const float gain = slow_gain(left, right, task);
            if (gain > best.gain) best = {gain, static_cast<Bin>(bin), missing_left};
        }
    }
    return best;
}

}  // namespace coterie::reference
