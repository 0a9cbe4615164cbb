// .safetensors files.
#include "runtime/data/Safetensors.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  auto file = tbem::data::parseSafetensors(bytes);
  if (!file) return 0;
  std::size_t total = 0;
  for (const auto& array : file->arrays) {
    total += array.bytes.size();
    for (const int dtype : {TBEM_F32, TBEM_I64}) (void)tbem::data::toTensor(array, dtype);
  }
  if (total > size) __builtin_trap();
  // What was read can be written.
  if (!tbem::data::safetensorsHeader(file->arrays, file->metadata)) __builtin_trap();
  return 0;
}
