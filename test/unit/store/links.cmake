set(LINKS tbem_runtime_store)
