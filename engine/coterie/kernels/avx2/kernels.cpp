// kernels/avx2/kernels.cpp: the same kernels for processors with AVX2. Same bits as generic/, fewer cycles.
#include "coterie/kernels/kernels.hpp"

#if defined(COTERIE_HAS_AVX2)

#include <immintrin.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

namespace coterie {
namespace {

#include "coterie/kernels/shared/derivatives.inl"
#include "coterie/kernels/shared/shap.inl"

// ---- Values to bins: compare with 16 pivots, then with the 16 cuts behind the pivot; count by popcount.

int count_below(const float* cuts, __m256 value) {
    const __m256 low = _mm256_cmp_ps(_mm256_load_ps(cuts), value, _CMP_LT_OQ);
    const __m256 high = _mm256_cmp_ps(_mm256_load_ps(cuts + 8), value, _CMP_LT_OQ);
    const __m256i both = _mm256_packs_epi32(_mm256_castps_si256(low), _mm256_castps_si256(high));
    return std::popcount(static_cast<unsigned>(_mm256_movemask_epi8(both)));  // two bits per cut
}

// Up to eight cuts are one vector, and there is nothing to be searched.
void map_few(const std::byte* data, std::ptrdiff_t stride, std::size_t n, const float* cuts, Bin* out) {
    const __m256 all = _mm256_load_ps(cuts);
    for (std::size_t i = 0; i < n; ++i, data += stride) {
        float value;
        std::memcpy(&value, data, sizeof(value));
        const int below = _mm256_movemask_ps(_mm256_cmp_ps(all, _mm256_set1_ps(value), _CMP_LT_OQ));
        out[i] = static_cast<Bin>(value == value ? std::popcount(static_cast<unsigned>(below)) + 1 : 0);
    }
}

void map_float(const std::byte* data, std::ptrdiff_t stride, std::size_t n, const CutTable<float>& table, Bin* out) {
    if (table.n_cuts <= 8) return map_few(data, stride, n, table.cuts, out);
    for (std::size_t i = 0; i < n; ++i, data += stride) {
        float value;
        std::memcpy(&value, data, sizeof(value));
        const __m256 wide = _mm256_set1_ps(value);
        const int coarse = count_below(table.pivots, wide);
        const int fine = count_below(table.cuts + 8 * coarse, wide);
        const auto bin = static_cast<unsigned>(8 * coarse + fine / 2 + 1);
        out[i] = static_cast<Bin>(value == value ? bin : 0u);
    }
}

int count_below(const double* cuts, __m256d value) {
    unsigned mask = 0;
    for (int k = 0; k < 4; ++k) {
        const __m256d below = _mm256_cmp_pd(_mm256_load_pd(cuts + 4 * k), value, _CMP_LT_OQ);
        mask |= static_cast<unsigned>(_mm256_movemask_pd(below)) << (4 * k);
    }
    return std::popcount(mask);
}

void map_few(const std::byte* data, std::ptrdiff_t stride, std::size_t n, const double* cuts, Bin* out) {
    const __m256d first = _mm256_load_pd(cuts);
    const __m256d second = _mm256_load_pd(cuts + 4);
    for (std::size_t i = 0; i < n; ++i, data += stride) {
        double value;
        std::memcpy(&value, data, sizeof(value));
        const __m256d wide = _mm256_set1_pd(value);
        const int low = _mm256_movemask_pd(_mm256_cmp_pd(first, wide, _CMP_LT_OQ));
        const int high = _mm256_movemask_pd(_mm256_cmp_pd(second, wide, _CMP_LT_OQ));
        out[i] = static_cast<Bin>(value == value ? std::popcount(static_cast<unsigned>(high << 4 | low)) + 1 : 0);
    }
}

void map_double(const std::byte* data, std::ptrdiff_t stride, std::size_t n, const CutTable<double>& table, Bin* out) {
    if (table.n_cuts <= 8) return map_few(data, stride, n, table.cuts, out);
    for (std::size_t i = 0; i < n; ++i, data += stride) {
        double value;
        std::memcpy(&value, data, sizeof(value));
        const __m256d wide = _mm256_set1_pd(value);
        const int coarse = count_below(table.pivots, wide);
        const int fine = count_below(table.cuts + 16 * coarse, wide);
        out[i] = static_cast<Bin>(value == value ? 16 * coarse + fine + 1 : 0);
    }
}

// ---- Marks: which rows go left.

unsigned passing(__m256i bins, __m256i shift, __m256i span) {
    const __m256i moved = _mm256_sub_epi8(bins, shift);
    return static_cast<unsigned>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_min_epu8(moved, span), moved)));
}

