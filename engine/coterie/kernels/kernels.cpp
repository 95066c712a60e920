#include "coterie/kernels/kernels.hpp"

#include "coterie/base/cpu.hpp"

namespace coterie {
namespace {

const Kernels& best_kernels() {
#if defined(COTERIE_HAS_AVX2)
    switch (best_instruction_set()) {
        case InstructionSet::avx512: return avx512_kernels();
        case InstructionSet::avx2: return avx2_kernels();
        case InstructionSet::generic: break;
    }
#endif
    return generic_kernels();
}

}  // namespace

const Kernels& kernels() {
    static const Kernels& chosen = best_kernels();
    return chosen;
}

}  // namespace coterie
