set(LINKS tbem_compiler_plan)