std::uint8_t mark_some(std::size_t n, const BinRule& rule, const Bin* bins) {
    unsigned byte = 0;
    for (std::size_t i = 0; i < n; ++i) byte |= static_cast<unsigned>(passes(rule, bins[i])) << i;
    return static_cast<std::uint8_t>(byte);
}

std::size_t mark_rows(const Bin* column, std::size_t n, const BinRule& rule, std::uint8_t* marks) {
    std::size_t count = 0;
    std::size_t i = 0;
    if (rule.table == nullptr) {
        const __m256i shift = _mm256_set1_epi8(static_cast<char>(rule.shift));
        const __m256i span = _mm256_set1_epi8(static_cast<char>(rule.last - rule.shift));
        for (; i + 32 <= n; i += 32) {
            const unsigned word =
                passing(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(column + i)), shift, span);
            std::memcpy(marks + i / 8, &word, sizeof(word));
            count += static_cast<std::size_t>(std::popcount(word));
        }
    }
    for (; i < n; i += 8) {
        marks[i / 8] = mark_some(n - i < 8 ? n - i : 8, rule, column + i);
        count += static_cast<std::size_t>(std::popcount(marks[i / 8]));
    }
    return count;
}

std::size_t mark_records(const Bin* column, const Record* records, std::size_t n, const BinRule& rule,
                         std::uint8_t* marks) {
    std::size_t count = 0;
    std::size_t i = 0;
    if (rule.table == nullptr) {
        const __m256i shift = _mm256_set1_epi8(static_cast<char>(rule.shift));
        const __m256i span = _mm256_set1_epi8(static_cast<char>(rule.last - rule.shift));
        alignas(32) Bin bins[32];
        for (; i + 32 <= n; i += 32) {
            for (std::size_t k = 0; k < 32; ++k) bins[k] = column[row_of(records[i + k])];
            const unsigned word = passing(_mm256_load_si256(reinterpret_cast<const __m256i*>(bins)), shift, span);
            std::memcpy(marks + i / 8, &word, sizeof(word));
            count += static_cast<std::size_t>(std::popcount(word));
        }
    }
    for (; i < n; i += 8) {
        Bin bins[8];
        const std::size_t m = n - i < 8 ? n - i : 8;
        for (std::size_t k = 0; k < m; ++k) bins[k] = column[row_of(records[i + k])];
        marks[i / 8] = mark_some(m, rule, bins);
        count += static_cast<std::size_t>(std::popcount(marks[i / 8]));
    }
    return count;
}

// ---- Packing: four records a step, marked ones moved to the front by a permutation from a table.

using Permutation = std::array<std::uint32_t, 8>;

constexpr std::array<Permutation, 16> kFrontOf = [] {
    std::array<Permutation, 16> table{};
    for (unsigned mask = 0; mask < 16; ++mask) {
        unsigned next = 0;
        for (unsigned side = 0; side < 2; ++side)
            for (unsigned lane = 0; lane < 4; ++lane)
                if ((mask >> lane & 1u) != side) {
                    table[mask][next++] = 2 * lane;
                    table[mask][next++] = 2 * lane + 1;
                }
    }
    return table;
}();

__m256i marked_first(__m256i four, unsigned mask) {
    return _mm256_permutevar8x32_epi32(four,
                                       _mm256_loadu_si256(reinterpret_cast<const __m256i*>(kFrontOf[mask].data())));
}

constexpr std::size_t kSoon = 64;  // records until lines that another core may have are wanted here

