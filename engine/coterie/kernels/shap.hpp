// kernels/shap.hpp: SHAP values of one tree and one row.
#pragma once

#include <cstddef>
#include <cstdint>

namespace coterie {

/// Where integrals over [0, 1] are read, and what each point weighs (Gauss and Legendre).
struct ShapPoints {
    std::size_t n = 0;  // 4, 8, 16 or 32
    const double* at = nullptr;
    const double* weight = nullptr;
};

/// A tree as SHAP values see it. Nodes come after their parents; entries of the root are not read.
///
/// The *share* of a node is what part of the training rows takes every split of its feature on the path to it, among
/// those that reach the split; the share before is that without the last split on this feature, 1 if there was no
/// other. The *way* of a row at a node: 0 if it takes every split of the feature so far, 1 if the last one is the first
/// that it does not take, 2 if it failed earlier.
struct ShapTree {
    std::size_t n_nodes = 0;
    std::size_t n_outputs = 1;
    std::size_t n_features = 0;  // that it splits on
    ShapPoints points;
    const std::uint32_t* parent = nullptr;
    const std::uint32_t* feature = nullptr;  // that the parent splits on, counted among those of this tree
    const double* share = nullptr;
    const double* share_before = nullptr;
    const double* value = nullptr;   // n_outputs per node, zeros inside the tree
    const double* ratio = nullptr;   // for nodes, ways and points, or null
    const double* factor = nullptr;  // the same
    std::size_t n_leaves = 0;        // from here on for interactions only
    const std::uint32_t* leaf = nullptr;
    const std::uint32_t* path = nullptr;  // of a leaf: for each feature the last node whose parent splits on it
    const std::size_t* first_of_path = nullptr;
};

struct ShapKernels {
    // Everything that depends on node, way and point: 3 * points numbers per node in each table.
    void (*tables)(const ShapTree& tree, double* ratio, double* factor);
    // SHAP values of one row in one tree: adds to sums[(output * n_features + feature) * points + point]. `ways` has an
    // entry per node; scratch has room for two numbers per node and point.
    void (*row)(const ShapTree& tree, const std::uint8_t* ways, double* scratch, double* sums);
    // And interactions: adds to sums[(output * n_features + a) * n_features + b] for a > b. Scratch has room for a
    // number per node and point, and one per feature and point.
    void (*interactions)(const ShapTree& tree, const std::uint8_t* ways, double* scratch, double* sums);
};

namespace generic {
ShapKernels shap_kernels();
}
namespace avx2 {
ShapKernels shap_kernels();
}

}  // namespace coterie
