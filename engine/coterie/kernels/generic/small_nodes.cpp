// kernels/generic/small_nodes.cpp: what the kernels of small nodes mean.
#include "coterie/kernels/small_nodes.hpp"

namespace coterie::generic {
namespace {

// Codes are `stride` apart.
template <class Word>
SmallNodeCut cut(const std::uint16_t* codes, std::size_t stride, const SmallNode<Word>& rows) {
    SmallNodeCut best;
    for (std::size_t i = 0; i < rows.n; ++i) {
        const std::uint16_t code = codes[i * stride];
        std::uint32_t left = 0;
        for (std::size_t j = 0; j < rows.n; ++j) left += codes[j * stride] <= code ? rows.statistic[j] : 0u;
        const std::uint32_t weight = left & 0xff;
        if (weight == rows.weight) continue;
        const auto distance = static_cast<float>(static_cast<std::int32_t>((left >> 8) * rows.weight) -
                                                 static_cast<std::int32_t>(weight * rows.sum));
        const float gain = distance * distance / static_cast<float>(weight * (rows.weight - weight));
        const std::uint32_t key = code ^ rows.salt;
        if (gain > best.gain || (gain == best.gain && key < best.code)) best = {gain, key};
    }
    best.code ^= rows.salt;
    return best;
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

SmallNodeCut cut_classes(std::uint16_t* codes, const SmallClassNode& rows) { return cut(codes, 1, rows); }

void cut_numbers(const SmallNodeCodes& codes, const SmallNumberNode& rows, SmallNodeCuts& cuts) {
    for (std::size_t k = 0; k < codes.n_features; ++k) {
        const SmallNodeCut best = cut(codes.codes + k, kSmallNodeFeatures, rows);
        cuts.gain[k] = best.gain;
        cuts.code[k] = best.code;
    }
}

}  // namespace

SmallNodeKernels small_node_kernels() {
    return {.pick_codes = pick_codes, .cut_classes = cut_classes, .cut_numbers = cut_numbers};
}

}  // namespace coterie::generic
