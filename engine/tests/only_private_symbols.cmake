# The objects compiled for AVX2 may not define functions that other objects define too: the linker keeps one
# copy of an inline function, and if it keeps this one, a machine without AVX2 meets an unknown instruction.
# Call: cmake -DNM=<program> -DOBJECTS=<list> -P only_private_symbols.cmake
foreach(object ${OBJECTS})
  execute_process(COMMAND "${NM}" -C --defined-only "${object}" OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "[^\n]* W [^\n]*" shared "${symbols}")
  if(shared)
    list(JOIN shared "\n  " shared)
    message(FATAL_ERROR "${object} defines inline functions that other objects may define too:\n  ${shared}\n"
                        "Write them out here with internal linkage, or call a function that is always inlined.")
  endif()
endforeach()
