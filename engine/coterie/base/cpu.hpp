// base/cpu.hpp: which instruction sets may be used here.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace coterie {

enum class InstructionSet : std::uint8_t { generic, neon, avx2, avx512 };

/// The best that the processor has: AVX2 with BMI and BMI2, or these and AVX-512 for bytes and words; NEON, which every
/// 64-bit ARM has. COTERIE_ISA may request less: "generic" or "avx2".
inline InstructionSet best_instruction_set() {
    const char* const variable = std::getenv("COTERIE_ISA");
    [[maybe_unused]] const auto requested = [&](const char* name) {
        return variable != nullptr && std::strcmp(variable, name) == 0;
    };
#if defined(COTERIE_HAS_AVX2)
    if (requested("generic") || !__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("bmi") ||
        !__builtin_cpu_supports("bmi2"))
        return InstructionSet::generic;
    const bool wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    return wide && !requested("avx2") ? InstructionSet::avx512 : InstructionSet::avx2;
#elif defined(COTERIE_HAS_NEON)
    return requested("generic") ? InstructionSet::generic : InstructionSet::neon;
#else
    return InstructionSet::generic;
#endif
}

}  // namespace coterie
