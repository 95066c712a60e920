#include "coterie/kernels/kernels.hpp"

#include "coterie/base/cpu.hpp"

namespace coterie {

const Kernels& kernels() {
#if defined(COTERIE_HAS_AVX2)
    static const Kernels& chosen = use_avx2() ? avx2_kernels() : generic_kernels();
#else
    static const Kernels& chosen = generic_kernels();
#endif
    return chosen;
}

}  // namespace coterie
