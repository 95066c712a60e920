// kernels/neon/split_scan.cpp: eight bins a step, in two vectors of four. Unlike generic/, sums on the left stay in
// registers from the cells to the gains.
#include "coterie/kernels/split_scan.hpp"

#if defined(COTERIE_HAS_NEON)

#include <arm_neon.h>

namespace coterie::neon {
namespace {

constexpr int kStep = 8;   // bins
constexpr int kLanes = 4;  // of a vector of sums

// One side of four splits, in whole numbers.
struct FourSums {
    int32x4_t gradient;
    int32x4_t hessian;
    int32x4_t n;
};

template <bool Counted>
FourSums four_sums(uint64x2_t first, uint64x2_t second) {
    const int32x4_t low = vuzp1q_s32(vreinterpretq_s32_u64(first), vreinterpretq_s32_u64(second));
    const int32x4_t high = vuzp2q_s32(vreinterpretq_s32_u64(first), vreinterpretq_s32_u64(second));
    if constexpr (!Counted) return {high, low, vdupq_n_s32(0)};
    const int32x4_t middle = vreinterpretq_s32_u32(vcombine_u32(vshrn_n_u64(first, 16), vshrn_n_u64(second, 16)));
    return {vshrq_n_s32(high, 6), vandq_s32(middle, vdupq_n_s32(0x3fffff)), vandq_s32(low, vdupq_n_s32(0xffff))};
}

// What is on the left after each of eight bins, two in a vector.
struct EightLefts {
    uint64x2_t twos[kStep / 2];
};

// The carry is what is on the left before the bins, in both lanes; then, what is before the next ones.
EightLefts next_lefts(const Cell* cells, uint64x2_t& carry) {
    EightLefts lefts;
    for (int k = 0; k < kStep / 2; ++k) {
        const uint64x2_t two = vld1q_u64(cells + 2 * k);
        const uint64x2_t with_one_before = vaddq_u64(two, vextq_u64(vdupq_n_u64(0), two, 1));
        lefts.twos[k] = vaddq_u64(with_one_before, carry);
        carry = vaddq_u64(carry, vdupq_laneq_u64(with_one_before, 1));
    }
    return lefts;
}

// The gains of four splits are above / below, where they are valid.
struct FourGains {
    float32x4_t above;
    float32x4_t below;
};

template <bool Counted>
class FourSplits {
public:
    explicit FourSplits(const ScanTask& task)
        : total_(four_sums<Counted>(vdupq_n_u64(task.total), vdupq_n_u64(task.total))),
          l2_(vdupq_n_f32(task.l2)),
          min_hessian_(vdupq_n_f32(task.min_hessian)),
          min_rows_(vdupq_n_s32(static_cast<std::int32_t>(task.min_rows))) {}

    FourGains gains(const FourSums& left) const {
        const float32x4_t left_g = vcvtq_f32_s32(left.gradient);
        const float32x4_t right_g = vcvtq_f32_s32(vsubq_s32(total_.gradient, left.gradient));
        const float32x4_t left_d = vaddq_f32(vcvtq_f32_s32(left.hessian), l2_);
        const float32x4_t right_d = vaddq_f32(vcvtq_f32_s32(vsubq_s32(total_.hessian, left.hessian)), l2_);
        const float32x4_t above =
            vaddq_f32(vmulq_f32(vmulq_f32(left_g, left_g), right_d), vmulq_f32(vmulq_f32(right_g, right_g), left_d));
        return {above, vmulq_f32(left_d, right_d)};
    }