// Full steps write four records on each side, so they stop where that would pass the end of a side: what lies
// there belongs to another chunk.
template <class FourOf, class OneOf>
void pack(std::size_t n, const std::uint8_t* marks, Record* left, std::size_t n_left, Record* right, FourOf four_of,
          OneOf one_of) {
    const std::size_t n_right = n - n_left;
    std::size_t l = 0;
    std::size_t r = 0;
    std::size_t i = 0;
    for (; i + 4 <= n && l + 4 <= n_left && r + 4 <= n_right; i += 4) {
        __builtin_prefetch(left + std::min(l + kSoon, n_left), 1);
        __builtin_prefetch(right + std::min(r + kSoon, n_right), 1);
        const unsigned mask = marks[i / 8] >> (i % 8) & 15u;
        const __m256i four = four_of(i);
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(left + l), marked_first(four, mask));
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(right + r), marked_first(four, mask ^ 15u));
        const auto passed = static_cast<std::size_t>(std::popcount(mask));
        l += passed;
        r += 4 - passed;
    }
    for (; i < n && l < n_left && r < n_right; ++i) {
        if (marks[i / 8] >> (i % 8) & 1)
            left[l++] = one_of(i);
        else
            right[r++] = one_of(i);
    }
    for (; l < n_left; ++i, ++l) left[l] = one_of(i);
    for (; r < n_right; ++i, ++r) right[r] = one_of(i);
}

void pack_rows(RowIndex first_row, const Pair* pairs, std::size_t n, const std::uint8_t* marks, Record* left,
               std::size_t n_left, Record* right) {
    const __m256i lanes = _mm256_setr_epi64x(0, 1, 2, 3);
    pack(
        n, marks, left, n_left, right,
        [=](std::size_t i) {
            const __m128i four = _mm_loadu_si128(reinterpret_cast<const __m128i*>(pairs + i));
            const __m256i rows = _mm256_add_epi64(lanes, _mm256_set1_epi64x(static_cast<std::int64_t>(first_row + i)));
            return _mm256_or_si256(_mm256_slli_epi64(_mm256_cvtepu32_epi64(four), 32), rows);
        },
        [=](std::size_t i) { return make_record(first_row + static_cast<RowIndex>(i), pairs[i]); });
}

void pack_records(const Record* records, std::size_t n, const std::uint8_t* marks, Record* left, std::size_t n_left,
                  Record* right) {
    pack(
        n, marks, left, n_left, right,
        [=](std::size_t i) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(records + i)); },
        [=](std::size_t i) { return records[i]; });
}

// ---- Routing.

struct NumericRule {
    __m256i shift;
    __m256i span;

    explicit NumericRule(const RouteStep& step)
        : shift(_mm256_set1_epi8(static_cast<char>(step.shift))),
          span(_mm256_set1_epi8(static_cast<char>(step.span))) {}

    __m256i passed(__m256i bins) const {
        const __m256i moved = _mm256_sub_epi8(bins, shift);
        return _mm256_cmpeq_epi8(_mm256_min_epu8(moved, span), moved);
    }
};

// Bits of a set: the byte bin / 8 from one of two tables of 16, then the bit bin % 8 of it.
struct NominalRule {
    __m256i low;
    __m256i high;
    __m256i out;

    explicit NominalRule(const RouteStep& step)
        : low(_mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(step.set)))),
          high(_mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(step.set + 16)))),
          out(_mm256_set1_epi8(step.out_of_set ? -1 : 0)) {}

    __m256i passed(__m256i bins) const {
        const __m256i bit_of = _mm256_set1_epi64x(static_cast<std::int64_t>(0x8040201008040201ull));
        const __m256i byte = _mm256_and_si256(_mm256_srli_epi16(bins, 3), _mm256_set1_epi8(0x1f));
        const __m256i in_high = _mm256_cmpgt_epi8(byte, _mm256_set1_epi8(15));
        const __m256i word =
            _mm256_blendv_epi8(_mm256_shuffle_epi8(low, byte), _mm256_shuffle_epi8(high, byte), in_high);
        const __m256i bit = _mm256_shuffle_epi8(bit_of, _mm256_and_si256(bins, _mm256_set1_epi8(7)));
        return _mm256_xor_si256(_mm256_cmpeq_epi8(_mm256_and_si256(word, bit), bit), out);
    }
};

