set(LINKS tbem_compiler_emit)
