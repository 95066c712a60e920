// kernels/avx512/kernels.cpp: where vectors of 64 bytes with a mask for each lane take fewer steps than AVX2. Same bits
// as generic/.
#include "coterie/kernels/kernels.hpp"

#if defined(COTERIE_HAS_AVX2)

namespace coterie {

const Kernels& avx512_kernels() {
    static const Kernels table{.name = "avx512",
                               .binning = avx512::binning_kernels(),
                               .loss = avx512::loss_kernels(),
                               .rounding = avx512::rounding_kernels(),
                               .sampling = avx512::sampling_kernels(),
                               .split = avx512::split_kernels(),
                               .partition = avx512::partition_kernels(),
                               .feature_draws = avx512::feature_draw_kernels(),
                               .words = avx512::word_kernels(),
                               .small_node = avx512::small_node_kernels(),
                               .row_set = avx512::row_set_kernels(),
                               .routing = avx512::routing_kernels(),
                               .shap = avx2::shap_kernels(),
                               .node_walk = avx512::node_walk_kernels(),
                               .thresholds = avx512::threshold_kernels(),
                               .set_cut = avx512::set_cut_kernels()};
    return table;
}

}  // namespace coterie

#endif
