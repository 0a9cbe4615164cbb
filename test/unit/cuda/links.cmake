# It is loaded when the test starts, so it is the libcublasLt that the process has already when the backend looks for one.
add_library(tbem_standin_cublaslt SHARED ${folder}/standin/CublasLt.cpp)
set_target_properties(tbem_standin_cublaslt PROPERTIES OUTPUT_NAME cublasLt SOVERSION 13
  LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/standin)
target_compile_options(tbem_standin_cublaslt PRIVATE ${TBEM_WARNINGS})
set(LINKS tbem_runtime_backends_cuda tbem_runtime_backends_ref tbem_standin_cublaslt)
# What cuDNN keeps to the end, in libraries that are closed by then, cannot be told from leaks of ours.
list(APPEND PROPERTIES ENVIRONMENT ASAN_OPTIONS=detect_leaks=0)
