set(LINKS tbem_compiler_pipeline)
