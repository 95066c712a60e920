// forest/node_draws.hpp: what a tree draws for each of its nodes: a number, features, where missing values go.
//
// What is drawn follows from the node alone, however its search goes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "coterie/forest/sums.hpp"

namespace coterie::sums {

class NodeDraws {
public:
    /// `max_features`: how many are drawn for a node; 0: all.
    explicit NodeDraws(std::size_t max_features) : max_features_(max_features) {}

    void start_tree(std::uint64_t seed) { random_ = Stream(seed); }
    void start_node() {
        seed_ = random_.bits();
        n_swapped_ = 0;
    }

    std::uint64_t bits(std::uint64_t position) const { return mix(draw_position(seed_, position)); }
    /// A random number for each feature that is being tried; can be read eight at a time.
    const std::uint32_t* shares() const { return shares_now_; }
    bool missing_goes_left(FeatureIndex feature) const { return bits(~(std::uint64_t{feature} << 32)) >> 63; }

    /// Calls try_features(first, n), up to `together` at once, until it returns that nothing can be better, or enough
    /// have been tried and `varies` says that one of them does. Leaves `features` as they were.
    template <class Try>
    void draw_features(std::vector<FeatureIndex>& features, std::size_t together, const bool& varies,
                       Try&& try_features) {
        const std::size_t n = features.size();
        const std::size_t wanted = max_features_ == 0 ? n : std::min(max_features_, n);
        if (drawn_.size() < n + kMaxDraws) {
            drawn_.resize(n + kMaxDraws);
            shares_.resize(n + kMaxDraws);
            swapped_.resize(n);
        }
        FeatureChoice choice{.seed = seed_, .features = features.data(), .n = n};
        if (n <= kMaxChoices) choice.left = ~std::uint64_t{0} >> (kMaxChoices - n);
        for (std::size_t tried = 0; tried < n && (tried < wanted || !varies);) {
            const std::size_t n_now = std::min(together, tried < wanted ? wanted - tried : 1);
            if (n <= kMaxChoices)
                for (std::size_t i = 0; i < n_now; i += kMaxDraws)
                    kernels().feature_draws.draw(choice, std::min(n_now - i, kMaxDraws), drawn_.data() + tried + i,
                                                 shares_.data() + tried + i);
            else
                for (std::size_t i = tried; i < tried + n_now; ++i) swap_in(features, i);
            shares_now_ = shares_.data() + tried;
            if (try_features(drawn_.data() + tried, n_now)) break;
            tried += n_now;
        }
        for (std::size_t i = n_swapped_; i-- > 0;) std::swap(features[i], features[swapped_[i]]);
    }

private:
    // One more of many, to position i.
    void swap_in(std::vector<FeatureIndex>& features, std::size_t i) {
        const std::uint64_t drawn = bits(i);
        const std::size_t other = i + static_cast<std::size_t>(((drawn >> 32) * (features.size() - i)) >> 32);
        shares_[i] = static_cast<std::uint32_t>(drawn);
        std::swap(features[i], features[other]);
        drawn_[i] = features[i];
        swapped_[n_swapped_++] = static_cast<std::uint32_t>(other);
    }

    std::size_t max_features_;
    Stream random_;           // a number for each node
    std::uint64_t seed_ = 0;  // of this node
    std::size_t n_swapped_ = 0;
    std::vector<FeatureIndex> drawn_;
    std::vector<std::uint32_t> swapped_;  // with what, if there are many
    std::vector<std::uint32_t> shares_;
    const std::uint32_t* shares_now_ = nullptr;
};

}  // namespace coterie::sums
