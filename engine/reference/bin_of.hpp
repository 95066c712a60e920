// reference/bin_of.hpp: what the bin of a value means. Used by tests only.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "coterie/base/types.hpp"

namespace coterie::reference {

/// 0 if the value is missing, else one more than the number of cuts below it.
template <class Float>
Bin slow_bin(const std::vector<Float>& cuts, Float value) {
    if (std::isnan(value)) return kMissingBin;
    return static_cast<Bin>(1 + (std::lower_bound(cuts.begin(), cuts.end(), value) - cuts.begin()));
}

}  // namespace coterie::reference
