// IDX files, plain and compressed.
#include "runtime/data/Idx.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto shape = tbem::data::parseIdxShape(bytes);
  const auto array = tbem::data::parseIdx(bytes);
  if (array && (!shape || *shape != array->shape)) __builtin_trap();
  return 0;
}
