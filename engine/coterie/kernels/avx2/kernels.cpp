// kernels/avx2/kernels.cpp: the kernels for processors with AVX2. Same bits as generic/, fewer cycles.
#include "coterie/kernels/kernels.hpp"

#if defined(COTERIE_HAS_AVX2)

namespace coterie {

const Kernels& avx2_kernels() {
    static const Kernels table{.name = "avx2",
                               .binning = avx2::binning_kernels(),
                               .loss = avx2::loss_kernels(),
                               .rounding = avx2::rounding_kernels(),
                               .sampling = avx2::sampling_kernels(),
                               .split = avx2::split_kernels(),
                               .partition = avx2::partition_kernels(),
                               .feature_draws = generic::feature_draw_kernels(),
                               .words = avx2::word_kernels(),
                               .small_node = avx2::small_node_kernels(),
                               .row_set = avx2::row_set_kernels(),
                               .routing = avx2::routing_kernels(),
                               .shap = avx2::shap_kernels(),
                               .node_walk = generic::node_walk_kernels(),
                               .thresholds = generic::threshold_kernels(),
                               .set_cut = generic::set_cut_kernels()};
    return table;
}

}  // namespace coterie

#endif
