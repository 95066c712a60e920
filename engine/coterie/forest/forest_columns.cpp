#include "coterie/forest/forest_columns.hpp"

#include <numeric>

#include "coterie/base/parallel.hpp"
#include "coterie/kernels/kernels.hpp"

namespace coterie {

void ForestColumns::make(const ForestRows& rows, int n_threads) {
    if (are_made()) return;
    const std::size_t n = rows.n_places();
    const std::size_t n_features = rows.n_features();
    const std::size_t n_words = (n + kSetRows - 1) / kSetRows;
    const std::size_t stride = (n_words | 1) * kSetRows;  // see TransposedRows
    codes_.resize((n_features + 7) / 8 * 8 * stride);
    places_.resize(n);
    std::iota(places_.begin(), places_.end(), RowIndex{0});
    parallel_ranges(n_words, 64, n_threads, [&](std::size_t begin, std::size_t end) {
        const std::size_t first = begin * kSetRows;
        const std::size_t n_now = std::min(n, end * kSetRows) - first;
        kernels().row_set.transpose_codes(rows.table.codes.data(), rows.table.row_stride, places_.data() + first, n_now,
                                          n_features, codes_.data() + first, stride);
    });
    for (std::size_t feature = 0; feature < n_features; ++feature) columns_.push_back(codes_.data() + feature * stride);
}

}  // namespace coterie
