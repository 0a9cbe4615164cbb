# Packages of what Install.cmake installs: `cpack -G DEB` or `cpack -G TGZ` in the build's folder. The Debian package names the
# libraries it was linked with (dpkg-shlibdeps), so it is for the Debian it was built on. LLVM is not among them where
# TBEM_STATIC_LLVM is on.
set(CPACK_PACKAGE_NAME tbemc)
set(CPACK_PACKAGE_VENDOR tbemc)
set(CPACK_PACKAGE_CONTACT "The tbemc developers")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "compiler and runtime for experiments on neural networks")
set(CPACK_PACKAGE_DESCRIPTION
"tbemc is a compiler, interpreter and runtime for a small language of network
templates, designs of experiments and conditions on shapes. It proves the
conditions, computes the FLOPs and bytes of every row of a design before it
runs, compiles rows to native code, measures them and fits regressions.")
set(CPACK_RESOURCE_FILE_LICENSE ${CMAKE_SOURCE_DIR}/LICENSE)
set(CPACK_GENERATOR DEB TGZ)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGE_CHECKSUM SHA256)
set(CPACK_PACKAGE_DIRECTORY ${CMAKE_BINARY_DIR}/packages)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "liblinear4, libmatio11")  # opened at run time, by clauses `detect` and by .mat files
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
if(TARGET tbem)
  set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)  # and with them the trigger that runs ldconfig
endif()
include(CPack)
