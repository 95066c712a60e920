// kernels/kernels.hpp: the hot loops, one table of functions per instruction set.
//
// The generic table is the definition: plain C++ that runs anywhere. Another table may only be faster; it
// gives the same bits, and the tests compare the two. Histograms are scalar adds in every set, so they are
// not in the table (kernels/histogram_rows.hpp).
#pragma once

#include "coterie/kernels/binning.hpp"
#include "coterie/kernels/derivatives.hpp"
#include "coterie/kernels/feature_draws.hpp"
#include "coterie/kernels/gradient_pairs.hpp"
#include "coterie/kernels/node_walks.hpp"
#include "coterie/kernels/partition.hpp"
#include "coterie/kernels/routing.hpp"
#include "coterie/kernels/row_sets.hpp"
#include "coterie/kernels/set_cuts.hpp"
#include "coterie/kernels/shap.hpp"
#include "coterie/kernels/small_nodes.hpp"
#include "coterie/kernels/split_scan.hpp"
#include "coterie/kernels/threshold_search.hpp"
#include "coterie/kernels/word_records.hpp"

namespace coterie {

struct Kernels {
    const char* name;

    BinningKernels binning;

    // Boosting.
    LossKernels loss;
    RoundingKernels rounding;
    SamplingKernels sampling;
    SplitKernels split;
    PartitionKernels partition;

    // Forests.
    FeatureDrawKernels feature_draws;
    WordKernels words;
    SmallNodeKernels small_node;
    RowSetKernels row_set;

    // Finished trees.
    RoutingKernels routing;
    ShapKernels shap;
    NodeWalkKernels node_walk;
    ThresholdKernels thresholds;

    // Forests: small nodes, all columns at once.
    SetCutKernels set_cut;
};

const Kernels& generic_kernels();
#if defined(COTERIE_HAS_AVX2)
const Kernels& avx2_kernels();
const Kernels& avx512_kernels();
#endif
#if defined(COTERIE_HAS_NEON)
const Kernels& neon_kernels();
#endif

/// The fastest table this processor can run, or a slower one if COTERIE_ISA names it. Chosen once.
const Kernels& kernels();

}  // namespace coterie
