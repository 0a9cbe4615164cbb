set(LINKS tbem_compiler_show)
