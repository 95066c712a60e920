#include "coterie/forest/bag.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "coterie/base/error.hpp"
#include "coterie/base/random.hpp"

namespace coterie {
namespace {

void count_one(std::uint16_t& count) {
    if (count < std::numeric_limits<std::uint16_t>::max()) ++count;
}

// A bijection of {0, ..., n - 1} without a table: four Feistel rounds on the next even power of two, walked until
// the result is inside.
class Shuffle {
public:
    Shuffle(std::uint64_t seed, std::size_t n) : seed_(seed), n_(n) {
        while (half_ < 31 && (std::uint64_t{1} << (2 * half_)) < n) ++half_;
    }
    std::size_t operator()(std::size_t position) const {
        std::uint64_t x = position;
        do x = once(x);
        while (x >= n_);
        return static_cast<std::size_t>(x);
    }

private:
    std::uint64_t once(std::uint64_t x) const {
        const std::uint64_t mask = (std::uint64_t{1} << half_) - 1;
        std::uint64_t high = x >> half_;
        std::uint64_t low = x & mask;
        for (std::uint64_t round = 0; round < 4; ++round) {
            const std::uint64_t next =
                high ^ (mix(seed_ + round * 0x9e3779b97f4a7c15ull + low * 0xd1342543de82ef95ull) & mask);
            high = low;
            low = next;
        }
        return high << half_ | low;
    }

    std::uint64_t seed_;
    std::size_t n_;
    int half_ = 1;
};

}  // namespace

BagDrawer::BagDrawer(BagKind kind, std::size_t n_places, std::span<const double> weight,
                     std::vector<std::size_t> stratum_end, double share, std::size_t most_draws, std::uint64_t seed)
    : kind_(kind), n_places_(n_places), n_slots_(n_places), seed_(seed), stratum_end_(std::move(stratum_end)) {
    require(n_places > 0, "A forest needs at least one row with weight.");
    require(weight.empty() || weight.size() == n_places, "There must be one weight for each row.");
    require(share > 0.0 && share <= 1.0, "The share of rows to draw must be in (0, 1].");
    const bool ones = std::ranges::all_of(weight, [](double w) { return w == 1.0; });
    if (!ones) {
        first_slot_.assign(1, 0);
        for (const double w : weight) {
            const double copies = std::clamp(std::ceil(w), 1.0, static_cast<double>(kMaxCopies));
            first_slot_.push_back(first_slot_.back() + static_cast<std::size_t>(copies));
            unit_.push_back(w / copies);
        }
        n_slots_ = first_slot_.back();
    }
    const double drawn = std::round(share * static_cast<double>(n_slots_));
    n_draws_ = std::clamp<std::size_t>(static_cast<std::size_t>(drawn), 1, n_slots_);
    if (most_draws > 0) n_draws_ = std::min(most_draws, n_slots_);
    n_parts_ = (n_slots_ + n_draws_ / 2) / n_draws_;
    require(n_slots_ <= std::numeric_limits<std::uint32_t>::max(), "A forest takes rows of a total weight below 2^32.");
    if (first_slot_.empty()) return;
    for (std::size_t slot = 0, place = 0; slot < n_slots_; slot += kGuideStep) {
        while (first_slot_[place + 1] <= slot) ++place;
        guide_.push_back(static_cast<RowIndex>(place));
    }
}

std::size_t BagDrawer::place_of(std::size_t slot) const {
    if (first_slot_.empty()) return slot;
    std::size_t place = guide_[slot / kGuideStep];
    while (first_slot_[place + 1] <= slot) ++place;
    return place;
}

void BagDrawer::add_draws(std::uint64_t seed, std::size_t begin, std::size_t end, std::size_t n_draws,
                          std::span<std::uint16_t> counts) const {
    const std::uint64_t n = end - begin;
    for (std::size_t draw = 0; draw < n_draws; ++draw) {
        const std::uint64_t bits = mix(seed ^ (draw * 0xd1342543de82ef95ull + 0x2545f4914f6cdd1dull));
        const std::size_t slot = begin + static_cast<std::size_t>(((bits >> 32) * n) >> 32);
        count_one(counts[place_of(slot)]);
    }
}

void BagDrawer::add_part(std::uint64_t seed, std::size_t part, std::span<std::uint16_t> counts) const {
    const Shuffle shuffle(seed, n_slots_);
    const std::size_t n_parts = kind_ == BagKind::partition ? n_parts_ : 1;
    const std::size_t begin = part * n_slots_ / n_parts;
    const std::size_t end = kind_ == BagKind::partition ? (part + 1) * n_slots_ / n_parts : n_draws_;
    for (std::size_t position = begin; position < end; ++position) count_one(counts[place_of(shuffle(position))]);
}

void BagDrawer::draw(std::uint64_t tree, std::span<std::uint16_t> counts) const {
    require(counts.size() == n_places_, "There must be one count for each row.");
    std::ranges::fill(counts, std::uint16_t{0});
    const std::uint64_t seed = random_bits(seed_, Purpose::bootstrap, tree);
    switch (kind_) {
        case BagKind::all:
            for (std::size_t place = 0; place < n_places_; ++place)
                counts[place] =
                    static_cast<std::uint16_t>(first_slot_.empty() ? 1 : first_slot_[place + 1] - first_slot_[place]);
            return;
        case BagKind::bootstrap: return add_draws(seed, 0, n_slots_, n_draws_, counts);
        case BagKind::subsample: return add_part(seed, 0, counts);
        case BagKind::balanced: {
            std::size_t begin = 0;
            for (std::size_t stratum = 0; stratum < stratum_end_.size(); ++stratum) {
                const std::size_t last = stratum_end_[stratum];
                const std::size_t end = first_slot_.empty() ? last : first_slot_[last];
                if (end > begin) add_draws(mix(seed + stratum), begin, end, n_draws_, counts);
                begin = end;
            }
            return;
        }
        case BagKind::partition: {
            const std::uint64_t round = random_bits(seed_, Purpose::bootstrap, ~(tree / n_parts_));
            return add_part(round, tree % n_parts_, counts);
        }
    }
}

}  // namespace coterie
