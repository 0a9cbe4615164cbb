set(LINKS tbem_compiler_serve)
