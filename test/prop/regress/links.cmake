set(LINKS tbem_runtime_regress)
