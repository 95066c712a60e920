// kernels/generic/kernels.cpp: what every kernel means, in plain C++.
#include "coterie/kernels/kernels.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <initializer_list>

namespace coterie {
namespace {

#include "coterie/kernels/shared/derivatives.inl"
#include "coterie/kernels/shared/shap.inl"

template <class Float>
void map_values(const std::byte* data, std::ptrdiff_t stride, std::size_t n, const CutTable<Float>& table, Bin* out) {
    for (std::size_t i = 0; i < n; ++i, data += stride) {
        Float value;
        std::memcpy(&value, data, sizeof(Float));
        int coarse = 0;
        for (int k = 0; k < 16; ++k) coarse += table.pivots[k] < value;
        int bin = 16 * coarse;
        for (int k = 0; k < 16; ++k) bin += table.cuts[16 * coarse + k] < value;
        out[i] = value == value ? static_cast<Bin>(bin + 1) : kMissingBin;
    }
}

template <class BinOf>
std::size_t mark(std::size_t n, const BinRule& rule, std::uint8_t* marks, BinOf bin_of) {
    std::size_t count = 0;
    for (std::size_t begin = 0; begin < n; begin += 8) {
        unsigned byte = 0;
        const std::size_t end = begin + 8 < n ? begin + 8 : n;
        for (std::size_t i = begin; i < end; ++i) byte |= static_cast<unsigned>(passes(rule, bin_of(i))) << (i - begin);
        marks[begin / 8] = static_cast<std::uint8_t>(byte);
        count += static_cast<std::size_t>(std::popcount(byte));
    }
    return count;
}

std::size_t mark_rows(const Bin* column, std::size_t n, const BinRule& rule, std::uint8_t* marks) {
    return mark(n, rule, marks, [column](std::size_t i) { return column[i]; });
}

std::size_t mark_records(const Bin* column, const Record* records, std::size_t n, const BinRule& rule,
                         std::uint8_t* marks) {
    return mark(n, rule, marks, [=](std::size_t i) { return column[row_of(records[i])]; });
}

template <class RecordOf>
void pack(std::size_t n, const std::uint8_t* marks, Record* left, Record* right, RecordOf record_of) {
    for (std::size_t i = 0; i < n; ++i) {
        Record*& side = marks[i / 8] >> (i % 8) & 1 ? left : right;
        *side++ = record_of(i);
    }
}

void pack_rows(RowIndex first_row, const Pair* pairs, std::size_t n, const std::uint8_t* marks, Record* left,
               std::size_t, Record* right) {
    pack(n, marks, left, right,
         [=](std::size_t i) { return make_record(first_row + static_cast<RowIndex>(i), pairs[i]); });
}

void pack_records(const Record* records, std::size_t n, const std::uint8_t* marks, Record* left, std::size_t,
                  Record* right) {
    pack(n, marks, left, right, [=](std::size_t i) { return records[i]; });
}

ScanResult scan(const Cell* cells, int n_bins, const ScanTask& task) {
    ScanResult best{.gain = task.beat, .last = 0, .missing_left = false};
    for (const bool missing_left : {false, true}) {
        if (missing_left && cells[0] == 0) break;
        Cell left = missing_left ? cells[0] : 0;
        for (int bin = 1; bin < n_bins; ++bin) {
            left += cells[bin];
            const float gain = gain_of_split(left, task);
            if (gain > best.gain) best = {.gain = gain, .last = static_cast<Bin>(bin), .missing_left = missing_left};
        }
    }
    return best;
}

void add_gains(const Cell* cells, int n_bins, const ScanTask& task, float parent, bool missing_left, float* sums) {
    Cell left = missing_left ? cells[0] : 0;
    for (int bin = 1; bin < n_bins; ++bin) {
        left += cells[bin];
        const float gain = gain_of_split(left, task);
        if (gain >= 0) sums[bin] += gain - parent;
    }
}

bool passes(const RouteStep& step, Bin bin) {
    if (step.set != nullptr) return (step.set[bin / 8] >> (bin % 8) & 1) != (step.out_of_set ? 1 : 0);
    return static_cast<Bin>(bin - step.shift) <= step.span;
}

void route(const Bin* columns, const RouteStep* steps, std::size_t n_steps, std::size_t begin, std::uint8_t* codes) {
    std::array<std::array<std::uint8_t, kRouteRows>, kMostPutAside> aside;
    std::size_t n_aside = 0;
    std::fill_n(codes, kRouteRows, std::uint8_t{0});
    for (std::size_t s = 0; s < n_steps; ++s) {
        const RouteStep& step = steps[s];
        if (step.way == RouteStep::Way::start) {
            std::copy_n(codes, kRouteRows, aside[n_aside++].data());
            std::fill_n(codes, kRouteRows, step.other);
        }
        if (step.way == RouteStep::Way::join) --n_aside;
        const Bin* const column = columns + step.column + begin;
        for (std::size_t k = 0; k < kRouteRows; ++k)
            if (passes(step, column[k])) codes[k] = step.way == RouteStep::Way::join ? aside[n_aside][k] : step.code;
    }
}

void route_levels(const Bin* columns, const RouteStep* steps, std::size_t n_steps, std::size_t begin,
                  std::uint8_t* codes) {
    for (std::size_t k = 0; k < kRouteRows; ++k) {
        unsigned code = 0;
        for (std::size_t s = 0; s < n_steps; ++s)
            code = 2 * code + !passes(steps[s], columns[steps[s].column + begin + k]);
        codes[k] = static_cast<std::uint8_t>(code);
    }
}

void square_scores(const double* sum, const double* weight, std::size_t n, double total_sum, double total_weight,
                   double* out) {
    for (std::size_t i = 0; i < n; ++i) {
        const double right_sum = total_sum - sum[i];
        const double right_weight = total_weight - weight[i];
        out[i] = (sum[i] * sum[i] * right_weight + right_sum * right_sum * weight[i]) / (weight[i] * right_weight);
    }
}

WordCut scan_words(const std::uint64_t* cells, std::uint32_t last, const WordScan& task) {
    WordCut best;
    std::uint64_t left = task.start;
    const float total_weight = word_sums(task.total, task.narrow).weight;
    for (std::uint32_t cell = 1; cell <= last; ++cell) {
        left += cells[cell];
        const WordSums side = word_sums(left, task.narrow);
        const float right_weight = total_weight - side.weight;
        const float distance = side.sum - side.weight * task.mean;
        const float gain = distance * distance / (side.weight * right_weight);
        if (side.weight > 0.0f && right_weight > 0.0f && gain > best.gain) best = {.gain = gain, .cell = cell};
    }
    return best;
}

void gather_codes(const std::uint16_t* codes, std::size_t stride, const WordRecord* records, std::size_t n,
                  const std::uint32_t* columns, std::size_t n_columns, std::uint16_t* out, CodeRanges& ranges) {
    std::fill_n(ranges.least, kCodeLanes, std::uint16_t{0xffff});
    std::fill_n(ranges.greatest, kCodeLanes, std::uint16_t{0});
    std::fill_n(ranges.least_known_less_one, kCodeLanes, std::uint16_t{0xffff});
    for (std::size_t i = 0; i < n; ++i) {
        const std::uint16_t* const row = codes + records[i].row * stride;
        for (std::size_t lane = 0; lane < kCodeLanes; ++lane) {
            const std::uint16_t code = lane < n_columns ? row[columns[lane]] : std::uint16_t{0};
            out[i * kCodeLanes + lane] = code;
            ranges.least[lane] = std::min(ranges.least[lane], code);
            ranges.greatest[lane] = std::max(ranges.greatest[lane], code);
            ranges.least_known_less_one[lane] =
                std::min(ranges.least_known_less_one[lane], static_cast<std::uint16_t>(code - 1));
        }
    }
}

void sum_left(const std::uint16_t* codes, const WordRecord* records, std::size_t n, const std::uint16_t* shift,
              const std::uint16_t* last, std::uint64_t* sums) {
    std::fill_n(sums, kCodeLanes, std::uint64_t{0});
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t lane = 0; lane < kCodeLanes; ++lane) {
            const auto code = static_cast<std::uint16_t>(codes[i * kCodeLanes + lane] - shift[lane]);
            sums[lane] += code <= static_cast<std::uint16_t>(last[lane] - shift[lane]) ? records[i].pay : 0;
        }
}

}  // namespace

const Kernels& generic_kernels() {
    static const Kernels table{.name = "generic",
                               .map_float = map_values<float>,
                               .map_double = map_values<double>,
                               .map_strip_float = generic::map_strip,
                               .map_strip_double = generic::map_strip,
                               .mark_rows = mark_rows,
                               .mark_records = mark_records,
                               .pack_rows = pack_rows,
                               .pack_records = pack_records,
                               .scan = scan,
                               .add_gains = add_gains,
                               .square_scores = square_scores,
                               .gather_codes = gather_codes,
                               .sum_left = sum_left,
                               .fill_cells = generic::fill_cells,
                               .part_words = generic::part_words,
                               .cut_few_classes = generic::cut_few_classes,
                               .pick_codes = generic::pick_codes,
                               .cut_few_numbers = generic::cut_few_numbers,
                               .draw_features = generic::draw_features,
                               .turn_codes = generic::turn_codes,
                               .set_ranges = generic::set_ranges,
                               .sum_set = generic::sum_set,
                               .part_set = generic::part_set,
                               .set_rows = generic::set_rows,
                               .set_codes = generic::set_codes,
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
