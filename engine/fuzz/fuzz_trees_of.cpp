// Any streams are valid trees or are refused; valid trees can be followed, and are the same after writing and reading
// them again.
#include "coterie/base/error.hpp"
#include "tree_arguments.hpp"

namespace {

using namespace coterie;

void follow(const Tree& tree) {
    for (NodeIndex node = 0; !tree.is_leaf(node);) {
        fuzz::expect(tree.left[node] > node && tree.left[node] + 1 < tree.n_nodes());
        node = tree.left[node] + (bool{tree.missing_left[node] != 0} ? 0 : 1);
    }
}

bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
    return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0);
}

void expect_same(const Tree& a, const Tree& b) {
    fuzz::expect(a.feature == b.feature && a.left == b.left && a.levels == b.levels && a.n_rows == b.n_rows);
    fuzz::expect(same_bits(a.threshold, b.threshold) && same_bits(a.value, b.value) && same_bits(a.gain, b.gain));
    fuzz::expect(same_bits(a.cover, b.cover) && same_bits(a.impurity, b.impurity));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto arguments = fuzz::TreesArguments::read(fuzz::ByteReader({data, size}));
    std::vector<std::shared_ptr<const Tree>> trees;
    try {
        trees = trees_of(views_of(arguments.streams), arguments.n_features);
    } catch (const InvalidInput&) {
        return 0;
    }
    for (const auto& tree : trees) follow(*tree);
    const auto streams = streams_of(Trees(trees));
    fuzz::expect(streams.has_value());
    const auto again = trees_of(views_of(*streams), arguments.n_features);
    fuzz::expect(again.size() == trees.size());
    for (std::size_t i = 0; i < trees.size(); ++i) expect_same(*trees[i], *again[i]);
    return 0;
}