constexpr std::size_t kParts = kRouteRows / 32;  // of a vector each

// For each part of the rows, who passes.
template <class Rule, class Take>
inline void for_passed(const Bin* columns, const RouteStep& step, Take take) {
    const Rule rule(step);
    const auto* const bins = reinterpret_cast<const __m256i*>(columns + step.column);
    for (std::size_t part = 0; part < kParts; ++part) take(part, rule.passed(_mm256_loadu_si256(bins + part)));
}

template <class Take>
inline void for_passed(const Bin* columns, const RouteStep& step, Take take) {
    if (step.set == nullptr)
        for_passed<NumericRule>(columns, step, take);
    else
        for_passed<NominalRule>(columns, step, take);
}

// The codes at hand stay in registers.
void route(const Bin* columns, const RouteStep* steps, std::size_t n_steps, std::size_t begin, std::uint8_t* codes) {
    __m256i aside[kMostPutAside][kParts];
    std::size_t n_aside = 0;
    __m256i at_hand[kParts];
    for (__m256i& part : at_hand) part = _mm256_setzero_si256();
    for (const RouteStep* step = steps; step != steps + n_steps; ++step) {
        const __m256i code = _mm256_set1_epi8(static_cast<char>(step->code));
        if (step->way == RouteStep::Way::attach) {
            for_passed(columns + begin, *step, [&](std::size_t part, __m256i passed) {
                at_hand[part] = _mm256_blendv_epi8(at_hand[part], code, passed);
            });
        } else if (step->way == RouteStep::Way::start) {
            const __m256i other = _mm256_set1_epi8(static_cast<char>(step->other));
            for_passed(columns + begin, *step, [&](std::size_t part, __m256i passed) {
                aside[n_aside][part] = at_hand[part];
                at_hand[part] = _mm256_blendv_epi8(other, code, passed);
            });
            ++n_aside;
        } else {
            --n_aside;
            for_passed(columns + begin, *step, [&](std::size_t part, __m256i passed) {
                at_hand[part] = _mm256_blendv_epi8(at_hand[part], aside[n_aside][part], passed);
            });
        }
    }
    for (std::size_t part = 0; part < kParts; ++part)
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(codes) + part, at_hand[part]);
}

// Twice the code, and one more where a row does not pass: passed is minus one where it does.
void route_levels(const Bin* columns, const RouteStep* steps, std::size_t n_steps, std::size_t begin,
                  std::uint8_t* codes) {
    __m256i sums[kParts];
    for (__m256i& part : sums) part = _mm256_setzero_si256();
    const __m256i one = _mm256_set1_epi8(1);
    for (std::size_t s = 0; s < n_steps; ++s)
        for_passed(columns + begin, steps[s], [&](std::size_t part, __m256i passed) {
            sums[part] = _mm256_add_epi8(_mm256_add_epi8(sums[part], sums[part]), _mm256_add_epi8(passed, one));
        });
    for (std::size_t part = 0; part < kParts; ++part)
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(codes) + part, sums[part]);
}

// ---- Scan: eight bins a step.

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
__m256 worth_a_look(float gain) { return _mm256_set1_ps(gain > 0 ? gain * 0.999999f : gain); }

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

