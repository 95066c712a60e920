// kernels/shared/set_sides.inl: the sides of a cut, for tables that have
//   count(word)            how many rows a word of a set has
//   Cut(shift, last)       left_of(codes): which of the 64 rows of a word go left
// Included inside a namespace of the table, behind these.

#include "coterie/kernels/shared/set_statistics.inl"

// Calls visit(word, rows that go left), and returns how many there are.
template <class Visit>
std::uint64_t for_left(const Cut& cut, const std::uint16_t* column, const RowSet* set, std::size_t begin,
                       std::size_t end, Visit visit) {
    std::uint64_t n = 0;
    for (std::size_t word = begin; word < end; ++word) {
        const RowSet own = cut.left_of(column + kSetRows * word) & set[word];
        visit(word, own);
        n += count(own);
    }
    return n;
}

void sum_left(const TransposedCodes& codes, const RowSet* set, const std::uint32_t* columns, std::size_t n_columns,
              const SetCuts& cuts, const SetWeights& weights, SetSums& sums, RowSet* left) {
    const std::size_t n_words = codes.n_words;
    if (n_words == 1) {
        const RowSet second = second_of(weights, 0);
        for (std::size_t k = 0; k < n_columns; ++k) {
            const Cut cut(cuts.shift[k], cuts.last[k]);
            const RowSet own = cut.left_of(codes.column[columns[k]]) & set[0];
            sums.n_rows[k] = static_cast<std::uint32_t>(count(own));
            sums.statistic[k] = statistic_of_word(weights, second, own);
            if (left != nullptr) left[k] = own;
        }
        return;
    }
    const std::size_t middle = std::min(weights.second / kSetRows, n_words - 1);  // the word with rows of both classes
    for (std::size_t k = 0; k < n_columns; ++k) {
        const std::uint16_t* const column = codes.column[columns[k]];
        const Cut cut(cuts.shift[k], cuts.last[k]);
        std::uint64_t all = 0;
        std::uint64_t second = 0;
        std::uint64_t n = 0;
        const auto keep = [&](std::size_t word, RowSet own) {
            if (left != nullptr) left[k * n_words + word] = own;
        };
        if (weights.n_bits == 0) {
            const std::uint64_t before = for_left(cut, column, set, 0, middle, keep);
            n = before + for_left(cut, column, set, middle, n_words, [&](std::size_t word, RowSet own) {
                    keep(word, own);
                    second += count(own & (word == middle ? second_of(weights, word) : ~RowSet{0}));
                });
            all = n;
        } else {
            n = for_left(cut, column, set, 0, n_words, [&](std::size_t word, RowSet own) {
                keep(word, own);
                all += weight_of_rows(weights, n_words, word, own);
                second += weight_of_rows(weights, n_words, word, own & second_of(weights, word));
            });
        }
        sums.statistic[k] = second << 32 | all;
        sums.n_rows[k] = static_cast<std::uint32_t>(n);
    }
}

void partition(const std::uint16_t* column, std::size_t n_words, std::uint16_t shift, std::uint16_t last, RowSet* set,
               RowSet* left) {
    const Cut cut(shift, last);
    for (std::size_t word = 0; word < n_words; ++word) {
        left[word] = cut.left_of(column + kSetRows * word) & set[word];
        set[word] ^= left[word];
    }
}
