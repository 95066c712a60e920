// kernels/generic/kernels.cpp: the definition of every kernel.
#include "coterie/kernels/kernels.hpp"

namespace coterie {

const Kernels& generic_kernels() {
    static const Kernels table{.name = "generic",
                               .binning = generic::binning_kernels(),
                               .loss = generic::loss_kernels(),
                               .rounding = generic::rounding_kernels(),
                               .sampling = generic::sampling_kernels(),
                               .split = generic::split_kernels(),
                               .partition = generic::partition_kernels(),
                               .feature_draws = generic::feature_draw_kernels(),
                               .words = generic::word_kernels(),
                               .small_node = generic::small_node_kernels(),
                               .row_set = generic::row_set_kernels(),
                               .routing = generic::routing_kernels(),
                               .shap = generic::shap_kernels(),
                               .node_walk = generic::node_walk_kernels(),
                               .thresholds = generic::threshold_kernels(),
                               .set_cut = generic::set_cut_kernels()};
    return table;
}

}  // namespace coterie