// The gain of eight splits is above / below, where it is lawful.
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

    /// Which of the splits whose gains were asked for last leave enough on both sides.
    __m256 lawful() const {
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
    __m256 interesting = worth_a_look(best.gain);
    Cell left_before = start;  // on the left before the step's first value bin
    for (int bin = 0; bin < n_bins; bin += 8) {
        const EightLefts lefts = next_lefts(cells + bin, carry);
        // The left side only grows: skip bins while it is too light, stop once the right side is.
        if (too_light<Counted>(task.total - left_before, task)) break;
        left_before = static_cast<Cell>(_mm256_extract_epi64(carry, 0));
        if (too_light<Counted>(left_before, task)) continue;
        const auto [above, below] = splits.gains(lefts);
        const __m256 looked_at = _mm256_cmp_ps(above, _mm256_mul_ps(interesting, below), _CMP_GT_OQ);
        if (_mm256_movemask_ps(looked_at) == 0) continue;
        const __m256 gain = _mm256_blendv_ps(_mm256_set1_ps(-1.0f), _mm256_div_ps(above, below), splits.lawful());
        if (_mm256_movemask_ps(_mm256_cmp_ps(gain, _mm256_set1_ps(best.gain), _CMP_GT_OQ)) == 0) continue;
        take_best(best, gain, bins_from(bin), missing_left);
        interesting = worth_a_look(best.gain);
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
        const __m256 added = _mm256_and_ps(gain, splits.lawful());
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

void square_scores(const double* sum, const double* weight, std::size_t n, double total_sum, double total_weight,
                   double* out) {
    const __m256d totals = _mm256_set1_pd(total_sum);
    const __m256d weights = _mm256_set1_pd(total_weight);
    std::size_t i = 0;
    for (; i + 4 <= n; i += 4) {
        const __m256d left = _mm256_loadu_pd(sum + i);
        const __m256d left_weight = _mm256_loadu_pd(weight + i);
        const __m256d right = _mm256_sub_pd(totals, left);
        const __m256d right_weight = _mm256_sub_pd(weights, left_weight);
        const __m256d squares = _mm256_add_pd(_mm256_mul_pd(_mm256_mul_pd(left, left), right_weight),
                                              _mm256_mul_pd(_mm256_mul_pd(right, right), left_weight));
        _mm256_storeu_pd(out + i, _mm256_div_pd(squares, _mm256_mul_pd(left_weight, right_weight)));
    }
    for (; i < n; ++i) {
        const double right_sum = total_sum - sum[i];
        const double right_weight = total_weight - weight[i];
        out[i] = (sum[i] * sum[i] * right_weight + right_sum * right_sum * weight[i]) / (weight[i] * right_weight);
    }
}

// The sums of four words so far, and of all before them in every lane of `carry`.
__m256i words_so_far(__m256i words, __m256i& carry) {
    const __m256i pairs = _mm256_add_epi64(words, _mm256_slli_si256(words, 8));
    const __m256i low = _mm256_permute4x64_epi64(pairs, 0x50);  // the second word, in the upper half
    const __m256i four = _mm256_add_epi64(pairs, _mm256_blend_epi32(_mm256_setzero_si256(), low, 0xf0));
    const __m256i sums = _mm256_add_epi64(four, carry);
    carry = _mm256_permute4x64_epi64(sums, 0xff);
    return sums;
}

template <bool kNarrow>
WordCut scan_words_as(const std::uint64_t* cells, std::uint32_t last, const WordScan& task) {
    const __m256 total_weight = _mm256_set1_ps(word_sums(task.total, kNarrow).weight);
    const __m256 mean = _mm256_set1_ps(task.mean);
    const __m256 zero = _mm256_setzero_ps();
    const __m256i ends = _mm256_set1_epi32(static_cast<int>(last) + 1);
    __m256i carry = _mm256_set1_epi64x(static_cast<long long>(task.start));
    __m256i cell = _mm256_setr_epi32(1, 2, 5, 6, 3, 4, 7, 8);  // the order in which shuffles leave the words
    __m256 best = _mm256_set1_ps(-1.0f);
    __m256i best_cell = _mm256_setzero_si256();
    for (std::uint32_t first = 1; first <= last; first += 8) {
        const __m256i a = words_so_far(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(cells + first)), carry);
        const __m256i b = words_so_far(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(cells + first + 4)), carry);
        const __m256i high =
            _mm256_castps_si256(_mm256_shuffle_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b), 0xdd));
        const __m256i low =
            _mm256_castps_si256(_mm256_shuffle_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b), 0x88));
        __m256 sum = _mm256_cvtepi32_ps(high);
        __m256 weight;
        if constexpr (kNarrow) {
            weight = _mm256_cvtepi32_ps(low);
        } else {
            sum = _mm256_add_ps(_mm256_mul_ps(sum, _mm256_set1_ps(256.0f)),
                                _mm256_cvtepi32_ps(_mm256_srli_epi32(low, 24)));
            weight = _mm256_cvtepi32_ps(_mm256_and_si256(low, _mm256_set1_epi32(0xffffff)));
        }
        const __m256 right = _mm256_sub_ps(total_weight, weight);
        const __m256 distance = _mm256_sub_ps(sum, _mm256_mul_ps(weight, mean));
        const __m256 gain = _mm256_div_ps(_mm256_mul_ps(distance, distance), _mm256_mul_ps(weight, right));
        const __m256 both =
            _mm256_and_ps(_mm256_cmp_ps(weight, zero, _CMP_GT_OQ), _mm256_cmp_ps(right, zero, _CMP_GT_OQ));
        const __m256 inside = _mm256_castsi256_ps(_mm256_cmpgt_epi32(ends, cell));
        const __m256 better = _mm256_and_ps(_mm256_and_ps(both, inside), _mm256_cmp_ps(gain, best, _CMP_GT_OQ));
        best = _mm256_blendv_ps(best, gain, better);
        best_cell = _mm256_blendv_epi8(best_cell, cell, _mm256_castps_si256(better));
        cell = _mm256_add_epi32(cell, _mm256_set1_epi32(8));
    }
    alignas(32) float gains[8];
    alignas(32) std::uint32_t places[8];
    _mm256_store_ps(gains, best);
    _mm256_store_si256(reinterpret_cast<__m256i*>(places), best_cell);
    WordCut cut;
    for (int lane = 0; lane < 8; ++lane)
        if (gains[lane] > cut.gain || (gains[lane] == cut.gain && gains[lane] >= 0.0f && places[lane] < cut.cell))
            cut = {.gain = gains[lane], .cell = places[lane]};
    return cut;
}

