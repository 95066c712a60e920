#include "coterie/histogram/class_sums.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace coterie {
namespace {

constexpr std::size_t kMaxWidth = 8;
constexpr std::size_t kTileCells = 3'750;  // 30,000 bytes, which leaves the rows a little of 32 KiB
constexpr std::size_t kBlockRows = 512;    // taken tile after tile while their bins are in the cache

// Cells from bundle to bundle, an odd number of cache lines: a power of two would map equal bins of all bundles to one
// cache set. There are few of them, because an address is cheapest when the compiler knows the stride.
constexpr std::array<std::size_t, 6> kStrides{8, 24, 40, 72, 136, 264};

std::size_t stride_for(int n_codes) {
    return *std::lower_bound(kStrides.begin(), kStrides.end(), static_cast<std::size_t>(n_codes));
}

struct RowBlock {
    const Bin* bins;
    std::size_t row_stride;
    std::span<const RowIndex> rows;
    const ClassIndex* classes;
    const Amount* amounts;
};

template <std::size_t Stride, std::size_t Width>
void add_block(const RowBlock& block, Amount* sums) {
    for (std::size_t i = 0; i < block.rows.size(); ++i) {
        const Bin* const bins = block.bins + block.rows[i] * block.row_stride;
        Amount* const own = sums + block.classes[i] * (Width * Stride);
        const Amount amount = block.amounts[i];
        for (std::size_t bundle = 0; bundle < Width; ++bundle) own[bundle * Stride + bins[bundle]] += amount;
    }
}

using AddBlock = void (*)(const RowBlock&, Amount*);

template <std::size_t Stride, std::size_t... Widths>
constexpr std::array<AddBlock, kMaxWidth> by_width(std::index_sequence<Widths...>) {
    return {add_block<Stride, Widths + 1>...};
}

template <std::size_t... Indices>
constexpr auto by_stride(std::index_sequence<Indices...>) {
    return std::array{by_width<kStrides[Indices]>(std::make_index_sequence<kMaxWidth>())...};
}

constexpr auto kAddBlock = by_stride(std::make_index_sequence<kStrides.size()>());

AddBlock add_block_for(std::size_t stride, std::size_t width) {
    const auto index = std::find(kStrides.begin(), kStrides.end(), stride) - kStrides.begin();
    return kAddBlock[static_cast<std::size_t>(index)][width - 1];
}

}  // namespace

ClassSums::ClassSums(const BinnedMatrix& matrix, std::size_t n_classes) : matrix_(matrix), n_classes_(n_classes) {
    const std::vector<FeatureBundle>& bundles = matrix.bundles();
    digits_.resize(matrix.n_features());
    for (std::uint32_t bundle = 0; bundle < bundles.size(); ++bundle) {
        int unit = 1;
        for (std::size_t position = 0; position < bundles[bundle].features.size(); ++position) {
            digits_[bundles[bundle].features[position]] = {
                .bundle = bundle, .unit = unit, .first_bin = bundles[bundle].first_bin[position]};
            unit *= matrix.base(bundles[bundle], position);
        }
    }
    for (std::uint32_t panel = 0; panel < matrix.panels().size(); ++panel) {
        const std::uint32_t first_bundle = matrix.panels()[panel].first_bundle;
        const std::uint32_t end = matrix.panels()[panel].width;
        for (std::uint32_t first = 0; first < end;) {
            std::uint32_t width = 0;
            std::size_t stride = 0;
            while (first + width < end && width < kMaxWidth) {
                const std::size_t wider = std::max(stride, stride_for(bundles[first_bundle + first + width].n_codes));
                if (width > 0 && (width + 1) * wider * n_classes > kTileCells) break;
                stride = wider;
                ++width;
            }
            tiles_.push_back(
                {.panel = panel, .first_byte = first, .width = width, .stride = stride, .offset = n_cells_});
            for (std::uint32_t bundle = 0; bundle < width; ++bundle) {
                bundle_offsets_.push_back(n_cells_ + bundle * stride);
                class_strides_.push_back(width * stride);
            }
            n_cells_ += n_classes * width * stride;
            first += width;
        }
    }
}

void ClassSums::add(std::span<const RowIndex> rows, const ClassIndex* classes, const Amount* amounts,
                    Amount* sums) const {
    for (std::size_t begin = 0; begin < rows.size(); begin += kBlockRows) {
        const std::size_t n = std::min(kBlockRows, rows.size() - begin);
        for (const ClassTile& tile : tiles_) {
            const Panel& panel = matrix_.panels()[tile.panel];
            const RowBlock block{.bins = matrix_.rows(panel) + tile.first_byte,
                                 .row_stride = panel.row_stride,
                                 .rows = rows.subspan(begin, n),
                                 .classes = classes + begin,
                                 .amounts = amounts + begin};
            add_block_for(tile.stride, tile.width)(block, sums + tile.offset);
        }
    }
}

void ClassSums::of_feature(FeatureIndex feature, const Amount* sums, std::vector<Amount>& out) const {
    const auto [bundle, unit, first_bin] = digits_[feature];
    const int n_bins = matrix_.feature(feature).n_bins;
    const int n_codes = matrix_.bundles()[bundle].n_codes;
    out.assign(static_cast<std::size_t>(n_bins) * n_classes_, 0);
    for (std::size_t k = 0; k < n_classes_; ++k) {
        const Amount* cell = sums + bundle_offsets_[bundle] + k * class_strides_[bundle];
        for (int high = 0; high < n_codes; high += unit * (n_bins - first_bin))
            for (int bin = first_bin; bin < n_bins; ++bin)
                for (int low = 0; low < unit; ++low) out[static_cast<std::size_t>(bin) * n_classes_ + k] += *cell++;
    }
}

}  // namespace coterie
