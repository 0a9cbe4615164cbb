set(LINKS tbem_runtime_backends_cuda)
# What cuDNN keeps to the end, in libraries that are closed by then, cannot be told from leaks of ours.
list(APPEND PROPERTIES ENVIRONMENT ASAN_OPTIONS=detect_leaks=0)
