// kernels/generic/small_nodes.cpp: what the kernels of small nodes mean. Sixteen cuts are scored at once, in loops that
// compilers turn into vectors: sixteen of one feature, or one of sixteen features.
#include "coterie/kernels/small_nodes.hpp"

#include <algorithm>

namespace coterie::generic {
namespace {

constexpr std::size_t kCuts = 16;
static_assert(kCuts == kSmallNodeFeatures);

// Gains and keys of sixteen cuts, of which the statistics on the left are given. Where nothing is on the right there is
// no cut.
template <class Word, class Code>
void score_cuts(const SmallNode<Word>& rows, const Code* codes, const std::uint32_t* left, float* gains,
                std::uint32_t* keys) {
    const auto sum = static_cast<std::int32_t>(rows.sum);
    const auto weight = static_cast<std::int32_t>(rows.weight);
    const std::uint32_t salt = rows.salt;
    for (std::size_t i = 0; i < kCuts; ++i) {
        const auto left_weight = static_cast<std::int32_t>(left[i] & 0xff);
        const auto left_sum = static_cast<std::int32_t>(left[i] >> 8);
        const std::int32_t right_weight = weight - left_weight;
        const auto distance = static_cast<float>(left_sum * weight - left_weight * sum);
        const float gain = distance * distance / static_cast<float>(left_weight * right_weight);
        gains[i] = right_weight != 0 ? gain : -2.0f;
        keys[i] = codes[i] ^ salt;
    }
}

void take(float gain, std::uint32_t key, SmallNodeCut& best) {
    if (gain > best.gain || (gain == best.gain && key < best.code)) best = {gain, key};
}

std::uint32_t pick_codes(const CodeRows& rows, const WordRecord* records, std::size_t n, const std::uint32_t* columns,
                         std::size_t n_columns, std::uint16_t* out) {
    std::uint32_t missing = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const std::uint16_t* const row = rows.codes + records[i].row * rows.stride;
        for (std::size_t k = 0; k < n_columns; ++k) {
            const std::uint16_t code = row[columns[k]];
            out[i * kSmallNodeFeatures + k] = code;
            missing |= std::uint32_t{code == 0} << k;
        }
    }
    return missing;
}

// Sums of 16 bits: what rows weigh and what they add stay below 2^8 (kMaxClassRows).
void sum_left(const std::uint16_t* codes, const SmallClassNode& rows, const std::uint16_t* cuts, std::uint32_t* out) {
    std::uint16_t left[kCuts] = {};
    std::uint16_t code[kCuts];
    std::copy_n(cuts, kCuts, code);
    for (std::size_t j = 0; j < rows.n; ++j) {
        const std::uint16_t other = codes[j];
        const std::uint16_t statistic = rows.statistic[j];
        for (std::size_t i = 0; i < kCuts; ++i)
            left[i] = static_cast<std::uint16_t>(left[i] + (other <= code[i] ? statistic : 0));
    }
    for (std::size_t i = 0; i < kCuts; ++i) out[i] = left[i];
}

SmallNodeCut cut_classes(std::uint16_t* codes, const SmallClassNode& rows) {
    // Behind the last row everything is on the left, which is no cut.
    std::fill(codes + rows.n, codes + (rows.n + kCuts - 1) / kCuts * kCuts, std::uint16_t{0xffff});
    SmallNodeCut best;
    for (std::size_t first = 0; first < rows.n; first += kCuts) {
        std::uint32_t left[kCuts];
        float gains[kCuts];
        std::uint32_t keys[kCuts];
        sum_left(codes, rows, codes + first, left);
        score_cuts(rows, codes + first, left, gains, keys);
        for (std::size_t i = 0; i < kCuts; ++i) take(gains[i], keys[i], best);
    }
    best.code ^= rows.salt;
    return best;
}

// What features that are not there hold is added and compared too, and left out at the end.
void cut_numbers(const SmallNodeCodes& codes, const SmallNumberNode& rows, SmallNodeCuts& cuts) {
    float best[kCuts];
    std::uint32_t best_key[kCuts] = {};
    std::fill_n(best, kCuts, -1.0f);
    for (std::size_t i = 0; i < rows.n; ++i) {
        std::int32_t code[kCuts];
        for (std::size_t k = 0; k < kCuts; ++k) code[k] = codes.codes[i * kCuts + k];
        std::uint32_t left[kCuts] = {};
        for (std::size_t j = 0; j < rows.n; ++j) {
            const std::uint16_t* const other = codes.codes + j * kCuts;
            const std::uint32_t statistic = rows.statistic[j];
            for (std::size_t k = 0; k < kCuts; ++k) left[k] += std::int32_t{other[k]} <= code[k] ? statistic : 0;
        }
        float gains[kCuts];
        std::uint32_t keys[kCuts];
        score_cuts(rows, codes.codes + i * kCuts, left, gains, keys);
        for (std::size_t k = 0; k < kCuts; ++k) {
            const bool better =
                (gains[k] > best[k]) |
                ((gains[k] == best[k]) & (static_cast<std::int32_t>(keys[k]) < static_cast<std::int32_t>(best_key[k])));
            best[k] = better ? gains[k] : best[k];
            best_key[k] = better ? keys[k] : best_key[k];
        }
    }
    for (std::size_t k = 0; k < codes.n_features; ++k) {
        cuts.gain[k] = best[k];
        cuts.code[k] = best_key[k] ^ rows.salt;
    }
}

}  // namespace

SmallNodeKernels small_node_kernels() {
    return {.pick_codes = pick_codes, .cut_classes = cut_classes, .cut_numbers = cut_numbers};
}

}  // namespace coterie::generic
