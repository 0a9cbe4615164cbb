set(LINKS tbem_runtime_data)
