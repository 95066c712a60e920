#include "coterie/tree/join.hpp"

#include "coterie/base/error.hpp"

namespace coterie {
namespace {

bool same_splits(const Tree& a, const Tree& b) {
    return a.feature == b.feature && a.left == b.left && a.threshold == b.threshold && a.levels == b.levels &&
           a.missing_left == b.missing_left && a.level_bits == b.level_bits;
}

}  // namespace

Tree joined(std::span<const std::shared_ptr<const Tree>> trees) {
    require(!trees.empty(), "There is no tree to join.");
    Tree whole = *trees[0];
    std::uint32_t n_outputs = 0;
    for (const auto& tree : trees) {
        require(same_splits(whole, *tree), "Only trees with the same splits can be joined.");
        require(tree->linear.empty(), "Trees with lines in their leaves cannot be joined.");
        n_outputs += tree->n_outputs;
    }
    whole.n_outputs = n_outputs;
    whole.value.clear();
    whole.value.reserve(whole.n_nodes() * n_outputs);
    for (NodeIndex node = 0; node < whole.n_nodes(); ++node)
        for (const auto& tree : trees) {
            const std::span<const double> own = tree->values_of(node);
            whole.value.insert(whole.value.end(), own.begin(), own.end());
        }
    for (const auto& tree : trees.subspan(1))
        for (std::size_t node = 0; node < whole.n_nodes(); ++node) whole.gain[node] += tree->gain[node];
    return whole;
}

}  // namespace coterie
