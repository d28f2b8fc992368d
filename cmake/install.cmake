# What `cmake --install` installs, by components: runtime, library, dev, mpi, python, doc.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
configure_package_config_file(cmake/xorderConfig.cmake.in xorderConfig.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/xorder)
write_basic_package_version_file(xorderConfigVersion.cmake COMPATIBILITY SameMinorVersion)
# Relative, so that the installed tree can be moved.
file(RELATIVE_PATH relative_prefix ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
configure_file(cmake/xorder.pc.in xorder.pc @ONLY)
configure_file(cmake/xorder-cpp.pc.in xorder-cpp.pc @ONLY)
# Whoever has built only some targets gets those.
function(install_if_built target component)
  install(TARGETS ${target} OPTIONAL ${ARGN})
  install(CODE "if(NOT EXISTS \"$<TARGET_FILE:${target}>\")
    message(\"-- Not installed, because not built (cmake --build ${PROJECT_BINARY_DIR} --target ${target}): $<TARGET_FILE_NAME:${target}>\")
  endif()" COMPONENT ${component})
endfunction()
install_if_built(xorder dev EXPORT xorderTargets ARCHIVE COMPONENT dev FILE_SET public_headers COMPONENT dev)
install_if_built(xorder_shared library EXPORT xorderSharedTargets LIBRARY COMPONENT library NAMELINK_COMPONENT dev
  FILE_SET c_header COMPONENT dev)
if(XORDER_TOOLS)
  install_if_built(xorder_tool runtime RUNTIME COMPONENT runtime)
  foreach(shell xorder.bash:bash-completion/completions/xorder _xorder:zsh/site-functions/_xorder
      xorder.fish:fish/vendor_completions.d/xorder.fish)
    string(REGEX MATCH "(.*):(.*)/(.*)" all ${shell})
    install(FILES tools/xorder/shells/${CMAKE_MATCH_1} DESTINATION ${CMAKE_INSTALL_DATADIR}/${CMAKE_MATCH_2} RENAME ${CMAKE_MATCH_3}
      COMPONENT runtime)
  endforeach()
  # Manual pages are made of what the program itself says.
  install(CODE "set(xorder_program \"$<TARGET_FILE:xorder_tool>\")
    set(xorder_man \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATADIR}/man/man1\")
    find_program(xorder_help2man help2man)
    if(NOT xorder_help2man)
      message(\"-- Not made, because help2man is missing: manual pages\")
    elseif(EXISTS \"\${xorder_program}\")
      execute_process(COMMAND \"${PROJECT_SOURCE_DIR}/tools/make-man\" \"\${xorder_program}\" \"\${xorder_man}\"
        COMMAND_ERROR_IS_FATAL ANY)
      file(GLOB xorder_pages \"\${xorder_man}/xorder*.1.gz\")
      list(APPEND CMAKE_INSTALL_MANIFEST_FILES \${xorder_pages})
    endif()" COMPONENT runtime)
  install(FILES LICENSE README.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT doc)
  install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT doc)
endif()
# The Python module finds its library from where it lies. Of /usr/local Debian's python3 sees only its own version's folder.
install(CODE [[
  set(xorder_python lib/python3)
  if(CMAKE_INSTALL_PREFIX STREQUAL "/usr/local")
    execute_process(COMMAND /usr/bin/python3 -c "import sys; print('lib/python%d.%d' % sys.version_info[:2], end='')"
      OUTPUT_VARIABLE xorder_python COMMAND_ERROR_IS_FATAL ANY)
  endif()]] COMPONENT python)
install(DIRECTORY python/xorder DESTINATION "\${xorder_python}/dist-packages" COMPONENT python
  FILES_MATCHING PATTERN *.py PATTERN py.typed
  PATTERN __pycache__ EXCLUDE)
if(TARGET xorder_hdf5)
  install_if_built(xorder_hdf5 runtime RUNTIME DESTINATION libexec COMPONENT runtime)
endif()
if(TARGET xorder_mpi_tool)
  install_if_built(xorder_mpi_tool mpi RUNTIME COMPONENT mpi)
endif()
export(EXPORT xorderTargets NAMESPACE xorder::)  # for find_package() of a build tree
export(EXPORT xorderSharedTargets NAMESPACE xorder::)
install(FILES include/xorder.f90 DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev)
install(EXPORT xorderTargets NAMESPACE xorder:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/xorder COMPONENT dev)
install(EXPORT xorderSharedTargets NAMESPACE xorder:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/xorder COMPONENT dev)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/xorder.pc ${CMAKE_CURRENT_BINARY_DIR}/xorder-cpp.pc
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT dev)
if(TARGET xorder_mpi)
  configure_file(cmake/xorder_mpi.pc.in xorder_mpi.pc @ONLY)
  install_if_built(xorder_mpi mpi EXPORT xorderMpiTargets LIBRARY COMPONENT mpi FILE_SET mpi_headers COMPONENT mpi)
  export(EXPORT xorderMpiTargets NAMESPACE xorder::)
  install(EXPORT xorderMpiTargets NAMESPACE xorder:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/xorder COMPONENT mpi)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/xorder_mpi.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT mpi)
endif()
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/xorderConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/xorderConfigVersion.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/xorder COMPONENT dev)
