// storage/tree_reader.hpp: makes the trees of streams (forest_streams.hpp), one after the other.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "coterie/base/error.hpp"
#include "coterie/storage/expected_numbers.hpp"
#include "coterie/storage/forest_streams.hpp"
#include "coterie/tree/tree.hpp"

namespace coterie {

/// Takes a stream from the front, tree after tree.
template <class T>
class StreamReader {
public:
    StreamReader(std::span<const T> all, const char* name) : left_(all), name_(name) {}

    std::span<const T> take(std::size_t n) {
        require(n <= left_.size(), std::string("There are too few entries in ") + name_ + ".");
        const auto taken = left_.first(n);
        left_ = left_.subspan(n);
        return taken;
    }
    std::vector<T> take_own(std::size_t n) {
        const auto taken = take(n);
        return {taken.begin(), taken.end()};
    }
    void expect_end() const { require(left_.empty(), std::string("There are too many entries in ") + name_ + "."); }

private:
    std::span<const T> left_;
    const char* name_;
};

/// The streams outlive the reader; a copy goes on from the same tree.
class TreeReader {
public:
    TreeReader(const StreamViews& streams, std::size_t n_features);

    std::shared_ptr<const Tree> next(std::size_t index);

    /// Goes past a tree that another reader makes, and checks.
    void pass(std::size_t index);

    void expect_end() const;

private:
    static std::size_t count(std::span<const std::uint32_t> counts, std::size_t index) {
        return counts.empty() ? 0 : counts[index];
    }

    /// Finds out which nodes are splits and which are leaves, and how many are splits.
    std::size_t read_kinds(std::size_t n);

    void read_children(Tree& tree, std::size_t n);
    void read_splits(Tree& tree, std::size_t n);
    void read_numbers(Tree& tree, const TreeRule& rule);
    void read_leaf_numbers(Tree& tree, const TreeRule& rule, std::span<const double> value);
    void read_split_numbers(Tree& tree, const TreeRule& rule, std::span<const std::uint64_t> value_more);
    void read_extras(Tree& tree, std::size_t index);

    const StreamViews& s_;
    std::size_t n_features_;
    std::vector<std::size_t> first_cut_;
    // of the tree that is being read
    std::span<const std::uint8_t> is_split_now_;
    std::vector<NodeIndex> splits_;
    std::vector<NodeIndex> leaves_;
    std::vector<std::uint64_t> whole_;  // covers in units

    StreamReader<std::uint8_t> is_split_{s_.is_split, "is_split"};
    StreamReader<std::uint32_t> pair_{s_.pair, "pair"};
    StreamReader<std::uint32_t> feature_{s_.feature, "feature"};
    StreamReader<std::uint32_t> cut_{s_.cut, "cut"};
    StreamReader<std::int32_t> levels_{s_.levels, "levels"};
    StreamReader<std::uint8_t> missing_left_{s_.missing_left, "missing_left"};
    StreamReader<std::uint32_t> rows_more_{s_.rows_more, "rows_more"};
    StreamReader<std::uint64_t> cover_more_{s_.cover_more, "cover_more"};
    StreamReader<std::uint64_t> value_more_{s_.value_more, "value_more"};
    StreamReader<std::uint64_t> gain_more_{s_.gain_more, "gain_more"};
    StreamReader<std::uint32_t> leaf_rows_{s_.leaf_rows, "leaf_rows"};
    StreamReader<std::uint64_t> leaf_cover_{s_.leaf_cover, "leaf_cover"};
    StreamReader<double> leaf_value_{s_.leaf_value, "leaf_value"};
    StreamReader<double> impurity_{s_.impurity, "impurity"};
    StreamReader<std::uint64_t> level_bits_{s_.level_bits, "level_bits"};
    StreamReader<std::uint32_t> first_term_{s_.first_term, "first_term"};
    StreamReader<double> base_{s_.base, "base"};
    StreamReader<double> low_{s_.low, "low"};
    StreamReader<double> high_{s_.high, "high"};
    StreamReader<std::int32_t> term_feature_{s_.term_feature, "term_feature"};
    StreamReader<double> slope_{s_.slope, "slope"};
    StreamReader<double> centre_{s_.centre, "centre"};
    StreamReader<double> least_{s_.least, "least"};
    StreamReader<double> most_{s_.most, "most"};
};

}  // namespace coterie
