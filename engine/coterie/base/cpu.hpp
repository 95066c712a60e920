// base/cpu.hpp: which instruction sets may be used here.
#pragma once

#include <cstdlib>
#include <cstring>

namespace coterie {

/// True if the processor has AVX2, BMI and BMI2, and COTERIE_ISA=generic is not set.
inline bool use_avx2() {
#if defined(COTERIE_HAS_AVX2) && (defined(__GNUC__) || defined(__clang__))
    const char* forced = std::getenv("COTERIE_ISA");
    if (forced != nullptr && std::strcmp(forced, "generic") == 0) return false;
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
#else
    return false;
#endif
}

}  // namespace coterie
