// forest/leaf_value_table.hpp: the distinct leaf values of the leaves of a tree.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "coterie/base/random.hpp"

namespace coterie {

/// Equal leaf values of classes share an entry, and most are equal: the leaf is pure.
class LeafValueTable {
public:
    LeafValueTable(std::uint32_t n_columns, bool share) : n_columns_(n_columns), share_(share) {}

    std::uint32_t index_of(const double* value) {
        if (!share_) return add(value);
        // Of two classes, nearly all leaf values are one of them.
        if (n_columns_ == 2 && std::min(value[0], value[1]) == 0.0 && std::max(value[0], value[1]) == 1.0) {
            std::uint32_t& pure = pure_[value[0] == 0.0];
            if (pure == kNone) pure = find(value);
            return pure;
        }
        return find(value);
    }

    std::vector<double> leaf_values;

private:
    static constexpr std::uint32_t kNone = ~0u;

    std::uint32_t find(const double* value) {
        std::uint64_t hash = 0;
        for (std::uint32_t i = 0; i < n_columns_; ++i) hash = mix(hash ^ std::bit_cast<std::uint64_t>(value[i]));
        std::uint32_t& recent = recent_[hash % recent_.size()];
        if (recent < leaf_values.size() / n_columns_ &&
            std::equal(value, value + n_columns_, leaf_values.data() + std::size_t{recent} * n_columns_))
            return recent;
        std::vector<double> key(value, value + n_columns_);
        const auto [found, is_new] = known_.try_emplace(std::move(key), 0u);
        if (is_new) found->second = add(value);
        return recent = found->second;
    }

    std::uint32_t add(const double* value) {
        const auto index = static_cast<std::uint32_t>(leaf_values.size() / n_columns_);
        leaf_values.insert(leaf_values.end(), value, value + n_columns_);
        return index;
    }

    std::uint32_t n_columns_;
    bool share_;
    std::map<std::vector<double>, std::uint32_t> known_;
    std::array<std::uint32_t, 2> pure_{kNone, kNone};
    std::array<std::uint32_t, 256> recent_{};  // indices, by a hash of their values: most need no look at the others
};

}  // namespace coterie