    /// Which of the splits leave enough on both sides.
    uint32x4_t valid(const FourSums& left) const {
        const float32x4_t left_h = vcvtq_f32_s32(left.hessian);
        const float32x4_t right_h = vcvtq_f32_s32(vsubq_s32(total_.hessian, left.hessian));
        const uint32x4_t heavy = vandq_u32(vcgeq_f32(left_h, min_hessian_), vcgeq_f32(right_h, min_hessian_));
        if constexpr (!Counted) return heavy;
        const uint32x4_t enough =
            vandq_u32(vcgeq_s32(left.n, min_rows_), vcgeq_s32(vsubq_s32(total_.n, left.n), min_rows_));
        return vandq_u32(heavy, enough);
    }

private:
    FourSums total_;
    float32x4_t l2_;
    float32x4_t min_hessian_;
    int32x4_t min_rows_;
};

template <bool Counted>
bool too_light(Cell side, const ScanTask& task) {
    const Sums sums = sums_of(side, Counted);
    return Counted ? sums.n < task.min_rows : static_cast<float>(sums.hessian) < task.min_hessian;
}

// Calls take(first bin, sums on the left of the first four and of the last four) for steps of eight bins, with `start`
// on the left before the first value bin. The left side only grows: steps are passed over while it is too light, and
// the last is the one before which the right side is.
template <bool Counted, class Take>
void for_sums(Cell start, const Cell* cells, int n_bins, const ScanTask& task, Take take) {
    uint64x2_t carry = vdupq_n_u64(start - cells[0]);
    Cell left_before = start;
    for (int bin = 0; bin < n_bins && !too_light<Counted>(task.total - left_before, task); bin += kStep) {
        const EightLefts lefts = next_lefts(cells + bin, carry);
        left_before = vgetq_lane_u64(carry, 0);
        if (too_light<Counted>(left_before, task)) continue;
        take(bin, four_sums<Counted>(lefts.twos[0], lefts.twos[1]), four_sums<Counted>(lefts.twos[2], lefts.twos[3]));
    }
}

// A little below the best gain, so that no better split is overlooked when its division is spared.
float32x4_t just_below(float gain) { return vdupq_n_f32(gain > 0 ? gain * 0.999999f : gain); }

template <bool Counted>
void scan_from(Cell start, const Cell* cells, int n_bins, const ScanTask& task, bool missing_left, ScanResult& best) {
    const FourSplits<Counted> splits(task);
    float32x4_t limit = just_below(best.gain);
    for_sums<Counted>(start, cells, n_bins, task, [&](int bin, const FourSums& first, const FourSums& last) {
        const FourGains low = splits.gains(first);
        const FourGains high = splits.gains(last);
        const uint32x4_t near = vorrq_u32(vcgtq_f32(low.above, vmulq_f32(limit, low.below)),
                                          vcgtq_f32(high.above, vmulq_f32(limit, high.below)));
        if (vmaxvq_u32(near) == 0) return;
        const float32x4_t never = vdupq_n_f32(-1.0f);
        float gains[kStep];
        vst1q_f32(gains, vbslq_f32(splits.valid(first), vdivq_f32(low.above, low.below), never));
        vst1q_f32(gains + kLanes, vbslq_f32(splits.valid(last), vdivq_f32(high.above, high.below), never));
        for (int j = 0; j < kStep; ++j)
            if (gains[j] > best.gain)
                best = {.gain = gains[j], .last = static_cast<Bin>(bin + j), .missing_left = missing_left};
        limit = just_below(best.gain);
    });
}

template <bool Counted>
ScanResult scan_cells(const Cell* cells, int n_bins, const ScanTask& task) {
    ScanResult best{.gain = task.beat, .last = 0, .missing_left = false};
    scan_from<Counted>(0, cells, n_bins, task, false, best);
    // Bin 0 of this pass sends the missing rows alone to the left: the mirror of a split already seen.
    if (cells[0] != 0) scan_from<Counted>(cells[0], cells, n_bins, task, true, best);
    return best;
}

ScanResult scan(const Cell* cells, int n_bins, const ScanTask& task) {
    return task.counted ? scan_cells<true>(cells, n_bins, task) : scan_cells<false>(cells, n_bins, task);
}

template <bool Counted>
void add_gains_from(Cell start, const Cell* cells, int n_bins, const ScanTask& task, float parent, float* sums) {
    const FourSplits<Counted> splits(task);
    const float32x4_t gain_of_parent = vdupq_n_f32(parent);
    const auto add = [&](const FourSums& left, float* out) {
        const FourGains gains = splits.gains(left);
        const float32x4_t gain = vsubq_f32(vdivq_f32(gains.above, gains.below), gain_of_parent);
        const uint32x4_t added = vandq_u32(vreinterpretq_u32_f32(gain), splits.valid(left));
        vst1q_f32(out, vaddq_f32(vld1q_f32(out), vreinterpretq_f32_u32(added)));
    };
    for_sums<Counted>(start, cells, n_bins, task, [&](int bin, const FourSums& first, const FourSums& last) {
        add(first, sums + bin);
        add(last, sums + bin + kLanes);
    });
}

void add_gains(const Cell* cells, int n_bins, const ScanTask& task, float parent, bool missing_left, float* sums) {
    const Cell start = missing_left ? cells[0] : 0;
    if (task.counted)
        add_gains_from<true>(start, cells, n_bins, task, parent, sums);
    else
        add_gains_from<false>(start, cells, n_bins, task, parent, sums);
}

}  // namespace

SplitKernels split_kernels() {
    SplitKernels all = generic::split_kernels();
    all.scan = scan;
    all.add_gains = add_gains;
    return all;
}

}  // namespace coterie::neon

#endif
