// bindings/bind_storage.cpp: forests as a few arrays that files hold, and forests that lie in such arrays.
#include <nanobind/stl/shared_ptr.h>

#include <cstring>
#include <numeric>

#include "arrays.hpp"
#include "bind.hpp"
#include "coterie/storage/coded_numbers.hpp"
#include "coterie/storage/forest_streams.hpp"
#include "coterie/storage/node_streams.hpp"
#include "coterie/tree/forest.hpp"

namespace coterie::python {
namespace {

nb::object code(const Column<std::uint8_t>& items, std::size_t item_size) {
    std::vector<std::uint8_t> coded;
    {
        const nb::gil_scoped_release unlock;
        coded = code_numbers(std::as_bytes(look(items)), item_size);
    }
    if (coded.empty()) return nb::none();
    return nb::cast(give(std::move(coded)));
}

void decode(const Column<std::uint8_t>& coded, std::size_t item_size, Output<std::uint8_t> items) {
    const std::span<std::uint8_t> out = look(items);
    const nb::gil_scoped_release unlock;
    decode_numbers(look(coded), item_size, std::as_writable_bytes(out));
}

/// A part of an array for each tree.
template <class T>
class Parts {
public:
    Parts(const nb::dict& arrays, const char* name) : name_(name), array_(column_of<T>(arrays, name)) {}

