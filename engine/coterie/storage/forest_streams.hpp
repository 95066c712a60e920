// storage/forest_streams.hpp: trees as arrays that code_numbers makes short, and the same trees again.
//
// Words
//   stream  one kind of number of all trees, tree after tree: of nodes, of splits, of leaves, or of trees
//   more    what a number of a split is more than its two children let us expect; 0, or little, if the tree was grown
//   in
//           the usual way, and any 64 bits otherwise. Of doubles it counts the doubles between the two
//   unit    what the covers of a tree are multiples of, since they are sums of whole numbers; 0 if they are not
//
// What can be expected of a split whose children have the values l and r, and cover L and R:
//   cover   L + R
//   value   (l (L + l2) + r (R + l2)) / (cover + l2)
//   gain    gain_scale (l l (L + l2) + r r (R + l2) - value value (cover + l2))
// l2 and gain_scale are found from the tree itself, and stored with it. Nothing depends on whether they are right.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "coterie/tree/tree.hpp"

namespace coterie {

/// The streams of trees. `Held` is what a stream is held in: a vector when they are made, a span when they are read.
template <template <class> class Held>
struct StreamsIn {
    // trees
    Held<std::uint32_t> n_nodes;
    Held<std::uint32_t> n_outputs;
    Held<double> unit;
    Held<double> l2;
    Held<double> gain_scale;
    // nodes
    Held<std::uint8_t> is_split;
    // splits
    Held<std::uint32_t> pair;     // of children: (left - 1) / 2; empty if all trees are numbered depth first
    Held<std::uint32_t> feature;  // its position in `features`
    Held<std::uint32_t> cut;      // the position of the threshold among the cuts of the feature
    Held<std::int32_t> levels;
    Held<std::uint8_t> missing_left;
    Held<std::uint32_t> rows_more;
    Held<std::uint64_t> cover_more;
    Held<std::uint64_t> value_more;  // n_outputs per split
    Held<std::uint64_t> gain_more;
    // leaves
    Held<std::uint32_t> leaf_rows;
    Held<std::uint64_t> leaf_cover;  // in units, or the bits of a double
    Held<double> leaf_value;         // n_outputs per leaf
    // features with splits
    Held<std::uint32_t> features;
    Held<std::uint32_t> n_cuts;
    Held<double> cuts;  // by their bits
    // what few trees have
    Held<std::uint32_t> n_impurity;
    Held<double> impurity;
    Held<std::uint32_t> n_level_bits;
    Held<std::uint64_t> level_bits;
    Held<std::uint32_t> n_first_term;
    Held<std::uint32_t> first_term;
    Held<double> base;
    Held<double> low;
    Held<double> high;
    Held<std::uint32_t> n_terms;
    Held<std::int32_t> term_feature;
    Held<double> slope;
    Held<double> centre;
    Held<double> least;
    Held<double> most;

    /// Calls visit(name, stream of each) for every stream.
    template <class Visit, class... Streams>
    static void for_each(Visit visit, Streams&... streams);
};

template <class T>
using StreamVector = std::vector<T>;
template <class T>
using StreamView = std::span<const T>;
using ForestStreams = StreamsIn<StreamVector>;
using StreamViews = StreamsIn<StreamView>;

using Trees = std::span<const std::shared_ptr<const Tree>>;

/// Nothing if a leaf holds what only splits need: such trees are stored as they are.
std::optional<ForestStreams> streams_of(Trees trees);

StreamViews views_of(const ForestStreams& streams);

/// The trees. Throws InvalidInput, which says in which tree, unless lengths agree and every tree is valid.
std::vector<std::shared_ptr<const Tree>> trees_of(const StreamViews& streams, std::size_t n_features,
                                                  int n_threads = 1);

template <template <class> class Held>
template <class Visit, class... Streams>
void StreamsIn<Held>::for_each(Visit visit, Streams&... s) {
    visit("n_nodes", s.n_nodes...);
    visit("n_outputs_of_tree", s.n_outputs...);
    visit("unit", s.unit...);
    visit("l2", s.l2...);
    visit("gain_scale", s.gain_scale...);
    visit("is_split", s.is_split...);
    visit("pair", s.pair...);
    visit("feature", s.feature...);
    visit("cut", s.cut...);
    visit("levels", s.levels...);
    visit("missing_left", s.missing_left...);
    visit("rows_more", s.rows_more...);
    visit("cover_more", s.cover_more...);
    visit("value_more", s.value_more...);
    visit("gain_more", s.gain_more...);
    visit("leaf_rows", s.leaf_rows...);
    visit("leaf_cover", s.leaf_cover...);
    visit("leaf_value", s.leaf_value...);
    visit("features", s.features...);
    visit("n_cuts", s.n_cuts...);
    visit("cuts", s.cuts...);
    visit("n_impurity", s.n_impurity...);
    visit("impurity", s.impurity...);
    visit("n_level_bits", s.n_level_bits...);
    visit("level_bits", s.level_bits...);
    visit("n_first_term", s.n_first_term...);
    visit("first_term", s.first_term...);
    visit("base", s.base...);
    visit("low", s.low...);
    visit("high", s.high...);
    visit("n_terms", s.n_terms...);
    visit("term_feature", s.term_feature...);
    visit("slope", s.slope...);
    visit("centre", s.centre...);
    visit("least", s.least...);
    visit("most", s.most...);
}

}  // namespace coterie
