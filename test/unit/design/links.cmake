set(LINKS tbem_compiler_design)
