// forest/forest_columns.hpp: the table of a forest by column, for growers that read it so; all trees share it.
#pragma once

#include <vector>

#include "coterie/base/buffer.hpp"
#include "coterie/forest/rows.hpp"

namespace coterie {

class ForestColumns {
public:
    /// Unless it was made before.
    void make(const ForestRows& rows, int n_threads);

    bool are_made() const { return !columns_.empty(); }
    /// Each can be read to the next multiple of 64 rows.
    const std::vector<const Code*>& columns() const { return columns_; }
    /// 0, 1, 2, ...
    const RowIndex* places() const { return places_.data(); }

private:
    Buffer<Code> codes_;
    std::vector<const Code*> columns_;
    std::vector<RowIndex> places_;
};

}  // namespace coterie