WordCut scan_words(const std::uint64_t* cells, std::uint32_t last, const WordScan& task) {
    return task.narrow ? scan_words_as<true>(cells, last, task) : scan_words_as<false>(cells, last, task);
}

template <int kColumns>
void gather_columns(const std::uint16_t* codes, std::size_t stride, const WordRecord* records, std::size_t n,
                    const std::uint32_t* columns, std::uint16_t* out, CodeRanges& ranges) {
    constexpr std::size_t kAhead = 12;
    const auto column = [&](int lane) { return lane < kColumns ? columns[lane] : 0u; };
    const std::uint32_t c0 = column(0), c1 = column(1), c2 = column(2), c3 = column(3);
    const std::uint32_t c4 = column(4), c5 = column(5), c6 = column(6), c7 = column(7);
    const __m128i one = _mm_set1_epi16(1);
    __m128i least = _mm_set1_epi16(-1);
    __m128i greatest = _mm_setzero_si128();
    __m128i known = least;
    for (std::size_t i = 0; i < n; ++i) {
        const std::uint16_t* const row = codes + records[i].row * stride;
        if (i + kAhead < n) __builtin_prefetch(codes + records[i + kAhead].row * stride + c0);
        __m128i v = _mm_cvtsi32_si128(row[c0]);
        if constexpr (kColumns > 1) v = _mm_insert_epi16(v, row[c1], 1);
        if constexpr (kColumns > 2) v = _mm_insert_epi16(v, row[c2], 2);
        if constexpr (kColumns > 3) v = _mm_insert_epi16(v, row[c3], 3);
        if constexpr (kColumns > 4) v = _mm_insert_epi16(v, row[c4], 4);
        if constexpr (kColumns > 5) v = _mm_insert_epi16(v, row[c5], 5);
        if constexpr (kColumns > 6) v = _mm_insert_epi16(v, row[c6], 6);
        if constexpr (kColumns > 7) v = _mm_insert_epi16(v, row[c7], 7);
        _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i * kCodeLanes), v);
        least = _mm_min_epu16(least, v);
        greatest = _mm_max_epu16(greatest, v);
        known = _mm_min_epu16(known, _mm_sub_epi16(v, one));
    }
    _mm_storeu_si128(reinterpret_cast<__m128i*>(ranges.least), least);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(ranges.greatest), greatest);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(ranges.least_known_less_one), known);
}

