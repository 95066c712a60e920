// kernels/shared/set_statistics.inl: what the rows of a word of a set weigh, for tables that have
//   count(word)            how many rows a word of a set has
// Included inside a namespace of the table, behind it.

// The rows of a word that are of the second class.
RowSet second_of(const SetWeights& weights, std::size_t word) {
    const std::size_t first = kSetRows * word;
    if (weights.second <= first) return ~RowSet{0};
    return weights.second - first < kSetRows ? ~RowSet{0} << (weights.second - first) : 0;
}

std::uint64_t weight_of_rows(const SetWeights& weights, std::size_t n_words, std::size_t word, RowSet rows) {
    std::uint64_t weight = 0;
    for (std::size_t bit = 0, at = word; bit < weights.n_bits; ++bit, at += n_words)
        weight += count(rows & weights.weight[at]) << bit;
    return weight;
}

std::uint64_t statistic_of_word(const SetWeights& weights, RowSet second, RowSet rows) {
    if (weights.n_bits == 0) return count(rows & second) << 32 | count(rows);
    return weight_of_rows(weights, 1, 0, rows & second) << 32 | weight_of_rows(weights, 1, 0, rows);
}
