set(LINKS tbem_runtime_cudnn)