void gather_codes(const std::uint16_t* codes, std::size_t stride, const WordRecord* records, std::size_t n,
                  const std::uint32_t* columns, std::size_t n_columns, std::uint16_t* out, CodeRanges& ranges) {
    switch (n_columns) {
        case 1: return gather_columns<1>(codes, stride, records, n, columns, out, ranges);
        case 2: return gather_columns<2>(codes, stride, records, n, columns, out, ranges);
        case 3: return gather_columns<3>(codes, stride, records, n, columns, out, ranges);
        case 4: return gather_columns<4>(codes, stride, records, n, columns, out, ranges);
        case 5: return gather_columns<5>(codes, stride, records, n, columns, out, ranges);
        case 6: return gather_columns<6>(codes, stride, records, n, columns, out, ranges);
        case 7: return gather_columns<7>(codes, stride, records, n, columns, out, ranges);
        default: return gather_columns<8>(codes, stride, records, n, columns, out, ranges);
    }
}

void sum_left(const std::uint16_t* codes, const WordRecord* records, std::size_t n, const std::uint16_t* shift,
              const std::uint16_t* last, std::uint64_t* sums) {
    const __m128i shifts = _mm_loadu_si128(reinterpret_cast<const __m128i*>(shift));
    const __m128i lasts = _mm_sub_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(last)), shifts);
    __m256i low = _mm256_setzero_si256();
    __m256i high = _mm256_setzero_si256();
    for (std::size_t i = 0; i < n; ++i) {
        const __m128i code =
            _mm_sub_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(codes + i * kCodeLanes)), shifts);
        const __m128i goes = _mm_cmpeq_epi16(_mm_min_epu16(code, lasts), code);
        const __m256i pay = _mm256_set1_epi64x(static_cast<long long>(records[i].pay));
        low = _mm256_add_epi64(low, _mm256_and_si256(pay, _mm256_cvtepi16_epi64(goes)));
        high = _mm256_add_epi64(high, _mm256_and_si256(pay, _mm256_cvtepi16_epi64(_mm_srli_si128(goes, 8))));
    }
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(sums), low);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(sums + 4), high);
}

}  // namespace

const Kernels& avx2_kernels() {
    static const Kernels table{.name = "avx2",
                               .map_float = map_float,
                               .map_double = map_double,
                               .map_strip_float = avx2::map_strip,
                               .map_strip_double = avx2::map_strip,
                               .mark_rows = mark_rows,
                               .mark_records = mark_records,
                               .pack_rows = pack_rows,
                               .pack_records = pack_records,
                               .scan = scan,
                               .add_gains = add_gains,
                               .square_scores = square_scores,
                               .gather_codes = gather_codes,
                               .sum_left = sum_left,
                               .fill_cells = avx2::fill_cells,
                               .part_words = avx2::part_words,
                               .cut_few_classes = avx2::cut_few_classes,
                               .pick_codes = generic::pick_codes,
                               .cut_few_numbers = avx2::cut_few_numbers,
                               .draw_features = generic::draw_features,
                               .turn_codes = avx2::turn_codes,
                               .set_ranges = avx2::set_ranges,
                               .sum_set = avx2::sum_set,
                               .part_set = avx2::part_set,
                               .set_rows = avx2::set_rows,
                               .set_codes = avx2::set_codes,
                               .draw_cuts = generic::draw_cuts,
                               .scan_words = scan_words,
                               .subtract = subtract,
                               .sum_pairs = sum_pairs,
                               .round_pairs = round_pairs,
                               .row_sizes = row_sizes,
                               .mass_below = mass_below,
                               .draw = draw,
                               .route = route,
                               .route_levels = route_levels,
                               .shap_tables = shap_tables,
                               .shap_row = shap_row,
                               .shap_pairs = shap_pairs,
                               .log_loss = log_loss,
                               .squared_error = squared_error,
                               .log_sum_exp = log_sum_exp,
                               .softmax = softmax};
    return table;
}

}  // namespace coterie

#endif
