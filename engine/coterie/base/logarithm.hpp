// base/logarithm.hpp: a logarithm with the same bits on every machine, which those of the C libraries do not have.
#pragma once

namespace coterie {

/// The natural logarithm, wrong by at most 0.52 units of the last place; -infinity of zero, NaN below it.
double logarithm(double x);

}  // namespace coterie
