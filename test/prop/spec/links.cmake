set(LINKS tbem_compiler_spec nlohmann_json::nlohmann_json)
