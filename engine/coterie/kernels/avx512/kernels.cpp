// kernels/avx512/kernels.cpp: where vectors of 64 bytes with a mask for each lane take fewer steps than AVX2. The other
// kernels are those of AVX2. Same bits as generic/.
#include "coterie/kernels/kernels.hpp"

#if defined(COTERIE_HAS_AVX2)

#include <immintrin.h>

#include <bit>
#include <cmath>
#include <cstring>

namespace coterie {
namespace {

#include "coterie/kernels/shared/derivatives.inl"

// ---- Values to bins: 16 pivots, then the 16 cuts behind the pivot, each by one comparison.

// Up to 16 cuts are one vector, and there is nothing to be searched.
void map_few(const std::byte* data, std::ptrdiff_t stride, std::size_t n, const float* cuts, Bin* out) {
    const __m512 all = _mm512_load_ps(cuts);
    for (std::size_t i = 0; i < n; ++i, data += stride) {
        float value;
        std::memcpy(&value, data, sizeof(value));
        const unsigned below = _mm512_cmp_ps_mask(all, _mm512_set1_ps(value), _CMP_LT_OQ);
        out[i] = static_cast<Bin>(value == value ? std::popcount(below) + 1 : 0);
    }
}

void map_float(const std::byte* data, std::ptrdiff_t stride, std::size_t n, const CutTable<float>& table, Bin* out) {
    if (table.n_cuts <= 16) return map_few(data, stride, n, table.cuts, out);
    const __m512 pivots = _mm512_load_ps(table.pivots);
    for (std::size_t i = 0; i < n; ++i, data += stride) {
        float value;
        std::memcpy(&value, data, sizeof(value));
        const __m512 wide = _mm512_set1_ps(value);
        const int coarse = std::popcount(_mm512_cmp_ps_mask(pivots, wide, _CMP_LT_OQ));
        const int fine = std::popcount(_mm512_cmp_ps_mask(_mm512_load_ps(table.cuts + 16 * coarse), wide, _CMP_LT_OQ));
        out[i] = static_cast<Bin>(value == value ? 16 * coarse + fine + 1 : 0);
    }
}

int count_below(__m512d first, __m512d second, __m512d value) {
    const unsigned low = _mm512_cmp_pd_mask(first, value, _CMP_LT_OQ);
    const unsigned high = _mm512_cmp_pd_mask(second, value, _CMP_LT_OQ);
    return std::popcount(high << 8 | low);
}

void map_few(const std::byte* data, std::ptrdiff_t stride, std::size_t n, const double* cuts, Bin* out) {
    const __m512d all = _mm512_load_pd(cuts);
    for (std::size_t i = 0; i < n; ++i, data += stride) {
        double value;
        std::memcpy(&value, data, sizeof(value));
        const unsigned below = _mm512_cmp_pd_mask(all, _mm512_set1_pd(value), _CMP_LT_OQ);
        out[i] = static_cast<Bin>(value == value ? std::popcount(below) + 1 : 0);
    }
}

void map_double(const std::byte* data, std::ptrdiff_t stride, std::size_t n, const CutTable<double>& table, Bin* out) {
    if (table.n_cuts <= 8) return map_few(data, stride, n, table.cuts, out);
    const __m512d first = _mm512_load_pd(table.pivots);
    const __m512d second = _mm512_load_pd(table.pivots + 8);
    for (std::size_t i = 0; i < n; ++i, data += stride) {
        double value;
        std::memcpy(&value, data, sizeof(value));
        const __m512d wide = _mm512_set1_pd(value);
        const int coarse = count_below(first, second, wide);
        const double* const cuts = table.cuts + 16 * coarse;
        const int fine = count_below(_mm512_load_pd(cuts), _mm512_load_pd(cuts + 8), wide);
        out[i] = static_cast<Bin>(value == value ? 16 * coarse + fine + 1 : 0);
    }
}

// ---- Packing: eight records a step, which stop where eight would pass the end of a side: what lies there belongs to
// another chunk.

template <class EightOf, class OneOf>
void pack(std::size_t n, const std::uint8_t* marks, Record* left, std::size_t n_left, Record* right, EightOf eight_of,
          OneOf one_of) {
    constexpr std::size_t kSoon = 64;  // records until lines that another core may have are wanted here
    const std::size_t n_right = n - n_left;
    std::size_t l = 0;
    std::size_t r = 0;
    std::size_t i = 0;
    for (; i + 8 <= n && l + 8 <= n_left && r + 8 <= n_right; i += 8) {
        __builtin_prefetch(left + (l + kSoon < n_left ? l + kSoon : n_left), 1);
        __builtin_prefetch(right + (r + kSoon < n_right ? r + kSoon : n_right), 1);
        const unsigned mask = marks[i / 8];
        const __m512i eight = eight_of(i);
        _mm512_storeu_si512(left + l, _mm512_maskz_compress_epi64(static_cast<__mmask8>(mask), eight));
        _mm512_storeu_si512(right + r, _mm512_maskz_compress_epi64(static_cast<__mmask8>(~mask), eight));
        const auto passed = static_cast<std::size_t>(std::popcount(mask));
        l += passed;
        r += 8 - passed;
    }
    for (; i < n; ++i) {
        if (marks[i / 8] >> (i % 8) & 1)
            left[l++] = one_of(i);
        else
            right[r++] = one_of(i);
    }
}

void pack_rows(RowIndex first_row, const Pair* pairs, std::size_t n, const std::uint8_t* marks, Record* left,
               std::size_t n_left, Record* right) {
    const __m512i lanes = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
    pack(
        n, marks, left, n_left, right,
        [=](std::size_t i) {
            const __m256i eight = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(pairs + i));
            const __m512i rows = _mm512_add_epi64(lanes, _mm512_set1_epi64(static_cast<std::int64_t>(first_row + i)));
            return _mm512_or_si512(_mm512_slli_epi64(_mm512_cvtepu32_epi64(eight), 32), rows);
        },
        [=](std::size_t i) { return make_record(first_row + static_cast<RowIndex>(i), pairs[i]); });
}

void pack_records(const Record* records, std::size_t n, const std::uint8_t* marks, Record* left, std::size_t n_left,
                  Record* right) {
    pack(
        n, marks, left, n_left, right, [=](std::size_t i) { return _mm512_loadu_si512(records + i); },
        [=](std::size_t i) { return records[i]; });
}

// ---- Routing.

constexpr std::size_t kPart = 64;  // rows of a vector
constexpr std::size_t kParts = kRouteRows / kPart;

__mmask64 passed_by(const RouteStep& step, __m512i bins) {
    if (step.set == nullptr) {
        const __m512i moved = _mm512_sub_epi8(bins, _mm512_set1_epi8(static_cast<char>(step.shift)));
        return _mm512_cmple_epu8_mask(moved, _mm512_set1_epi8(static_cast<char>(step.span)));
    }
    // Bits of a set: the byte bin / 8 from one of two tables of 16, then the bit bin % 8 of it.
    const __m512i low = _mm512_broadcast_i32x4(_mm_loadu_si128(reinterpret_cast<const __m128i*>(step.set)));
    const __m512i high = _mm512_broadcast_i32x4(_mm_loadu_si128(reinterpret_cast<const __m128i*>(step.set + 16)));
    const __m512i bit_of = _mm512_set1_epi64(static_cast<std::int64_t>(0x8040201008040201ull));
    const __m512i byte = _mm512_and_si512(_mm512_srli_epi16(bins, 3), _mm512_set1_epi8(0x1f));
    const __mmask64 in_high = _mm512_movepi8_mask(bins);
    const __m512i word =
        _mm512_mask_blend_epi8(in_high, _mm512_shuffle_epi8(low, byte), _mm512_shuffle_epi8(high, byte));
    const __m512i bit = _mm512_shuffle_epi8(bit_of, _mm512_and_si512(bins, _mm512_set1_epi8(7)));
    return _mm512_test_epi8_mask(word, bit) ^ (step.out_of_set ? ~__mmask64{0} : 0);
}

__mmask64 passed_by(const RouteStep& step, const Bin* columns, std::size_t part) {
    return passed_by(step, _mm512_loadu_si512(columns + step.column + part * kPart));
}

// The codes at hand stay in registers.
void route(const Bin* columns, const RouteStep* steps, std::size_t n_steps, std::size_t begin, std::uint8_t* codes) {
    __m512i aside[kMostPutAside][kParts];
    std::size_t n_aside = 0;
    __m512i at_hand[kParts];
    for (__m512i& part : at_hand) part = _mm512_setzero_si512();
    columns += begin;
    for (const RouteStep* step = steps; step != steps + n_steps; ++step) {
        const __m512i code = _mm512_set1_epi8(static_cast<char>(step->code));
        if (step->way == RouteStep::Way::attach) {
            for (std::size_t k = 0; k < kParts; ++k)
                at_hand[k] = _mm512_mask_mov_epi8(at_hand[k], passed_by(*step, columns, k), code);
        } else if (step->way == RouteStep::Way::start) {
            const __m512i other = _mm512_set1_epi8(static_cast<char>(step->other));
            for (std::size_t k = 0; k < kParts; ++k) {
                aside[n_aside][k] = at_hand[k];
                at_hand[k] = _mm512_mask_mov_epi8(other, passed_by(*step, columns, k), code);
            }
            ++n_aside;
        } else {
            --n_aside;
            for (std::size_t k = 0; k < kParts; ++k)
                at_hand[k] = _mm512_mask_mov_epi8(at_hand[k], passed_by(*step, columns, k), aside[n_aside][k]);
        }
    }
    for (std::size_t k = 0; k < kParts; ++k) _mm512_storeu_si512(codes + k * kPart, at_hand[k]);
}

void route_levels(const Bin* columns, const RouteStep* steps, std::size_t n_steps, std::size_t begin,
                  std::uint8_t* codes) {
    __m512i sums[kParts];
    for (__m512i& part : sums) part = _mm512_setzero_si512();
    const __m512i one = _mm512_set1_epi8(1);
    columns += begin;
    for (std::size_t s = 0; s < n_steps; ++s)
        for (std::size_t k = 0; k < kParts; ++k) {
            const __m512i twice = _mm512_add_epi8(sums[k], sums[k]);
            sums[k] = _mm512_mask_add_epi8(twice, ~passed_by(steps[s], columns, k), twice, one);
        }
    for (std::size_t k = 0; k < kParts; ++k) _mm512_storeu_si512(codes + k * kPart, sums[k]);
}

}  // namespace

