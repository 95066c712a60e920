// tree/forest.hpp: finished trees whose predictions are added.
#pragma once

#include <algorithm>
#include <limits>
#include <memory>
#include <mutex>
#include <vector>

#include "coterie/tree/tree.hpp"

namespace coterie {

class CompiledForest;  // predict/compiled_forest.hpp

/// Where the form that predicts fastest is kept once it has been made. A copy begins without.
class CompiledSlot {
public:
    CompiledSlot() = default;
    CompiledSlot(const CompiledSlot&) {}
    CompiledSlot& operator=(const CompiledSlot&) {
        const std::lock_guard hold(lock_);
        compiled_.reset();
        return *this;
    }

    /// What is kept, if it is fresh; otherwise what `make` makes.
    template <class IsFresh, class Make>
    std::shared_ptr<const CompiledForest> get(IsFresh is_fresh, Make make) const {
        const std::lock_guard hold(lock_);
        if (compiled_ == nullptr || !is_fresh(*compiled_)) compiled_ = make();
        return compiled_;
    }

private:
    mutable std::mutex lock_;
    mutable std::shared_ptr<const CompiledForest> compiled_;
};

/// Some of the trees of a forest, one after the other.
struct TreeRange {
    std::size_t begin = 0;
    std::size_t end = std::numeric_limits<std::size_t>::max();  // cut to the number of trees

    std::size_t end_of(std::size_t n_trees) const { return std::min(end, n_trees); }
};

/// Trees over the same features. Tree i adds its prediction to outputs first_output[i], first_output[i] + 1, ...
struct Forest {
    std::size_t n_features = 0;
    std::uint32_t n_outputs = 1;
    std::vector<std::shared_ptr<const Tree>> trees;
    std::vector<std::uint32_t> first_output;
    CompiledSlot compiled = {};

    void add(std::shared_ptr<const Tree> tree, std::uint32_t output) {
        trees.push_back(std::move(tree));
        first_output.push_back(output);
    }
};

}  // namespace coterie
