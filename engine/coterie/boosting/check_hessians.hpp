// boosting/check_hessians.hpp: hessians must not be negative; a rounded one has no sign.
#pragma once

#include <span>

namespace coterie {

/// Throws InvalidInput with the first row whose hessian is negative.
void check_hessians(std::span<const float> hessian, int n_threads);

}  // namespace coterie
