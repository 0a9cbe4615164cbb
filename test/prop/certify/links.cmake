set(LINKS tbem_compiler_certify tbem_compiler_jit tbem_compiler_graph tbem_runtime_core tbem_runtime_backends_ref
          tbem_runtime_backends_cpu)
