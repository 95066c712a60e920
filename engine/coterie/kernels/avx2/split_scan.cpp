// kernels/avx2/split_scan.cpp: eight bins a step.
#include "coterie/kernels/split_scan.hpp"

#if defined(COTERIE_HAS_AVX2)

#include <immintrin.h>

namespace coterie::avx2 {
namespace {

// The low or high halves of eight cells as 32-bit lanes.
__m256i low_halves(__m256i first, __m256i second) {
    return _mm256_castps_si256(_mm256_shuffle_ps(_mm256_castsi256_ps(first), _mm256_castsi256_ps(second), 0x88));
}
__m256i high_halves(__m256i first, __m256i second) {
    return _mm256_castps_si256(_mm256_shuffle_ps(_mm256_castsi256_ps(first), _mm256_castsi256_ps(second), 0xDD));
}

// One side of eight splits, in whole numbers.
struct EightSums {
    __m256i gradient;
    __m256i hessian;
    __m256i n;
};

template <bool Counted>
EightSums eight_sums(__m256i first, __m256i second) {
    const __m256i high = high_halves(first, second);
    if constexpr (!Counted) return {high, low_halves(first, second), _mm256_setzero_si256()};
    const __m256i middle = low_halves(_mm256_srli_epi64(first, 16), _mm256_srli_epi64(second, 16));
    return {_mm256_srai_epi32(high, 6), _mm256_and_si256(middle, _mm256_set1_epi32(0x3fffff)),
            _mm256_and_si256(low_halves(first, second), _mm256_set1_epi32(0xffff))};
}

// Takes the best of eight gains; among equal ones the lowest bin.
void take_best(ScanResult& best, __m256 gains, __m256i bins, bool missing_left) {
    __m256 most = _mm256_max_ps(gains, _mm256_permute2f128_ps(gains, gains, 1));
    most = _mm256_max_ps(most, _mm256_permute_ps(most, 0x4E));
    most = _mm256_max_ps(most, _mm256_permute_ps(most, 0xB1));
    const __m256i winners = _mm256_castps_si256(_mm256_cmp_ps(gains, most, _CMP_EQ_OQ));
    __m256i bin = _mm256_blendv_epi8(_mm256_set1_epi32(kMaxBins), bins, winners);
    bin = _mm256_min_epi32(bin, _mm256_permute2x128_si256(bin, bin, 1));
    bin = _mm256_min_epi32(bin, _mm256_shuffle_epi32(bin, 0x4E));
    bin = _mm256_min_epi32(bin, _mm256_shuffle_epi32(bin, 0xB1));
    best = {.gain = _mm256_cvtss_f32(most),
            .last = static_cast<Bin>(_mm_cvtsi128_si32(_mm256_castsi256_si128(bin))),
            .missing_left = missing_left};
}

// A little below the best gain, so that no better split is overlooked when its division is spared.
__m256 just_below(float gain) { return _mm256_set1_ps(gain > 0 ? gain * 0.999999f : gain); }

template <bool Counted>
bool too_light(Cell side, const ScanTask& task) {
    const Sums sums = sums_of(side, Counted);
    return Counted ? sums.n < task.min_rows : static_cast<float>(sums.hessian) < task.min_hessian;
}

// What is on the left after bins 0 1 4 5 and 2 3 6 7 of eight. Their halves side by side are in the order of the bins,
// and only two of the steps that make them cross from one half of a vector to the other.
struct EightLefts {
    __m256i first;
    __m256i second;
};

__m256i two_and_two(const Cell* low, const Cell* high) {
    return _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(low))),
                                   _mm_loadu_si128(reinterpret_cast<const __m128i*>(high)), 1);
}

__m256i with_one_before(__m256i cells) { return _mm256_add_epi64(cells, _mm256_slli_si256(cells, 8)); }

// From one step to the next there is one addition: the sum of the eight does not wait for the carry.
EightLefts next_lefts(const Cell* cells, __m256i& carry) {
    const __m256i first = with_one_before(two_and_two(cells, cells + 4));
    const __m256i second =
        _mm256_add_epi64(with_one_before(two_and_two(cells + 2, cells + 6)), _mm256_unpackhi_epi64(first, first));
    const __m256i fours = _mm256_unpackhi_epi64(second, second);  // the sum of the first four, and of the last four
    const __m256i before = _mm256_add_epi64(carry, _mm256_permute2x128_si256(fours, fours, 0x08));
    carry = _mm256_add_epi64(carry, _mm256_add_epi64(fours, _mm256_permute2x128_si256(fours, fours, 0x01)));
    return {_mm256_add_epi64(first, before), _mm256_add_epi64(second, before)};
}

// The gain of eight splits is above / below, where it is valid.
struct EightGains {
    __m256 above;
    __m256 below;
};

template <bool Counted>
class EightSplits {
public:
    explicit EightSplits(const ScanTask& task)
        : total_(eight_sums<Counted>(_mm256_set1_epi64x(static_cast<std::int64_t>(task.total)),
                                     _mm256_set1_epi64x(static_cast<std::int64_t>(task.total)))),
          l2_(_mm256_set1_ps(task.l2)),
          least_(_mm256_set1_ps(task.min_hessian)),
          too_few_(_mm256_set1_epi32(static_cast<std::int32_t>(task.min_rows) - 1)) {}

