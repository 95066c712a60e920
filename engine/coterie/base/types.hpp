// base/types.hpp: the engine's integers, each with a name.
#pragma once

#include <cstddef>
#include <cstdint>

namespace coterie {

using RowIndex = std::uint32_t;      // a row of the table; tables hold fewer than 2^32 rows
using FeatureIndex = std::uint32_t;  // a feature: what the trees see of a column
using NodeIndex = std::uint32_t;     // a node of one tree, root at 0
using Bin = std::uint8_t;            // what a value became; 0 is the missing bin

inline constexpr Bin kMissingBin = 0;
inline constexpr int kMaxBins = 256;  // with the missing bin

}  // namespace coterie
