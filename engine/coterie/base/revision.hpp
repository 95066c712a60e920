// base/revision.hpp: which models the engine makes.
#pragma once

namespace coterie {

/// Goes up by one with every change after which the same table, options and seed give other bits. What is half done by
/// one revision is not continued by another: neither the fit of a checkpoint, nor that of several workers.
inline constexpr int kRevision = 4;

}  // namespace coterie
