#include "coterie/histogram/pool.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "coterie/base/error.hpp"
#include "coterie/base/memory.hpp"

namespace coterie {

std::size_t default_histogram_bytes() {
    constexpr std::size_t kShare = 8;
    if (const char* text = std::getenv("COTERIE_HISTOGRAM_MEMORY")) {
        const double mebibytes = std::strtod(text, nullptr);
        if (mebibytes > 0 && mebibytes < 0x1p40) return static_cast<std::size_t>(mebibytes * 0x1p20);
    }
    const std::size_t memory = physical_memory();
    return memory > 0 ? memory / kShare : std::numeric_limits<std::size_t>::max();
}

HistogramPool::HistogramPool(std::size_t n_cells, std::size_t n_outputs, std::size_t max_bytes, const Slice& slice)
    : n_cells_(n_cells),
      n_outputs_(n_outputs),
      max_slots_(std::max(kMinSlots, (max_bytes > 0 ? max_bytes : default_histogram_bytes()) /
                                         std::max<std::size_t>(1, slot_cells() * sizeof(Cell)))) {
    std::uint64_t fewest[] = {~std::uint64_t{max_slots_}};
    slice.max(fewest);
    max_slots_ = static_cast<std::size_t>(~fewest[0]);
}

void HistogramPool::clear() {
    free_.clear();
    for (int slot = static_cast<int>(slots_.size()) - 1; slot >= 0; --slot) free_.push_back(slot);
}

int HistogramPool::acquire() {
    require(n_spare() > 0, "The histogram pool is full.");
    if (free_.empty()) {
        slots_.emplace_back(slot_cells());
        const int slot = static_cast<int>(slots_.size()) - 1;
        for (std::size_t output = 0; output < n_outputs_; ++output)
            std::fill_n(cells(slot, output) + n_cells_, kSlack, Cell{0});
        return slot;
    }
    const int slot = free_.back();
    free_.pop_back();
    return slot;
}

}  // namespace coterie
