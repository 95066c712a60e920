// kernels/generic/few_rows.cpp: what the kernels of small nodes mean.
#include "coterie/kernels/few_rows.hpp"

namespace coterie::generic {
namespace {

template <class Word>
FewCut cut(const std::uint16_t* codes, const FewPays<Word>& rows) {
    FewCut best;
    for (std::size_t i = 0; i < rows.n; ++i) {
        std::uint32_t left = 0;
        for (std::size_t j = 0; j < rows.n; ++j) left += codes[j] <= codes[i] ? rows.pay[j] : 0u;
        const std::uint32_t weight = left & 0xff;
        if (weight == rows.weight) continue;
        const auto distance = static_cast<float>(static_cast<std::int32_t>((left >> 8) * rows.weight) -
                                                 static_cast<std::int32_t>(weight * rows.sum));
        const float gain = distance * distance / static_cast<float>(weight * (rows.weight - weight));
        const std::uint32_t key = codes[i] ^ rows.salt;
        if (gain > best.gain || (gain == best.gain && key < best.code)) best = {gain, key};
    }
    best.code ^= rows.salt;
    return best;
}

}  // namespace

FewCut cut_few_classes(std::uint16_t* codes, const FewClasses& rows) { return cut(codes, rows); }
FewCut cut_few_numbers(std::uint16_t* codes, const FewNumbers& rows) { return cut(codes, rows); }

}  // namespace coterie::generic
