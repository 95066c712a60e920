// forest/bag.hpp: which rows each tree of a forest sees, and how often.
//
// Words
//   place    a row's position in the forest's own order, by targets and then by a hash of what the row holds
//   copy     a row of weight w stands for w rows, rounded up, at most kMaxCopies; each copy can be drawn
//   slot     a copy's position on the line of all copies
//   stratum  rows of the same class, next to each other on the line
//
// Draws are about slots, and slots follow from what rows hold. So a row of weight 2 is drawn as the same row given
// twice would be, in any order of the table.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "coterie/base/types.hpp"

namespace coterie {

enum class BagKind : std::uint8_t {
    all,        // every row once
    bootstrap,  // n_draws copies, with replacement
    subsample,  // n_draws copies, each at most once
    balanced,   // a bootstrap of n_draws copies in each stratum
    partition,  // parts of about n_draws copies that do not overlap, then new parts
};

inline constexpr std::uint32_t kMaxCopies = 64;

class BagDrawer {
public:
    /// `weight` is empty or positive, one per place; `stratum_end` holds the place after the last of each stratum.
    BagDrawer(BagKind kind, std::size_t n_places, std::span<const double> weight, std::vector<std::size_t> stratum_end,
              double share, std::size_t most_draws, std::uint64_t seed);

    std::size_t n_slots() const { return n_slots_; }
    std::size_t n_draws() const { return n_draws_; }

    /// How often the tree draws each place.
    void draw(std::uint64_t tree, std::span<std::uint16_t> counts) const;

    /// What one draw of a place weighs.
    double unit(std::size_t place) const { return unit_.empty() ? 1.0 : unit_[place]; }

private:
    static constexpr std::size_t kGuideStep = 8;

    std::size_t place_of(std::size_t slot) const;
    void add_draws(std::uint64_t seed, std::size_t begin, std::size_t end, std::size_t n_draws,
                   std::span<std::uint16_t> counts) const;
    void add_part(std::uint64_t seed, std::size_t part, std::span<std::uint16_t> counts) const;

    BagKind kind_;
    std::size_t n_places_;
    std::size_t n_slots_;
    std::size_t n_draws_ = 1;
    std::size_t n_parts_ = 1;
    std::uint64_t seed_;
    std::vector<std::size_t> stratum_end_;  // in places
    std::vector<std::size_t> first_slot_;   // per place and one more; empty if every place has one slot
    std::vector<RowIndex> guide_;           // the place of every kGuideStep-th slot
    std::vector<double> unit_;
};

}  // namespace coterie