const Kernels& avx512_kernels() {
    static const Kernels table = [] {
        Kernels all = avx2_kernels();
        all.name = "avx512";
        all.map_float = map_float;
        all.map_double = map_double;
        all.pack_rows = pack_rows;
        all.pack_records = pack_records;
        all.subtract = subtract;
        all.sum_pairs = sum_pairs;
        all.round_pairs = round_pairs;
        all.row_sizes = row_sizes;
        all.mass_below = mass_below;
        all.draw = draw;
        all.log_loss = log_loss;
        all.squared_error = squared_error;
        all.log_sum_exp = log_sum_exp;
        all.softmax = softmax;
        all.route = route;
        all.route_levels = route_levels;
        all.gather_codes = avx512::gather_codes;
        all.sum_left = avx512::sum_left;
        all.part_words = avx512::part_words;
        all.pick_codes = avx512::pick_codes;
        all.cut_few_numbers = avx512::cut_few_numbers;
        all.set_ranges = avx512::set_ranges;
        all.sum_set = avx512::sum_set;
        all.part_set = avx512::part_set;
        all.set_rows = avx512::set_rows;
        all.draw_features = avx512::draw_features;
        all.draw_cuts = avx512::draw_cuts;
        if (avx512::packs_codes()) all.set_codes = avx512::set_codes;
        return all;
    }();
    return table;
}

}  // namespace coterie

#endif
