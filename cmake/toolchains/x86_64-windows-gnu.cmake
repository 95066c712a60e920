# Windows on x86-64 from Linux, by GCC of MinGW-w64 with POSIX threads; tests run under Wine.
# On Debian and Ubuntu: g++-mingw-w64-x86-64-posix wine64
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(CMAKE_CXX_COMPILER x86_64-w64-mingw32-g++-posix)

set(CMAKE_FIND_ROOT_PATH /usr/x86_64-w64-mingw32)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)

set(CMAKE_EXE_LINKER_FLAGS_INIT -static)  # programs that run without the libraries of the compiler beside them

find_program(coterie_wine NAMES wine64 wine wine64-stable wine-stable HINTS /usr/lib/wine)
set(CMAKE_CROSSCOMPILING_EMULATOR "${coterie_wine}")
