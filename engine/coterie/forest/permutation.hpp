// forest/permutation.hpp: what a feature is worth to each tree of a forest: how much the tree's error on the rows it
// did not see grows when the feature's values are permuted among them (Breiman 2001).
#pragma once

#include "coterie/forest/grow_forest.hpp"

namespace coterie {

/// One number for each tree of the group and each feature, row-major; 0 where the tree does not split on the feature.
/// The loss is the share of wrong classes or the squared error, averaged over outputs and n_repeats permutations.
std::vector<double> permutation_increases(const ForestMemory& memory, const PackedForest& forest,
                                          std::size_t first_tree, std::size_t n_trees, std::size_t n_repeats,
                                          std::uint64_t seed, int n_threads, StopRequest stop = {});

/// The leaves of the rows of the memory in one tree of the forest, by place.
std::vector<std::uint32_t> leaves_of_rows(const ForestMemory& memory, const PackedForest& forest, std::size_t tree,
                                          int n_threads);

}  // namespace coterie
