set(LINKS tbem_runtime_files)
