set(LINKS tbem_compiler_foreign)
