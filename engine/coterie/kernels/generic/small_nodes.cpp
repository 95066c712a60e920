// kernels/generic/small_nodes.cpp: what the kernels of small nodes mean.
#include "coterie/kernels/small_nodes.hpp"

namespace coterie::generic {
namespace {

// Codes are `stride` apart.
template <class Word>
FewCut cut(const std::uint16_t* codes, std::size_t stride, const FewPays<Word>& rows) {
    FewCut best;
    for (std::size_t i = 0; i < rows.n; ++i) {
        const std::uint16_t code = codes[i * stride];
        std::uint32_t left = 0;
        for (std::size_t j = 0; j < rows.n; ++j) left += codes[j * stride] <= code ? rows.pay[j] : 0u;
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
        for (std::size_t lane = 0; lane < n_columns; ++lane) {
            const std::uint16_t code = row[columns[lane]];
            out[i * kFewLanes + lane] = code;
            missing |= std::uint32_t{code == 0} << lane;
        }
    }
    return missing;
}

FewCut cut_few_classes(std::uint16_t* codes, const FewClasses& rows) { return cut(codes, 1, rows); }

void cut_few_numbers(const FewCodes& codes, const FewNumbers& rows, FewCuts& cuts) {
    for (std::size_t lane = 0; lane < codes.n_features; ++lane) {
        const FewCut best = cut(codes.codes + lane, kFewLanes, rows);
        cuts.gain[lane] = best.gain;
        cuts.code[lane] = best.code;
    }
}

}  // namespace

SmallNodeKernels small_node_kernels() {
    return {.pick_codes = pick_codes, .cut_classes = cut_few_classes, .cut_numbers = cut_few_numbers};
}

}  // namespace coterie::generic
