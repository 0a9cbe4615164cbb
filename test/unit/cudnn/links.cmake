set(LINKS tbem_runtime_cudnn)
# What cuDNN and cuBLAS keep to the end, in libraries that are closed by then, cannot be told from leaks of ours.
list(APPEND PROPERTIES ENVIRONMENT ASAN_OPTIONS=detect_leaks=0)
