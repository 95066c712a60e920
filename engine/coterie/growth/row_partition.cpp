#include "coterie/growth/row_partition.hpp"

#include <numeric>

#include "coterie/base/parallel.hpp"

namespace coterie {
namespace {

constexpr std::size_t kChunk = 16'384;  // rows marked and packed by one thread at a time; a multiple of 32
constexpr std::size_t kSlack = 8;

}  // namespace

RowRange RowPartition::start(std::span<const Pair> pairs, std::span<const RowIndex> rows) {
    pairs_ = pairs;
    const std::size_t n = rows.empty() ? matrix_.n_rows() : rows.size();
    if (records_[0].size() < n + kSlack) {
        for (auto& buffer : records_) buffer.resize(n + kSlack);
        marks_.resize((n + 31) / 32 * 4 + kSlack);
    }
    if (rows.empty()) return {.begin = 0, .n = n, .buffer = 0, .implicit = true};
    parallel_ranges(n, kChunk, n_threads_, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) records_[0][i] = make_record(rows[i], pairs[rows[i]]);
    });
    return {.begin = 0, .n = n, .buffer = 0, .implicit = false};
}

NodeRows RowPartition::rows(const RowRange& range, bool counted) const {
    if (range.implicit) return {.records = nullptr, .pairs = pairs_.data(), .n = range.n, .counted = counted};
    return {.records = records(range).data(), .pairs = nullptr, .n = range.n, .counted = counted};
}

std::size_t RowPartition::mark(const RowRange& range, FeatureIndex feature, const BinRule& rule) {
    const std::size_t n_chunks = (range.n + kChunk - 1) / kChunk;
    chunk_left_.assign(n_chunks + 1, 0);
    const Bin* const column = matrix_.column(feature);
    const Record* const from = range.implicit ? nullptr : records(range).data();
    parallel_ranges(range.n, kChunk, n_threads_, [&](std::size_t begin, std::size_t end) {
        std::uint8_t* const marks = marks_.data() + begin / 8;
        chunk_left_[begin / kChunk + 1] = from == nullptr
                                              ? kernels().mark_rows(column + begin, end - begin, rule, marks)
                                              : kernels().mark_records(column, from + begin, end - begin, rule, marks);
    });
    std::partial_sum(chunk_left_.begin(), chunk_left_.end(), chunk_left_.begin());
    return chunk_left_.back();
}

std::size_t RowPartition::count_left(const RowRange& range, FeatureIndex feature, const BinRule& rule) {
    return mark(range, feature, rule);
}

std::vector<std::uint32_t> RowPartition::count_bins(const RowRange& range, FeatureIndex feature) const {
    std::vector<std::uint32_t> counts(kMaxBins, 0);
    const Bin* const column = matrix_.column(feature);
    if (range.implicit)
        for (std::size_t row = 0; row < range.n; ++row) ++counts[column[row]];
    else
        for (const Record record : records(range)) ++counts[column[row_of(record)]];
    return counts;
}

std::array<RowRange, 2> RowPartition::split(const RowRange& range, FeatureIndex feature, const BinRule& rule) {
    const std::size_t n_left = mark(range, feature, rule);
    const auto twin = static_cast<std::uint8_t>(1 - range.buffer);
    Record* const to = records_[twin].data() + range.begin;
    const Record* const from = range.implicit ? nullptr : records(range).data();
    parallel_ranges(range.n, kChunk, n_threads_, [&](std::size_t begin, std::size_t end) {
        const std::size_t chunk = begin / kChunk;
        const std::size_t left = chunk_left_[chunk];
        const std::size_t chunk_left = chunk_left_[chunk + 1] - left;
        const std::uint8_t* const marks = marks_.data() + begin / 8;
        Record* const right = to + n_left + (begin - left);
        if (from == nullptr)
            kernels().pack_rows(static_cast<RowIndex>(begin), pairs_.data() + begin, end - begin, marks, to + left,
                                chunk_left, right);
        else
            kernels().pack_records(from + begin, end - begin, marks, to + left, chunk_left, right);
    });
    return {RowRange{.begin = range.begin, .n = n_left, .buffer = twin, .implicit = false},
            RowRange{.begin = range.begin + n_left, .n = range.n - n_left, .buffer = twin, .implicit = false}};
}

}  // namespace coterie
