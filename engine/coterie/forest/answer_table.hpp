// forest/answer_table.hpp: the distinct answers of the leaves of a tree.
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

/// Equal answers of classes share a place, and most are equal: the leaf is pure.
class AnswerTable {
public:
    AnswerTable(std::uint32_t n_columns, bool share) : n_columns_(n_columns), share_(share) {}

    std::uint32_t place_of(const double* answer) {
        if (!share_) return add(answer);
        // Of two classes, nearly all answers are one of them.
        if (n_columns_ == 2 && std::min(answer[0], answer[1]) == 0.0 && std::max(answer[0], answer[1]) == 1.0) {
            std::uint32_t& pure = pure_[answer[0] == 0.0];
            if (pure == kNone) pure = find(answer);
            return pure;
        }
        return find(answer);
    }

    std::vector<double> answers;

private:
    static constexpr std::uint32_t kNone = ~0u;

    std::uint32_t find(const double* answer) {
        std::uint64_t hash = 0;
        for (std::uint32_t i = 0; i < n_columns_; ++i) hash = mix(hash ^ std::bit_cast<std::uint64_t>(answer[i]));
        std::uint32_t& recent = recent_[hash % recent_.size()];
        if (recent < answers.size() / n_columns_ &&
            std::equal(answer, answer + n_columns_, answers.data() + std::size_t{recent} * n_columns_))
            return recent;
        std::vector<double> key(answer, answer + n_columns_);
        const auto [found, is_new] = known_.try_emplace(std::move(key), 0u);
        if (is_new) found->second = add(answer);
        return recent = found->second;
    }

    std::uint32_t add(const double* answer) {
        const auto place = static_cast<std::uint32_t>(answers.size() / n_columns_);
        answers.insert(answers.end(), answer, answer + n_columns_);
        return place;
    }

    std::uint32_t n_columns_;
    bool share_;
    std::map<std::vector<double>, std::uint32_t> known_;
    std::array<std::uint32_t, 2> pure_{kNone, kNone};
    std::array<std::uint32_t, 256> recent_{};  // places, by a hash of their answers: most need no look at the others
};

}  // namespace coterie
