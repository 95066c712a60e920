// kernels/avx512/split_scan.cpp: sixteen bins a step.
#include "coterie/kernels/split_scan.hpp"

#if defined(COTERIE_HAS_AVX2)

#include <immintrin.h>

#include <bit>

namespace coterie::avx512 {
namespace {

// The low or high halves of sixteen cells as 32-bit lanes, for cells 0 1 4 5 8 9 12 13 and 2 3 6 7 10 11 14 15.
__m512i low_halves(__m512i first, __m512i second) {
    return _mm512_castps_si512(_mm512_shuffle_ps(_mm512_castsi512_ps(first), _mm512_castsi512_ps(second), 0x88));
}
__m512i high_halves(__m512i first, __m512i second) {
    return _mm512_castps_si512(_mm512_shuffle_ps(_mm512_castsi512_ps(first), _mm512_castsi512_ps(second), 0xDD));
}

// What is on the left after each of sixteen bins, in the order that the halves take.
struct SixteenLefts {
    __m512i first;
    __m512i second;
};

__m512i with_one_before(__m512i cells) { return _mm512_add_epi64(cells, _mm512_bslli_epi128(cells, 8)); }

// Pairs first, then fours, then the four fours; from one step to the next there is one addition.
SixteenLefts next_lefts(__m512i cells, __m512i more, __m512i& carry) {
    const __m512i first = with_one_before(_mm512_shuffle_i64x2(cells, more, 0x88));
    const __m512i second =
        _mm512_add_epi64(with_one_before(_mm512_shuffle_i64x2(cells, more, 0xDD)), _mm512_unpackhi_epi64(first, first));
    const __m512i fours = _mm512_unpackhi_epi64(second, second);
    const __m512i one_before = _mm512_maskz_shuffle_i64x2(0xFC, fours, fours, 0x90);    // - 0 1 2
    const __m512i two_before = _mm512_maskz_shuffle_i64x2(0xF0, fours, fours, 0x40);    // - - 0 1
    const __m512i three_before = _mm512_maskz_shuffle_i64x2(0xC0, fours, fours, 0x00);  // - - - 0
    const __m512i inside = _mm512_add_epi64(one_before, _mm512_add_epi64(two_before, three_before));
    const __m512i before = _mm512_add_epi64(carry, inside);
    const __m512i all = _mm512_add_epi64(inside, fours);
    carry = _mm512_add_epi64(carry, _mm512_shuffle_i64x2(all, all, 0xFF));
    return {_mm512_add_epi64(first, before), _mm512_add_epi64(second, before)};
}

// One side of sixteen splits, in whole numbers; rows are counted only when they matter.
struct SixteenSums {
    __m512i gradient;
    __m512i hessian;
};

template <bool Counted>
SixteenSums sixteen_sums(__m512i first, __m512i second) {
    const __m512i high = high_halves(first, second);
    if constexpr (!Counted) return {high, low_halves(first, second)};
    const __m512i middle = low_halves(_mm512_srli_epi64(first, 16), _mm512_srli_epi64(second, 16));
    return {_mm512_srai_epi32(high, 6), _mm512_and_si512(middle, _mm512_set1_epi32(0x3fffff))};
}

__m512i counts(__m512i first, __m512i second) {
    return _mm512_and_si512(low_halves(first, second), _mm512_set1_epi32(0xffff));
}

// A little below the best gain, so that no better split is overlooked when its division is spared.
__m512 just_below(float gain) { return _mm512_set1_ps(gain > 0 ? gain * 0.999999f : gain); }

template <bool Counted>
bool too_light(Cell side, const ScanTask& task) {
    const Sums sums = sums_of(side, Counted);
    return Counted ? sums.n < task.min_rows : static_cast<float>(sums.hessian) < task.min_hessian;
}

// Bins behind the last are read as empty where they are in a vector of their own: they may be another feature's.
__m512i eight_cells(const Cell* cells, int bin, int n_bins) {
    return bin < n_bins ? _mm512_loadu_si512(cells + bin) : _mm512_setzero_si512();
}

// One pass over the bins with `start` on the left before the first; keeps what gains more than best.gain. Most steps
// have nothing of interest, so what only matters for the others is done last.
template <bool Counted>
void scan_from(Cell start, const Cell* cells, int n_bins, const ScanTask& task, bool missing_left, ScanResult& best) {
    const __m512i total = _mm512_set1_epi64(static_cast<std::int64_t>(task.total));
    const SixteenSums totals = sixteen_sums<Counted>(total, total);
    const __m512 l2 = _mm512_set1_ps(task.l2);
    const __m512 least = _mm512_set1_ps(task.min_hessian);
    __m512i carry = _mm512_set1_epi64(static_cast<std::int64_t>(start - cells[0]));
    __m512 limit = just_below(best.gain);
    Cell left_before = start;  // on the left before the step's first value bin
    for (int bin = 0; bin < n_bins; bin += 16) {
        const auto [first, second] =
            next_lefts(_mm512_loadu_si512(cells + bin), eight_cells(cells, bin + 8, n_bins), carry);
        // The left side only grows: skip bins while it is too light, stop once the right side is.
        if (too_light<Counted>(task.total - left_before, task)) break;
        left_before = static_cast<Cell>(_mm_cvtsi128_si64(_mm512_castsi512_si128(carry)));
        if (too_light<Counted>(left_before, task)) continue;
        const SixteenSums left = sixteen_sums<Counted>(first, second);
        const __m512 left_gradient = _mm512_cvtepi32_ps(left.gradient);
        const __m512 right_gradient = _mm512_cvtepi32_ps(_mm512_sub_epi32(totals.gradient, left.gradient));
        const __m512 left_hessian = _mm512_cvtepi32_ps(left.hessian);
        const __m512 right_hessian = _mm512_cvtepi32_ps(_mm512_sub_epi32(totals.hessian, left.hessian));
        const __m512 left_d = _mm512_add_ps(left_hessian, l2);
        const __m512 right_d = _mm512_add_ps(right_hessian, l2);
        const __m512 above = _mm512_add_ps(_mm512_mul_ps(_mm512_mul_ps(left_gradient, left_gradient), right_d),
                                           _mm512_mul_ps(_mm512_mul_ps(right_gradient, right_gradient), left_d));
        const __m512 below = _mm512_mul_ps(left_d, right_d);
        const __mmask16 looked_at = _mm512_cmp_ps_mask(above, _mm512_mul_ps(limit, below), _CMP_GT_OQ);
        if (_mm512_kortestz(looked_at, looked_at)) continue;
        __mmask16 valid = _mm512_mask_cmp_ps_mask(_mm512_cmp_ps_mask(left_hessian, least, _CMP_GE_OQ), right_hessian,
                                                  least, _CMP_GE_OQ);
        if constexpr (Counted) {
            const __m512i min_rows = _mm512_set1_epi32(static_cast<std::int32_t>(task.min_rows));
            const __m512i n_left = counts(first, second);
            const __m512i n_right = _mm512_sub_epi32(counts(total, total), n_left);
            valid =
                _mm512_mask_cmpge_epi32_mask(_mm512_mask_cmpge_epi32_mask(valid, n_left, min_rows), n_right, min_rows);
        }
        const __m512 gain = _mm512_mask_div_ps(_mm512_set1_ps(-1.0f), valid, above, below);
        if (_mm512_cmp_ps_mask(gain, _mm512_set1_ps(best.gain), _CMP_GT_OQ) == 0) continue;
        const float most = _mm512_reduce_max_ps(gain);
        // Among equal gains the lowest bin.
        const auto winners = static_cast<std::uint32_t>(_mm512_cmp_ps_mask(gain, _mm512_set1_ps(most), _CMP_EQ_OQ));
        best = {.gain = most, .last = static_cast<Bin>(bin + std::countr_zero(winners)), .missing_left = missing_left};
        limit = just_below(best.gain);
    }
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

void subtract(Cell* from, const Cell* subtrahend, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) from[i] -= subtrahend[i];
}

}  // namespace

SplitKernels split_kernels() {
    SplitKernels all = avx2::split_kernels();
    all.scan = scan;
    all.subtract = subtract;
    return all;
}

}  // namespace coterie::avx512

#endif
