set(LINKS tbem_compiler_repl)
