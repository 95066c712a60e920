// kernels/set_cuts.hpp: the best cut of a small node that is a set of rows, of all columns that were drawn at once.
//
// The same cut as that of kernels/small_nodes.hpp column after column, with what a split needs to know of it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "coterie/kernels/row_sets.hpp"
#include "coterie/kernels/small_nodes.hpp"

namespace coterie {

/// Gain and codes as in SmallNodeCut.
struct SetCut {
    float gain = -1.0f;
    std::uint32_t column = 0;     // among the columns of the call; the first of equals
    std::uint16_t last = 0;       // the greatest code on the left
    std::uint16_t next = 0;       // the least code on the right
    RowSet left = 0;              // the rows on the left
    std::uint64_t statistic = 0;  // of these rows: the second class above, all in the low 32 bits
};

struct SetCutKernels {
    // Rows of a set for which `best` takes less time than one column after the other; 0: of none.
    std::size_t max_rows;

    // Of a set of one word, and up to eight columns. `node` has the statistics of all rows of the word, and n, sum and
    // weight of those of the set, which are 32 at most. Returns whether no code is missing: otherwise nothing was done.
    bool (*best)(const TransposedCodes& codes, RowSet set, const std::uint32_t* columns, std::size_t n_columns,
                 const SmallClassNode& node, const SetWeights& weights, SetCut& best);
};

namespace generic {
SetCutKernels set_cut_kernels();
}
namespace avx512 {
SetCutKernels set_cut_kernels();
}

}  // namespace coterie
