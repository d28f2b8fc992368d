# Unity builds: headers take much of a unit's compile time, so the sources of one layer, such as src/io with its folders,
# are compiled as one unit. Names in anonymous namespaces must therefore differ within a layer. The presets release, dev
# and tsan do so. They also read the headers of others once for a target.

# xorder_unite(TARGET [SEPARATE FILE...] [HEADERS <HEADER>...]): groups the target's sources by layer. SEPARATE sources stay
# on their own. With HEADERS, the target precompiles these and those of the standard library that many units include.
function(xorder_unite target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SEPARATE;HEADERS")
  get_target_property(sources ${target} SOURCES)
  foreach(source ${sources})
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} OUTPUT_VARIABLE name)
    if(NOT name IN_LIST arg_SEPARATE)
      cmake_path(GET name PARENT_PATH folder)
      string(REGEX REPLACE "^([^/]+/[^/]+)/.*" "\\1" layer "${folder}")
      string(REPLACE "/" "_" group "${layer}")
      set_source_files_properties(${source} PROPERTIES UNITY_GROUP "${target}_${group}")
    endif()
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP)
  if(CMAKE_UNITY_BUILD AND arg_HEADERS)
    target_precompile_headers(${target} PRIVATE <algorithm> <array> <atomic> <bit> <chrono> <cmath> <condition_variable>
      <filesystem> <fstream> <functional> <map> <memory> <mutex> <numeric> <optional> <random> <ranges> <set> <span>
      <stop_token> <string> <thread> <vector> ${arg_HEADERS})
    set_source_files_properties(${arg_SEPARATE} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
  endif()
  if(CMAKE_UNITY_BUILD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # GCC takes united sources for headers, and warns of anonymous namespaces' types in headers. It collects garbage
    # later, which saves a tenth of its time and takes up to 1.1 GB for a unit.
    target_compile_options(${target} PRIVATE -Wno-subobject-linkage --param=ggc-min-heapsize=500000)
  endif()
endfunction()

# xorder_compile_quickly(TARGET): for code around the library, where the program spends no time. The optimiser takes most
# of the time of a sanitizer build. Its globals, most of them texts, get no guards: registering these took 30 of the 80 ms
# of each launch of the program. The library's globals have them. Only the library has checks of alignment and of scopes,
# which took a quarter of the time to compile a unit.
function(xorder_compile_quickly target)
  if(XORDER_SANITIZE)
    target_compile_options(${target} PRIVATE -O0)
  endif()
  if(XORDER_SANITIZE MATCHES undefined)
    target_compile_options(${target} PRIVATE -fno-sanitize=alignment)
  endif()
  if(XORDER_SANITIZE MATCHES address AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    target_compile_options(${target} PRIVATE --param=asan-globals=0 -fno-sanitize-address-use-after-scope)
  endif()
endfunction()
