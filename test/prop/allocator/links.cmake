set(LINKS tbem_compiler_pytorch)
