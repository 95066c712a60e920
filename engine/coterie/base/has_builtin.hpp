// base/has_builtin.hpp: whether the compiler has a builtin function. Compilers without such a test have none of them.
#pragma once

#if defined(__has_builtin)
#define COTERIE_HAS_BUILTIN(name) __has_builtin(name)
#else
#define COTERIE_HAS_BUILTIN(name) 0
#endif
