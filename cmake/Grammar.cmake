# The generated parser: the only target that compiles ANTLR's output. Its code has u8"" literals that are not C++20, so it is
# built as C++17 and with warnings off.
find_program(TBEM_ANTLR4 antlr4 REQUIRED)
set(grammar_dir ${CMAKE_BINARY_DIR}/grammar)
set(grammar_sources
  ${grammar_dir}/TbemLexer.cpp ${grammar_dir}/TbemLexer.h ${grammar_dir}/TbemParser.cpp ${grammar_dir}/TbemParser.h)
if(EXISTS ${CMAKE_SOURCE_DIR}/grammar/TbemParser.g4)
  file(GLOB grammar_inputs CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/grammar/*)
  add_custom_command(
    OUTPUT ${grammar_sources}
    COMMAND ${TBEM_ANTLR4} -Dlanguage=Cpp -no-listener -no-visitor -package tbem::grammar -o ${grammar_dir}
            ${CMAKE_SOURCE_DIR}/grammar/TbemLexer.g4
    COMMAND ${TBEM_ANTLR4} -Dlanguage=Cpp -no-listener -no-visitor -package tbem::grammar -lib ${grammar_dir} -o ${grammar_dir}
            ${CMAKE_SOURCE_DIR}/grammar/TbemParser.g4
    DEPENDS ${grammar_inputs}
    WORKING_DIRECTORY ${CMAKE_SOURCE_DIR}/grammar
    COMMENT "Generating the parser")
  add_library(tbem_grammar STATIC ${grammar_sources})
  target_include_directories(tbem_grammar SYSTEM PUBLIC ${grammar_dir} /usr/include/antlr4-runtime)
  target_include_directories(tbem_grammar PRIVATE ${CMAKE_SOURCE_DIR})
  target_compile_features(tbem_grammar PUBLIC cxx_std_17)
  set_target_properties(tbem_grammar PROPERTIES CXX_STANDARD 17)
  target_compile_options(tbem_grammar PRIVATE -w)
  target_link_libraries(tbem_grammar PUBLIC ${TBEM_ANTLR})
else()
  add_library(tbem_grammar INTERFACE)
endif()
