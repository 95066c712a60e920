// tree/forest.hpp: finished trees that answer together.
#pragma once

#include <memory>
#include <vector>

#include "coterie/tree/tree.hpp"

namespace coterie {

/// Trees over the same features. Tree i adds its answer to outputs first_output[i], first_output[i] + 1, ...
struct Forest {
    std::size_t n_features = 0;
    std::uint32_t n_outputs = 1;
    std::vector<std::shared_ptr<const Tree>> trees;
    std::vector<std::uint32_t> first_output;

    void add(std::shared_ptr<const Tree> tree, std::uint32_t output) {
        trees.push_back(std::move(tree));
        first_output.push_back(output);
    }
};

}  // namespace coterie
