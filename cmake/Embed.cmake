# Embeds text files in the binary: tbem_embed(target namespace root files...) makes a library with
#   namespace NS { struct File { std::string_view name, text; }; std::span<const File> files(); }
# declared in <embedded/TARGET.h>. Names are paths below `root`.
function(tbem_embed target namespace root)
  set(out ${CMAKE_BINARY_DIR}/embedded)
  set(list ${out}/${target}.list)
  string(REPLACE ";" "\n" text "${ARGN}")
  file(WRITE ${list}.new "${text}")
  file(COPY_FILE ${list}.new ${list} ONLY_IF_DIFFERENT)
  add_custom_command(
    OUTPUT ${out}/${target}.cpp ${out}/embedded/${target}.h
    COMMAND ${CMAKE_COMMAND} -DOUT=${out} -DTARGET=${target} -DNAMESPACE=${namespace} -DROOT=${root} -DLIST=${list}
            -P ${CMAKE_SOURCE_DIR}/cmake/EmbedFiles.cmake
    DEPENDS ${ARGN} ${list} ${CMAKE_SOURCE_DIR}/cmake/EmbedFiles.cmake
    COMMENT "Embedding ${target}")
  add_library(${target} STATIC ${out}/${target}.cpp ${out}/embedded/${target}.h)
  target_include_directories(${target} PUBLIC ${out})
endfunction()

file(GLOB_RECURSE stdlib_files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/stdlib/*.tbem)
tbem_embed(tbem_stdlib tbem::stdlib ${CMAKE_SOURCE_DIR}/stdlib ${stdlib_files})
file(GLOB_RECURSE names_files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/stdlib/names/*.names)
tbem_embed(tbem_names tbem::names ${CMAKE_SOURCE_DIR}/stdlib/names ${names_files})
file(GLOB explanation_files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/docs/errors/*.md)
tbem_embed(tbem_explanations tbem::explanations ${CMAKE_SOURCE_DIR}/docs/errors ${explanation_files})
# What the words of the language mean.
tbem_embed(tbem_words tbem::words ${CMAKE_SOURCE_DIR}/docs ${CMAKE_SOURCE_DIR}/docs/words.md)
# What `tbemc new` makes. Named one by one: a pattern would leave out what begins with a dot, or take what an editor left.
set(template ${CMAKE_SOURCE_DIR}/tools/template)
tbem_embed(tbem_template tbem::program_template ${template} ${template}/NAME.tbem ${template}/test.sh ${template}/expected.txt
  ${template}/README.md ${template}/.gitignore ${template}/.github/workflows/test.yml)
# What runs in other processes: rows that other programs measure, and models that are exported.
set(runners ${CMAKE_SOURCE_DIR}/tools/runners)
tbem_embed(tbem_runners tbem::runners ${runners} ${runners}/meters.py ${runners}/export.py ${runners}/export_graph.py ${runners}/framework.py ${runners}/look.py)
# What cuDNN was recorded to say: answers where there is none.
tbem_embed(tbem_recorded tbem::recorded ${CMAKE_SOURCE_DIR}/runtime/cudnn ${CMAKE_SOURCE_DIR}/runtime/cudnn/recorded.txt)
