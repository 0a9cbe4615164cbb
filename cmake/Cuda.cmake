# The kernels of the cuda backend: each runtime/backends/cuda/kernels/*.cu as PTX, which a driver compiles for its card, embedded
# by its name. Without nvcc there are none, and the backend says so.
find_program(TBEM_NVCC nvcc HINTS /usr/local/cuda/bin)

# tbem_ptx(source ptx headers...): makes the PTX of a source.
function(tbem_ptx source ptx)
  cmake_path(GET ptx PARENT_PATH folder)
  file(MAKE_DIRECTORY ${folder})
  cmake_path(GET source FILENAME name)
  add_custom_command(OUTPUT ${ptx}
    COMMAND ${TBEM_NVCC} --ptx --gpu-architecture=compute_75 --std=c++17 -O3 --fmad=true -Werror all-warnings
            -I${CMAKE_SOURCE_DIR} -I${CMAKE_SOURCE_DIR}/runtime/include -o ${ptx} ${source}
    # A driver refuses PTX of a later version than its own, and these kernels use nothing that is new: 8.0 is CUDA 12.0's.
    COMMAND sed -i "s/^\\.version .*/.version 8.0/" ${ptx}
    DEPENDS ${source} ${ARGN}
    COMMENT "PTX of ${name}")
endfunction()

set(ptx_files)
if(TBEM_NVCC)
  file(GLOB cuda_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/runtime/backends/cuda/kernels/*.cu)
  file(GLOB cuda_headers CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/runtime/backends/cuda/kernels/*.cuh)
  foreach(source IN LISTS cuda_sources)
    cmake_path(GET source STEM stem)
    set(ptx ${CMAKE_BINARY_DIR}/cuda/${stem}.ptx)
    tbem_ptx(${source} ${ptx} ${cuda_headers} ${CMAKE_SOURCE_DIR}/runtime/backends/cuda/device/Parameters.h
             ${CMAKE_SOURCE_DIR}/runtime/core/Bfloat16.h)
    list(APPEND ptx_files ${ptx})
  endforeach()
endif()
tbem_embed(tbem_cuda_kernels tbem::cuda_kernels ${CMAKE_BINARY_DIR}/cuda ${ptx_files})
