# GCC for Windows does not align vectors of 32 and 64 bytes on the stack (GCC bug 54412), so no move of them may require it.
# Call: cmake -DOBJDUMP=<program> -DOBJECTS=<list> -P unaligned_moves.cmake
foreach(object ${OBJECTS})
  execute_process(COMMAND "${OBJDUMP}" -d --no-show-raw-insn "${object}" OUTPUT_VARIABLE code COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "\tvmov(aps|apd|dqa|dqa32|dqa64) +[^\n]*[(][^\n]*" moves "${code}")
  list(FILTER moves INCLUDE REGEX "%[yz]mm")
  if(moves)
    list(LENGTH moves n)
    list(GET moves 0 first)
    message(FATAL_ERROR "${object} has ${n} moves that need aligned memory, the first of them:\n${first}\n"
                        "Compile it with -Wa,-muse-unaligned-vector-move.")
  endif()
endforeach()
