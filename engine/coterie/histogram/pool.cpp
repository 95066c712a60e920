#include "coterie/histogram/pool.hpp"

#include <algorithm>

namespace coterie {

void HistogramPool::clear() {
    free_.clear();
    for (int slot = static_cast<int>(slots_.size()) - 1; slot >= 0; --slot) free_.push_back(slot);
}

int HistogramPool::acquire() {
    if (free_.empty()) {
        slots_.emplace_back(n_outputs_ * (n_cells_ + kSlack));
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
