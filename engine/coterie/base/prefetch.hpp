// base/prefetch.hpp: fetches memory that will be read soon, so that it is on its way while other work is done.
#pragma once

#include "coterie/base/has_builtin.hpp"

#if !COTERIE_HAS_BUILTIN(__builtin_prefetch) && (defined(_M_X64) || defined(_M_ARM64))
#include <intrin.h>
#endif

namespace coterie {

/// Fetches the cache line of an address into all caches. An address that is not mapped does no harm.
inline void prefetch(const void* address) {
#if COTERIE_HAS_BUILTIN(__builtin_prefetch)
    __builtin_prefetch(address);
#elif defined(_M_X64)
    _mm_prefetch(static_cast<const char*>(address), _MM_HINT_T0);
#elif defined(_M_ARM64)
    __prefetch(address);
#else
    static_cast<void>(address);
#endif
}

/// The same without the first cache, where something else should stay.
inline void prefetch_to_second_cache(const void* address) {
#if COTERIE_HAS_BUILTIN(__builtin_prefetch)
    __builtin_prefetch(address, 0, 2);
#elif defined(_M_X64)
    _mm_prefetch(static_cast<const char*>(address), _MM_HINT_T1);
#else
    prefetch(address);
#endif
}

}  // namespace coterie
