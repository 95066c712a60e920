// histogram/pool.hpp: the histograms of open leaves, in a limited amount of memory.
//
// Words
//   slot     room for the histogram of one leaf, or for one histogram for each output of a tree
//   spare    slots that could be acquired: those that are free again, and those that the limit still allows
// A leaf that loses its slot has its histogram built again from its rows when it is needed. Cells are whole numbers, so
// that changes no bit of a tree; only time.
#pragma once

#include <vector>

#include "coterie/base/buffer.hpp"
#include "coterie/base/communicator.hpp"
#include "coterie/base/types.hpp"
#include "coterie/kernels/kernels.hpp"

namespace coterie {

/// Bytes that the histograms of a tree may have by default: COTERIE_HISTOGRAM_MEMORY mebibytes if that
/// is set in the environment, else an eighth of the memory of the machine.
std::size_t default_histogram_bytes();

class HistogramPool {
public:
    /// A tree needs these, however low the limit is.
    static constexpr std::size_t kMinSlots = 3;

    /// `max_bytes` of 0 stand for the default. Workers have as many slots as the one that has the fewest, so that they
    /// drop the same histograms.
    HistogramPool(std::size_t n_cells, std::size_t n_outputs, std::size_t max_bytes, const Slice& slice = {});

    /// A new tree begins: every slot is free.
    void clear();

    std::size_t n_spare() const { return free_.size() + max_slots_ - slots_.size(); }

    /// A slot that nobody uses, of which there must be one; its cells are not cleared.
    int acquire();

    void release(int slot) { free_.push_back(slot); }

    Cell* cells(int slot, std::size_t output = 0) {
        return slots_[static_cast<std::size_t>(slot)].data() + output * (n_cells_ + kSlack);
    }

    std::size_t n_bytes() const { return slots_.size() * slot_cells() * sizeof(Cell); }

private:
    static constexpr std::size_t kSlack = 8;  // zeros that kernels may read behind the last cell

    std::size_t slot_cells() const { return n_outputs_ * (n_cells_ + kSlack); }

    std::size_t n_cells_;
    std::size_t n_outputs_;
    std::size_t max_slots_;
    std::vector<Buffer<Cell>> slots_;
    std::vector<int> free_;
};

}  // namespace coterie
