set(LINKS tbem_compiler_spec)
