# What is installed, below any prefix: `cmake --install build/release --prefix FOLDER`, also with DESTDIR. Nothing in the
# installed tree holds a path of the build, and it may be moved. docs/install.md says what is where.
include(CMakePackageConfigHelpers)

install(TARGETS tbemc RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS tbemc-worker RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/tbemc)

# The C interfaces that a program's own operators include (native.h) and what these include.
add_library(tbem_native INTERFACE)
set_target_properties(tbem_native PROPERTIES EXPORT_NAME native)
target_include_directories(tbem_native INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
set(interfaces native.h backend.h rt.h dtypes.def primitives.def)
list(TRANSFORM interfaces PREPEND ${CMAKE_SOURCE_DIR}/runtime/include/tbem/)
install(FILES ${interfaces} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tbem)
install(TARGETS tbem_native EXPORT tbem)

# The compiler as a shared library, with the headers of its property PUBLIC_HEADER.
set(TBEM_PC_LIBS "")
if(TARGET tbem)
  install(TARGETS tbem EXPORT tbem
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
    PUBLIC_HEADER DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tbem
    INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  set(TBEM_PC_LIBS "-L\${libdir} -ltbem")
endif()

# find_package(tbem) and pkg-config. Before 1.0 a new minor version may change what was there.
set(config_folder ${CMAKE_INSTALL_LIBDIR}/cmake/tbem)
install(EXPORT tbem NAMESPACE tbem:: FILE tbemTargets.cmake DESTINATION ${config_folder})
configure_package_config_file(${CMAKE_SOURCE_DIR}/cmake/tbemConfig.cmake.in ${CMAKE_BINARY_DIR}/install/tbemConfig.cmake
  INSTALL_DESTINATION ${config_folder} PATH_VARS CMAKE_INSTALL_BINDIR NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/install/tbemConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/install/tbemConfig.cmake ${CMAKE_BINARY_DIR}/install/tbemConfigVersion.cmake
  DESTINATION ${config_folder})
file(RELATIVE_PATH TBEM_PREFIX_FROM_PC /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
string(REGEX REPLACE "/$" "" TBEM_PREFIX_FROM_PC "${TBEM_PREFIX_FROM_PC}")
configure_file(${CMAKE_SOURCE_DIR}/cmake/tbem.pc.in ${CMAKE_BINARY_DIR}/install/tbem.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/install/tbem.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# The manual page and what shells complete are what the program says of itself.
function(tbem_says file folder name)
  add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/install/${file}
    COMMAND tbemc ${ARGN} > ${file}.part
    COMMAND ${CMAKE_COMMAND} -E rename ${file}.part ${file}
    DEPENDS tbemc WORKING_DIRECTORY ${CMAKE_BINARY_DIR}/install COMMENT "Asking tbemc for ${name}" VERBATIM)
  install(FILES ${CMAKE_BINARY_DIR}/install/${file} DESTINATION ${folder} RENAME ${name})
  set_property(GLOBAL APPEND PROPERTY TBEM_SAID ${CMAKE_BINARY_DIR}/install/${file})
endfunction()
tbem_says(tbemc.1 ${CMAKE_INSTALL_MANDIR}/man1 tbemc.1 doc --man)
tbem_says(tbemc.bash ${CMAKE_INSTALL_DATADIR}/bash-completion/completions tbemc completion bash)
tbem_says(tbemc.zsh ${CMAKE_INSTALL_DATADIR}/zsh/site-functions _tbemc completion zsh)
tbem_says(tbemc.fish ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d tbemc.fish completion fish)
get_property(said GLOBAL PROPERTY TBEM_SAID)
add_custom_target(tbem_installed ALL DEPENDS ${said})
add_dependencies(tbem_installed tbemc tbemc-worker)
if(TARGET tbem)
  add_dependencies(tbem_installed tbem)
endif()

install(DIRECTORY ${CMAKE_SOURCE_DIR}/tools/editors DESTINATION ${CMAKE_INSTALL_DATADIR}/tbemc
  PATTERN generate EXCLUDE PATTERN generator EXCLUDE PATTERN node_modules EXCLUDE PATTERN __pycache__ EXCLUDE)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/examples DESTINATION ${CMAKE_INSTALL_DOCDIR} FILES_MATCHING
  PATTERN *.tbem PATTERN *.md PATTERN *.c PATTERN output.txt PATTERN *.svg PATTERN *.out EXCLUDE)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/docs DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES ${CMAKE_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright)
