// kernels/neon/kernels.cpp: the kernels for 64-bit ARM, where instructions of NEON do better than what compilers make
// of the generic loops. Same bits as generic/.
#include "coterie/kernels/kernels.hpp"

#if defined(COTERIE_HAS_NEON)

namespace coterie {

const Kernels& neon_kernels() {
    static const Kernels table = [] {
        Kernels all = generic_kernels();
        all.name = "neon";
        all.binning = neon::binning_kernels();
        all.split = neon::split_kernels();
        all.partition = neon::partition_kernels();
        all.row_set = neon::row_set_kernels();
        all.routing = neon::routing_kernels();
        return all;
    }();
    return table;
}

}  // namespace coterie

#endif
