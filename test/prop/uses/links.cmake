set(LINKS tbem_compiler_sema)