    std::span<const T> take(std::size_t n) {
        require(n <= array_.shape(0) - done_, std::string("There are too few entries in ") + name_ + ".");
        const std::span<const T> part(array_.data() + done_, n);
        done_ += n;
        return part;
    }
    std::vector<T> copy(std::size_t n) {
        const auto part = take(n);
        return {part.begin(), part.end()};
    }
    void expect_end() const {
        require(done_ == array_.shape(0), std::string("There are too many entries in ") + name_ + ".");
    }
    nb::object array() const { return array_.cast(); }

private:
    std::string name_;
    Column<T> array_;
    std::size_t done_ = 0;
};

Forest forest_of(std::vector<std::shared_ptr<const Tree>> trees, std::vector<std::uint32_t> first_output,
                 std::size_t n_features, std::uint32_t n_outputs) {
    require(n_outputs > 0, "A forest needs at least one output.");
    require(first_output.size() == trees.size(), "There must be a first output for each tree.");
    for (std::size_t i = 0; i < trees.size(); ++i)
        require(std::uint64_t{first_output[i]} + trees[i]->n_outputs <= n_outputs,
                "Tree " + std::to_string(i) + " would add to an output that the forest does not have.");
    Forest forest{.n_features = n_features, .n_outputs = n_outputs, .trees = {}, .first_output = {}};
    forest.trees = std::move(trees);
    forest.first_output = std::move(first_output);
    return forest;
}

nb::object streams_of_forest(const Forest& forest) {
    std::optional<ForestStreams> streams;
    {
        const nb::gil_scoped_release unlock;
        streams = streams_of(Trees(forest.trees));
    }
    if (!streams) return nb::none();
    nb::dict arrays;
    ForestStreams::for_each(
        [&](const char* name, auto& values) {
            if (!values.empty()) arrays[name] = give(std::move(values));
        },
        *streams);
    return arrays;
}

std::shared_ptr<Forest> forest_of_streams(const nb::dict& arrays, const Column<std::uint32_t>& first_output,
                                          std::size_t n_features, std::uint32_t n_outputs, int n_threads) {
    StreamViews streams;  // of arrays that the dict holds
    StreamViews::for_each(
        [&](const char* name, auto& view) {
            using T = typename std::remove_cvref_t<decltype(view)>::value_type;
            if (arrays.contains(name)) view = look(column_of<T>(arrays, name));
        },
        streams);
    std::vector<std::uint32_t> outputs(look(first_output).begin(), look(first_output).end());
    const nb::gil_scoped_release unlock;
    return std::make_shared<Forest>(
        forest_of(trees_of(streams, n_features, n_threads), std::move(outputs), n_features, n_outputs));
}

// Every array of every tree, as it is.
std::shared_ptr<Forest> forest_of_arrays(const nb::dict& arrays, std::size_t n_features, std::uint32_t n_outputs) {
    const auto first_output = copy_of<std::uint32_t>(arrays, "first_output");
    Parts<std::uint32_t> n_nodes(arrays, "n_feature"), n_outputs_of(arrays, "n_answers"), n_rows(arrays, "n_rows"),
        n_impurity(arrays, "n_impurity"), n_level_bits(arrays, "n_level_bits"),
        n_first_term(arrays, "n_linear_first_term"), n_base(arrays, "n_linear_base"), n_low(arrays, "n_linear_low"),
        n_high(arrays, "n_linear_high"), n_term(arrays, "n_linear_feature"), n_slope(arrays, "n_linear_slope"),
        n_centre(arrays, "n_linear_centre"), n_least(arrays, "n_linear_least"), n_most(arrays, "n_linear_most"),
        left(arrays, "left"), first_term(arrays, "linear_first_term");
    Parts<std::int32_t> feature(arrays, "feature"), levels(arrays, "levels"), term(arrays, "linear_feature");
    Parts<std::uint8_t> missing_left(arrays, "missing_left");
    Parts<std::uint64_t> level_bits(arrays, "level_bits");
    Parts<double> threshold(arrays, "threshold"), value(arrays, "value"), gain(arrays, "gain"), cover(arrays, "cover"),
        impurity(arrays, "impurity"), base(arrays, "linear_base"), low(arrays, "linear_low"),
        high(arrays, "linear_high"), slope(arrays, "linear_slope"), centre(arrays, "linear_centre"),
        least(arrays, "linear_least"), most(arrays, "linear_most");
    std::vector<std::shared_ptr<const Tree>> trees;
    for (std::size_t i = 0; i < first_output.size(); ++i) {
        try {
            const std::size_t n = n_nodes.take(1)[0];
            auto tree = std::make_shared<Tree>();
            tree->n_outputs = n_outputs_of.take(1)[0];
            tree->feature = feature.copy(n);
            tree->threshold = threshold.copy(n);
            tree->levels = levels.copy(n);
            tree->missing_left = missing_left.copy(n);
            tree->left = left.copy(n);
            tree->value = value.copy(n * tree->n_outputs);
            tree->gain = gain.copy(n);
            tree->cover = cover.copy(n);
            tree->n_rows = n_rows.copy(n);
            tree->impurity = impurity.copy(n_impurity.take(1)[0]);
            tree->level_bits = level_bits.copy(n_level_bits.take(1)[0]);
            tree->linear = {.first_term = first_term.copy(n_first_term.take(1)[0]),
                            .base = base.copy(n_base.take(1)[0]),
                            .low = low.copy(n_low.take(1)[0]),
                            .high = high.copy(n_high.take(1)[0]),
                            .feature = term.copy(n_term.take(1)[0]),
                            .slope = slope.copy(n_slope.take(1)[0]),
                            .centre = centre.copy(n_centre.take(1)[0]),
                            .least = least.copy(n_least.take(1)[0]),
                            .most = most.copy(n_most.take(1)[0])};
            validate(*tree, n_features);
            trees.push_back(std::move(tree));
        } catch (const InvalidInput& error) {
            throw InvalidInput("Tree " + std::to_string(i) + ": " + error.what());
        }
    }
    for (const auto* parts : {&n_nodes, &n_outputs_of, &n_rows, &n_impurity, &n_level_bits, &n_first_term, &n_base,
                              &n_low, &n_high, &n_term, &n_slope, &n_centre, &n_least, &n_most, &left, &first_term})
        parts->expect_end();
    for (const auto* parts : {&feature, &levels, &term}) parts->expect_end();
    for (const auto* parts :
         {&threshold, &value, &gain, &cover, &impurity, &base, &low, &high, &slope, &centre, &least, &most})
        parts->expect_end();
    missing_left.expect_end();
    level_bits.expect_end();
    return std::make_shared<Forest>(forest_of(std::move(trees), first_output, n_features, n_outputs));
}

nb::object words_of(const PackedForest& forest) {
    std::vector<std::uint32_t> words;
    for (const TreeGroup& group : forest.groups)
        for (const auto& tree : group.trees) {
            const std::size_t first = words.size();
            words.resize(first + 3 * tree->nodes.size());
            std::memcpy(words.data() + first, tree->nodes.data(), tree->nodes.size() * sizeof(PackedNode));
        }
    const std::size_t n = words.size() / 3;
    return nb::cast(give(std::move(words), {n, 3}));
}

nb::dict arrays_of_packed(const PackedForest& forest, bool compact) {
    std::vector<std::uint32_t> n_group_trees, n_thresholds, n_nodes, n_leaf_values, n_rows;
    std::vector<double> thresholds, leaf_values, weight;
    std::vector<std::uint16_t> ranks;
    for (const TreeGroup& group : forest.groups) {
        n_group_trees.push_back(static_cast<std::uint32_t>(group.trees.size()));
        for (const auto& own : group.thresholds) {
            n_thresholds.push_back(static_cast<std::uint32_t>(own.size()));
            thresholds.insert(thresholds.end(), own.begin(), own.end());
        }
        for (const auto& tree : group.trees) {
            n_nodes.push_back(static_cast<std::uint32_t>(tree->nodes.size()));
            n_leaf_values.push_back(static_cast<std::uint32_t>(tree->leaf_values.size()));
            leaf_values.insert(leaf_values.end(), tree->leaf_values.begin(), tree->leaf_values.end());
            ranks.insert(ranks.end(), tree->ranks.begin(), tree->ranks.end());
            weight.push_back(tree->weight);
            n_rows.push_back(tree->n_rows);
        }
    }
    nb::dict arrays;
    arrays["n_grove_trees"] = give(std::move(n_group_trees));
    arrays["n_thresholds"] = give(std::move(n_thresholds));
    arrays["n_nodes"] = give(std::move(n_nodes));
    arrays["n_answers"] = give(std::move(n_leaf_values));
    arrays["n_rows"] = give(std::move(n_rows));
    arrays["thresholds"] = give(std::move(thresholds));
    arrays["answers"] = give(std::move(leaf_values));
    arrays["weight"] = give(std::move(weight));
    arrays["ranks"] = give(std::move(ranks));
    arrays["n_levels"] = give(std::vector<std::int32_t>(forest.n_levels));
    std::optional<NodeStreams> streams = compact ? streams_of(forest) : std::nullopt;
    if (!streams) {
        arrays["nodes"] = words_of(forest);
        return arrays;
    }
    arrays["is_split"] = give(std::move(streams->is_split));
    if (!streams->pair.empty()) arrays["pair"] = give(std::move(streams->pair));
    arrays["feature"] = give(std::move(streams->feature));
    arrays["missing_right"] = give(std::move(streams->missing_right));
    arrays["code"] = give(std::move(streams->code));
    arrays["share"] = give(std::move(streams->share));
    arrays["answer"] = give(std::move(streams->leaf_value));
    return arrays;
}

/// The nodes of all trees: those of an array, where they stay, or those that streams make.
Array<PackedNode> nodes_of_arrays(const nb::dict& arrays, std::span<const std::uint32_t> n_nodes,
                                  const std::vector<std::int32_t>& n_levels) {
    if (arrays.contains("nodes")) {
        using Words = nb::ndarray<const std::uint32_t, nb::shape<-1, 3>, nb::c_contig, nb::device::cpu>;
        Words words;
        require(nb::try_cast(arrays["nodes"], words), "The array 'nodes' is not three words a node.");
        const std::span<const PackedNode> nodes(reinterpret_cast<const PackedNode*>(words.data()), words.shape(0));
        return {nodes, keep(nb::borrow(arrays["nodes"]))};
    }
    NodeStreams streams{.is_split = copy_of<std::uint8_t>(arrays, "is_split"),
                        .pair = {},
                        .feature = copy_of<std::uint32_t>(arrays, "feature"),
                        .missing_right = copy_of<std::uint8_t>(arrays, "missing_right"),
                        .code = copy_of<std::uint16_t>(arrays, "code"),
                        .share = copy_of<std::uint16_t>(arrays, "share"),
                        .leaf_value = copy_of<std::uint32_t>(arrays, "answer")};
    if (arrays.contains("pair")) streams.pair = copy_of<std::uint32_t>(arrays, "pair");
    const nb::gil_scoped_release unlock;
    auto nodes = std::make_shared<std::vector<PackedNode>>(nodes_of(streams, n_nodes, n_levels));
    return {std::span<const PackedNode>(*nodes), nodes};
}

std::shared_ptr<PackedForest> packed_of_arrays(const nb::dict& arrays, std::uint32_t n_columns, bool look_later) {
    auto forest = std::make_shared<PackedForest>(copy_of<std::int32_t>(arrays, "n_levels"), n_columns);
    for (const std::int32_t n : forest->n_levels)
        require(n >= 0 && n < std::numeric_limits<std::uint16_t>::max(),
                "A feature has an impossible number of levels.");
    const auto n_nodes = copy_of<std::uint32_t>(arrays, "n_nodes");
    const std::size_t n_ranks = forest->n_ranks();
    const Array<PackedNode> nodes = nodes_of_arrays(arrays, n_nodes, forest->n_levels);
    Parts<std::uint32_t> n_group_trees(arrays, "n_grove_trees"), n_thresholds(arrays, "n_thresholds"),
        n_leaf_values(arrays, "n_answers"), n_rows(arrays, "n_rows");
    Parts<double> thresholds(arrays, "thresholds"), leaf_values(arrays, "answers"), weight(arrays, "weight");
    Parts<std::uint16_t> ranks(arrays, "ranks");
    const auto keeper = keep(nb::borrow(arrays));
    const auto node_keeper = std::make_shared<Array<PackedNode>>(nodes);
    const std::size_t n_groups = column_of<std::uint32_t>(arrays, "n_grove_trees").shape(0);
    std::size_t tree = 0;
    std::size_t first_node = 0;
    for (std::size_t i = 0; i < n_groups; ++i) {
        TreeGroup& group = forest->groups.emplace_back();
        group.sound = SoundMark(!look_later);
        for (const std::uint32_t n : n_thresholds.take(forest->n_features))
            group.thresholds.push_back({thresholds.take(n), keeper});
        const std::size_t n_trees = n_group_trees.take(1)[0];
        for (std::size_t j = 0; j < n_trees; ++j, ++tree) {
            require(tree < n_nodes.size() && n_nodes[tree] <= nodes.size() - first_node,
                    "Tree " + std::to_string(tree) + " has nodes that are not there.");
            PackedTree own{.nodes = {nodes.view().subspan(first_node, n_nodes[tree]), node_keeper},
                           .leaf_values = {leaf_values.take(n_leaf_values.take(1)[0]), keeper},
                           .ranks = {ranks.take(n_ranks), keeper},
                           .weight = weight.take(1)[0],
                           .n_rows = n_rows.take(1)[0],
                           .sound = SoundMark(!look_later)};
            group.trees.push_back(std::make_shared<PackedTree>(std::move(own)));
            first_node += n_nodes[tree];
        }
    }
    require(tree == n_nodes.size() && first_node == nodes.size(), "There are nodes that belong to no tree.");
    n_thresholds.expect_end();
    n_leaf_values.expect_end();
    n_rows.expect_end();
    thresholds.expect_end();
    leaf_values.expect_end();
    weight.expect_end();
    ranks.expect_end();
    const nb::gil_scoped_release unlock;
    if (look_later)
        validate_lengths(*forest);
    else
        validate(*forest);
    return forest;
}

}  // namespace

void bind_storage(nb::module_& m) {
    m.def("code_numbers", &code, nb::arg("items").noconvert(), nb::arg("item_size"),
          nb::sig("def code_numbers(items: numpy.typing.NDArray[numpy.uint8], item_size: int) -> "
                  "numpy.typing.NDArray[numpy.uint8] | None"),
          "The bytes of an array in fewer bytes, or None if they do not become clearly fewer.");
    m.def("decode_numbers", &decode, nb::arg("coded").noconvert(), nb::arg("item_size"), nb::arg("items").noconvert(),
          "Fills `items` with the bytes that were coded.");
    m.def("forest_streams", &streams_of_forest, nb::arg("forest"),
          nb::sig("def forest_streams(forest: Forest) -> dict | None"),
          "Arrays by name that become short when they are coded, or None if a leaf holds what only splits need.");
    m.def("forest_of_streams", &forest_of_streams, nb::arg("arrays"), nb::arg("first_output"), nb::arg("n_features"),
          nb::arg("n_outputs"), nb::arg("n_threads"), "The forest of such arrays, after checking everything.");
    m.def("forest_of_arrays", &forest_of_arrays, nb::arg("arrays"), nb::arg("n_features"), nb::arg("n_outputs"),
          "A forest from the arrays of its trees, one after the other, after checking everything.");
    m.def("packed_arrays", &arrays_of_packed, nb::arg("forest"), nb::arg("compact"),
          "Arrays by name: compact ones, or the nodes as the engine has them in its memory.");
    m.def("packed_of_arrays", &packed_of_arrays, nb::arg("arrays"), nb::arg("n_columns"), nb::arg("look_later"),
          "The forest of such arrays, which it keeps. It checks every tree now, or each one when it is used first.");
}

}  // namespace coterie::python
