set(LINKS tbem_compiler_embed)
