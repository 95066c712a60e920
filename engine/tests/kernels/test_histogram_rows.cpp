// Adding rows to cells, for every width of a tile and every stride, equals the slow sum.
#include "check.hpp"
#include "coterie/base/buffer.hpp"
#include "coterie/base/error.hpp"
#include "coterie/base/random.hpp"
#include "coterie/kernels/histogram_rows.hpp"

namespace coterie::tests {
namespace {

constexpr std::size_t kRows = 300;
constexpr std::size_t kRowStride = 16;

struct Node {
    Buffer<Bin> bins;  // row-major, kRowStride to a row
    Buffer<Pair> pairs;
    Buffer<Record> records;  // every other row, backwards
};

Node random_node(int n_bins) {
    Node node;
    for (std::size_t i = 0; i < kRows * kRowStride; ++i)
        node.bins.push_back(
            static_cast<Bin>(random_below(1, Purpose::row_sample, i, static_cast<std::uint32_t>(n_bins))));
    for (std::size_t i = 0; i < kRows; ++i)  // hessians so small that their sum fits the field of a counted cell
        node.pairs.push_back(make_pair(static_cast<std::int16_t>(random_bits(2, Purpose::rounding, i)),
                                       random_below(3, Purpose::rounding, i, 10'000)));
    for (std::size_t row = kRows; row-- > 0;)
        if (row % 2 == 0) node.records.push_back(make_record(static_cast<RowIndex>(row), node.pairs[row]));
    return node;
}

/// What a histogram means: gradients, hessians and numbers of the rows of each bin, added one by one.
class SlowHistogram {
public:
    SlowHistogram(std::size_t n_cells, bool counted) : sums_(n_cells, Sums{0, 0, 0}), counted_(counted) {}

    void add(const Node& node, std::size_t row, int width, int stride) {
        for (int feature = 0; feature < width; ++feature) {
            const Bin bin = node.bins[row * kRowStride + static_cast<std::size_t>(feature)];
            Sums& sums = sums_[static_cast<std::size_t>(feature * stride + bin)];
            sums.gradient += static_cast<std::int16_t>(node.pairs[row] >> 16);
            sums.hessian += static_cast<std::uint16_t>(node.pairs[row]);
            sums.n += counted_;
        }
    }

    bool equals(const Buffer<Cell>& cells) const {
        for (std::size_t i = 0; i < sums_.size(); ++i) {
            const Sums fast = sums_of(cells[i], counted_);
            if (fast.gradient != sums_[i].gradient || fast.hessian != sums_[i].hessian || fast.n != sums_[i].n)
                return false;
        }
        return true;
    }

private:
    std::vector<Sums> sums_;
    bool counted_;
};

void check_tile(const Node& node, int width, int stride, bool counted) {
    const auto n_cells = static_cast<std::size_t>(width * stride);
    SlowHistogram slow(n_cells, counted);
    Buffer<Cell> fast(n_cells, 0);
    const AddRows add = add_rows(width, stride, counted);
    HistogramRows rows{.bins = node.bins.data(),
                       .row_stride = kRowStride,
                       .records = nullptr,
                       .pairs = node.pairs.data(),
                       .begin = 10,
                       .end = 100,
                       .prefetch_begin = 0,
                       .prefetch_end = 0};
    for (std::size_t row = rows.begin; row < rows.end; ++row) slow.add(node, row, width, stride);
    add(rows, fast.data());
    check(slow.equals(fast), "a range of rows adds up");

    rows.records = node.records.data();
    rows.prefetch_begin = 20;
    rows.prefetch_end = 120;
    for (std::size_t i = rows.begin; i < rows.end; ++i) slow.add(node, row_of(node.records[i]), width, stride);
    add(rows, fast.data());
    check(slow.equals(fast), "chosen records add up");
}

const Test every_tile("rows add up to the slow histogram for every width and stride, counted or not", [] {
    for (const int n_bins : {2, 8, 9, 24, 40, 72, 136, 256}) {
        const Node node = random_node(n_bins);
        const int stride = tile_stride(n_bins);
        check(stride >= n_bins, "a stride holds all bins");
        check_equal(stride / 8 % 2, 1);  // cache lines of 8 cells, an odd number of them
        for (int width = 1; width <= kMaxTileWidth; ++width)
            for (const bool counted : {false, true}) check_tile(node, width, stride, counted);
    }
});

const Test refused("a width or a number of bins that does not exist is refused", [] {
    check_throws<InvalidInput>([] { tile_stride(265); }, "at most 256 bins");
    check_throws<InvalidInput>([] { add_rows(0, 8, false); }, "no histogram loop");
    check_throws<InvalidInput>([] { add_rows(kMaxTileWidth + 1, 8, false); }, "no histogram loop");
    check_throws<InvalidInput>([] { add_rows(1, 16, true); }, "no histogram loop");
});

}  // namespace
}  // namespace coterie::tests
