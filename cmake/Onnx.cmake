# The schema of ONNX files as code, by protoc. What it generates is not ours to warn about.
set(generated ${CMAKE_BINARY_DIR}/generated/onnx_schema)
set(schema ${CMAKE_SOURCE_DIR}/compiler/import/onnx/schema.proto)
file(MAKE_DIRECTORY ${generated})
add_custom_command(
  OUTPUT ${generated}/schema.pb.cc ${generated}/schema.pb.h
  COMMAND protobuf::protoc --proto_path=${CMAKE_SOURCE_DIR}/compiler/import/onnx --cpp_out=${generated} ${schema}
  DEPENDS ${schema} COMMENT "Generating the reader of ONNX files" VERBATIM)
add_library(tbem_onnx_schema STATIC ${generated}/schema.pb.cc ${generated}/schema.pb.h)
target_include_directories(tbem_onnx_schema SYSTEM PUBLIC ${CMAKE_BINARY_DIR}/generated)
target_include_directories(tbem_onnx_schema PRIVATE ${generated})
target_compile_options(tbem_onnx_schema PRIVATE -w)
target_link_libraries(tbem_onnx_schema PUBLIC protobuf::libprotobuf-lite)
