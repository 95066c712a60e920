// tree/join.hpp: trees that differ in their values only, as one tree with the outputs of all.
#pragma once

#include <memory>
#include <span>

#include "coterie/tree/tree.hpp"

namespace coterie {

/// One tree with the outputs of all the given ones, which have the same splits and no lines. Gains are added up; covers
/// and numbers of rows are those of the first.
Tree joined(std::span<const std::shared_ptr<const Tree>> trees);

}  // namespace coterie
