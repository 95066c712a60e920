// kernels/shared/set_sides.inl: the sides of a cut, for tables that have
//   count(word)            how many rows a word of a set has
//   Cut(shift, last)       left_of(codes): which of the 64 rows of a word go left
// Included inside a namespace of the table, behind these.

// The rows of a word that are of the second class.
RowSet second_of(const SetPays& pays, std::size_t word) {
    const std::size_t first = kSetRows * word;
    if (pays.second <= first) return ~RowSet{0};
    return pays.second - first < kSetRows ? ~RowSet{0} << (pays.second - first) : 0;
}

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

std::uint64_t weight_of_rows(const SetPays& pays, std::size_t n_words, std::size_t word, RowSet rows) {
    std::uint64_t weight = 0;
    for (std::size_t bit = 0, at = word; bit < pays.n_bits; ++bit, at += n_words)
        weight += count(rows & pays.weight[at]) << bit;
    return weight;
}

std::uint64_t pay_of_word(const SetPays& pays, RowSet second, RowSet rows) {
    if (pays.n_bits == 0) return count(rows & second) << 32 | count(rows);
    return weight_of_rows(pays, 1, 0, rows & second) << 32 | weight_of_rows(pays, 1, 0, rows);
}

void sum_set(const TurnedCodes& codes, const RowSet* set, const std::uint32_t* columns, std::size_t n_columns,
             const SetCuts& cuts, const SetPays& pays, SetSums& sums, RowSet* left) {
    const std::size_t n_words = codes.n_words;
    if (n_words == 1) {
        const RowSet second = second_of(pays, 0);
        for (std::size_t lane = 0; lane < n_columns; ++lane) {
            const Cut cut(cuts.shift[lane], cuts.last[lane]);
            const RowSet own = cut.left_of(codes.column[columns[lane]]) & set[0];
            sums.n_rows[lane] = static_cast<std::uint32_t>(count(own));
            sums.pay[lane] = pay_of_word(pays, second, own);
            if (left != nullptr) left[lane] = own;
        }
        return;
    }
    const std::size_t middle = std::min(pays.second / kSetRows, n_words - 1);  // the word with rows of both classes
    for (std::size_t lane = 0; lane < n_columns; ++lane) {
        const std::uint16_t* const column = codes.column[columns[lane]];
        const Cut cut(cuts.shift[lane], cuts.last[lane]);
        std::uint64_t all = 0;
        std::uint64_t second = 0;
        std::uint64_t n = 0;
        const auto keep = [&](std::size_t word, RowSet own) {
            if (left != nullptr) left[lane * n_words + word] = own;
        };
        if (pays.n_bits == 0) {
            const std::uint64_t before = for_left(cut, column, set, 0, middle, keep);
            n = before + for_left(cut, column, set, middle, n_words, [&](std::size_t word, RowSet own) {
                    keep(word, own);
                    second += count(own & (word == middle ? second_of(pays, word) : ~RowSet{0}));
                });
            all = n;
        } else {
            n = for_left(cut, column, set, 0, n_words, [&](std::size_t word, RowSet own) {
                keep(word, own);
                all += weight_of_rows(pays, n_words, word, own);
                second += weight_of_rows(pays, n_words, word, own & second_of(pays, word));
            });
        }
        sums.pay[lane] = second << 32 | all;
        sums.n_rows[lane] = static_cast<std::uint32_t>(n);
    }
}

void part_set(const std::uint16_t* column, std::size_t n_words, std::uint16_t shift, std::uint16_t last, RowSet* set,
              RowSet* left) {
    const Cut cut(shift, last);
    for (std::size_t word = 0; word < n_words; ++word) {
        left[word] = cut.left_of(column + kSetRows * word) & set[word];
        set[word] ^= left[word];
    }
}
