#include "coterie/kernels/kernels.hpp"

#include "coterie/base/cpu.hpp"

namespace coterie {
namespace {

const Kernels& best_kernels() {
    switch (best_instruction_set()) {
#if defined(COTERIE_HAS_AVX2)
        case InstructionSet::avx512: return avx512_kernels();
        case InstructionSet::avx2: return avx2_kernels();
#endif
#if defined(COTERIE_HAS_NEON)
        case InstructionSet::neon: return neon_kernels();
#endif
        default: return generic_kernels();
    }
}

}  // namespace

const Kernels& kernels() {
    static const Kernels& chosen = best_kernels();
    return chosen;
}

}  // namespace coterie
