# The target odr finds types and functions that have different definitions in different units. The linker reads what the
# compiler knows of all units and compares it. It makes no code of it.
set(objects)
foreach(target xorder xorder_timed_commands xorder_commands xorder_tool xorder_over_mpi xorder_mpi xorder_mpi_tool)
  if(TARGET ${target})
    # Objects have code, and beside it what the compiler knows.
    target_compile_options(${target} PRIVATE -flto -ffat-lto-objects)
    list(APPEND objects $<FILTER:$<TARGET_OBJECTS:${target}>,EXCLUDE,[.]gch$>)  # without the precompiled header
  endif()
endforeach()
add_custom_command(OUTPUT odr.o DEPENDS ${objects} COMMAND_EXPAND_LISTS
  COMMAND ${CMAKE_CXX_COMPILER} -r -nostdlib -flto=auto -Wodr -Wlto-type-mismatch -Werror
    -Wl,-z,muldefs  # two programs have a main()
    -o odr.o ${objects})
add_custom_target(odr ALL DEPENDS odr.o)
