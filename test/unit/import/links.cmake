set(LINKS tbem_compiler_import)
