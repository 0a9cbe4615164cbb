# The trees of the standard library, parsed once by the compiler's own parser (tools/pack) and embedded beside the texts.
add_executable(tbem_pack tools/pack/main.cpp)
target_link_libraries(tbem_pack PRIVATE tbem_compiler_syntax)
target_compile_options(tbem_pack PRIVATE ${TBEM_WARNINGS})
set(trees "")
foreach(file IN LISTS stdlib_files)
  file(RELATIVE_PATH name ${CMAKE_SOURCE_DIR}/stdlib ${file})
  get_filename_component(folder ${CMAKE_BINARY_DIR}/trees/${name} DIRECTORY)
  file(MAKE_DIRECTORY ${folder})
  add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/trees/${name} COMMAND tbem_pack ${file} ${CMAKE_BINARY_DIR}/trees/${name}
                     DEPENDS tbem_pack ${file} COMMENT "Parsing stdlib/${name}")
  list(APPEND trees ${CMAKE_BINARY_DIR}/trees/${name})
endforeach()
tbem_embed(tbem_stdlib_trees tbem::stdlib_trees ${CMAKE_BINARY_DIR}/trees ${trees})