    EightGains gains(const EightLefts& lefts) {
        left_ = eight_sums<Counted>(lefts.first, lefts.second);
        const __m256 left_gradient = _mm256_cvtepi32_ps(left_.gradient);
        const __m256 right_gradient = _mm256_cvtepi32_ps(_mm256_sub_epi32(total_.gradient, left_.gradient));
        left_hessian_ = _mm256_cvtepi32_ps(left_.hessian);
        right_hessian_ = _mm256_cvtepi32_ps(_mm256_sub_epi32(total_.hessian, left_.hessian));
        const __m256 left_d = _mm256_add_ps(left_hessian_, l2_);
        const __m256 right_d = _mm256_add_ps(right_hessian_, l2_);
        const __m256 above = _mm256_add_ps(_mm256_mul_ps(_mm256_mul_ps(left_gradient, left_gradient), right_d),
                                           _mm256_mul_ps(_mm256_mul_ps(right_gradient, right_gradient), left_d));
        return {above, _mm256_mul_ps(left_d, right_d)};
    }

    /// Which of the splits whose gains were computed last leave enough on both sides.
    __m256 valid() const {
        const __m256 heavy = _mm256_and_ps(_mm256_cmp_ps(left_hessian_, least_, _CMP_GE_OQ),
                                           _mm256_cmp_ps(right_hessian_, least_, _CMP_GE_OQ));
        if constexpr (!Counted) return heavy;
        const __m256i right_n = _mm256_sub_epi32(total_.n, left_.n);
        const __m256i enough =
            _mm256_and_si256(_mm256_cmpgt_epi32(left_.n, too_few_), _mm256_cmpgt_epi32(right_n, too_few_));
        return _mm256_and_ps(heavy, _mm256_castsi256_ps(enough));
    }

private:
    EightSums total_;
    __m256 l2_;
    __m256 least_;
    __m256i too_few_;
    EightSums left_;
    __m256 left_hessian_;
    __m256 right_hessian_;
};

__m256i bins_from(int bin) {
    return _mm256_add_epi32(_mm256_set1_epi32(bin), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

// One pass over the bins with `start` on the left before the first; keeps what gains more than best.gain. Most steps
// have nothing of interest, so what only matters for the others is done last.
template <bool Counted>
void scan_from(Cell start, const Cell* cells, int n_bins, const ScanTask& task, bool missing_left, ScanResult& best) {
    EightSplits<Counted> splits(task);
    __m256i carry = _mm256_set1_epi64x(static_cast<std::int64_t>(start - cells[0]));
    __m256 limit = just_below(best.gain);
    Cell left_before = start;  // on the left before the step's first value bin
    for (int bin = 0; bin < n_bins; bin += 8) {
        const EightLefts lefts = next_lefts(cells + bin, carry);
        // The left side only grows: skip bins while it is too light, stop once the right side is.
        if (too_light<Counted>(task.total - left_before, task)) break;
        left_before = static_cast<Cell>(_mm256_extract_epi64(carry, 0));
        if (too_light<Counted>(left_before, task)) continue;
        const auto [above, below] = splits.gains(lefts);
        const __m256 looked_at = _mm256_cmp_ps(above, _mm256_mul_ps(limit, below), _CMP_GT_OQ);
        if (_mm256_movemask_ps(looked_at) == 0) continue;
        const __m256 gain = _mm256_blendv_ps(_mm256_set1_ps(-1.0f), _mm256_div_ps(above, below), splits.valid());
        if (_mm256_movemask_ps(_mm256_cmp_ps(gain, _mm256_set1_ps(best.gain), _CMP_GT_OQ)) == 0) continue;
        take_best(best, gain, bins_from(bin), missing_left);
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

template <bool Counted>
void add_gains_from(Cell start, const Cell* cells, int n_bins, const ScanTask& task, float parent, float* sums) {
    EightSplits<Counted> splits(task);
    const __m256 above_parent = _mm256_set1_ps(parent);
    __m256i carry = _mm256_set1_epi64x(static_cast<std::int64_t>(start - cells[0]));
    Cell left_before = start;
    for (int bin = 0; bin < n_bins; bin += 8) {
        const EightLefts lefts = next_lefts(cells + bin, carry);
        if (too_light<Counted>(task.total - left_before, task)) break;
        left_before = static_cast<Cell>(_mm256_extract_epi64(carry, 0));
        if (too_light<Counted>(left_before, task)) continue;
        const EightGains gains = splits.gains(lefts);
        const __m256 gain = _mm256_sub_ps(_mm256_div_ps(gains.above, gains.below), above_parent);
        const __m256 added = _mm256_and_ps(gain, splits.valid());
        _mm256_storeu_ps(sums + bin, _mm256_add_ps(_mm256_loadu_ps(sums + bin), added));
    }
}

void add_gains(const Cell* cells, int n_bins, const ScanTask& task, float parent, bool missing_left, float* sums) {
    const Cell start = missing_left ? cells[0] : 0;
    if (task.counted)
        add_gains_from<true>(start, cells, n_bins, task, parent, sums);
    else
        add_gains_from<false>(start, cells, n_bins, task, parent, sums);
}

void subtract(Cell* from, const Cell* subtrahend, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) from[i] -= subtrahend[i];
}

}  // namespace

SplitKernels split_kernels() { return {.scan = scan, .add_gains = add_gains, .subtract = subtract}; }

}  // namespace coterie::avx2

#endif
