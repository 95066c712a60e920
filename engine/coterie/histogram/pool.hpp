// histogram/pool.hpp: the histograms of open leaves. One that is no longer needed serves a later leaf.
#pragma once

#include <vector>

#include "coterie/base/buffer.hpp"
#include "coterie/base/types.hpp"
#include "coterie/kernels/kernels.hpp"

namespace coterie {

/// Slots of one histogram each, or of one for each output of a tree.
class HistogramPool {
public:
    explicit HistogramPool(std::size_t n_cells, std::size_t n_outputs = 1) : n_cells_(n_cells), n_outputs_(n_outputs) {}

    /// A new tree begins: every slot is free.
    void clear();

    /// A slot that nobody uses; its cells are not cleared.
    int acquire();

    void release(int slot) { free_.push_back(slot); }

    Cell* cells(int slot, std::size_t output = 0) {
        return slots_[static_cast<std::size_t>(slot)].data() + output * (n_cells_ + kSlack);
    }

private:
    static constexpr std::size_t kSlack = 8;  // zeros that kernels may read behind the last cell

    std::size_t n_cells_;
    std::size_t n_outputs_;
    std::vector<Buffer<Cell>> slots_;
    std::vector<int> free_;
};

}  // namespace coterie
