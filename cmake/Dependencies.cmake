# Everything that tools/setup installs; nothing is fetched by the build.
find_package(fmt 9 REQUIRED)
find_package(tl-expected REQUIRED)
find_package(Eigen3 3.4 REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(CLI11 2 REQUIRED)
find_package(SQLite3 REQUIRED)
find_package(ZLIB REQUIRED)
find_package(PNG REQUIRED)
find_package(JPEG REQUIRED)
find_package(Protobuf REQUIRED)
find_package(OpenMP REQUIRED COMPONENTS CXX)
find_package(LLVM 19.1 REQUIRED CONFIG)
find_library(TBEM_DNNL dnnl REQUIRED)
find_library(TBEM_XXHASH xxhash REQUIRED)
find_library(TBEM_ANTLR antlr4-runtime REQUIRED)
# Their libraries are opened when a program wants them (runtime/perturb/defence, runtime/data).
find_path(TBEM_LIBLINEAR_INCLUDE linear.h REQUIRED)
find_path(TBEM_MATIO_INCLUDE matio.h REQUIRED)
# Debian's package has no CMake configuration.
find_library(TBEM_Z3 z3 REQUIRED)
find_path(TBEM_Z3_INCLUDE z3++.h REQUIRED)

# The allocator of the programs that read and elaborate, which a fifth of that time was spent in with the C library's. It stands
# behind the C++ library, whose `new` then calls its `malloc` and throws where there is no memory: its own `new` ends the process.
# A sanitizer has its own, and a worker, whose memory is measured, keeps the C library's.
find_package(mimalloc 2 REQUIRED)
add_library(tbem_allocator INTERFACE)
if(NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize=")
  target_link_libraries(tbem_allocator INTERFACE -Wl,--push-state,--no-as-needed stdc++ mimalloc -Wl,--pop-state)
endif()

find_library(TBEM_EDIT edit REQUIRED)
find_path(TBEM_EDIT_INCLUDE histedit.h REQUIRED)

add_library(tbem_editline INTERFACE)
target_include_directories(tbem_editline SYSTEM INTERFACE ${TBEM_EDIT_INCLUDE})
target_link_libraries(tbem_editline INTERFACE ${TBEM_EDIT})
add_library(dnnl INTERFACE)
target_link_libraries(dnnl INTERFACE ${TBEM_DNNL})
add_library(xxhash INTERFACE)
target_link_libraries(xxhash INTERFACE ${TBEM_XXHASH})
add_library(tbem_z3 INTERFACE)
target_include_directories(tbem_z3 SYSTEM INTERFACE ${TBEM_Z3_INCLUDE})
target_link_libraries(tbem_z3 INTERFACE ${TBEM_Z3})

# The shared library takes longer to load than most commands run: an executable with the property TBEM_STATIC_LLVM takes the
# static components; unit tests, of which there are many, link the shared one.
define_property(TARGET PROPERTY TBEM_STATIC_LLVM)
add_library(tbem_llvm INTERFACE)
target_include_directories(tbem_llvm SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS})
separate_arguments(llvm_definitions NATIVE_COMMAND ${LLVM_DEFINITIONS})
target_compile_definitions(tbem_llvm INTERFACE ${llvm_definitions})
llvm_map_components_to_libnames(llvm_libs orcjit native nvptxcodegen nvptxdesc nvptxinfo passes linker bitreader)
target_link_libraries(tbem_llvm INTERFACE "$<IF:$<BOOL:$<TARGET_PROPERTY:TBEM_STATIC_LLVM>>,${llvm_libs},LLVM>")
