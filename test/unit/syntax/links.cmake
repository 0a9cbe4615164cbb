set(LINKS tbem_compiler_syntax)
