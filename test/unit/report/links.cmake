set(LINKS tbem_runtime_report)
