set(LINKS tbem_compiler_options)
