set(LINKS tbem_compiler_estimate)
