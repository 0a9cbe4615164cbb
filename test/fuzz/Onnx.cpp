// ONNX files, and programs made of them.
#include "compiler/import/Import.h"
#include "compiler/import/onnx/ReadOnnx.h"

#include <utility>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tbem::imports;
  auto read = readOnnx({reinterpret_cast<const char*>(data), size}, "/nonexistent", "net.onnx", {});
  if (!read) return 0;
  std::size_t sum = 0;
  for (const auto& weight : read->weights) {
    for (const std::uint8_t byte : weight.bytes) sum += byte;  // all that it says it has is there
  }
  volatile std::size_t used = sum;
  (void)used;
  const Imported imported = programOf(std::move(read->exported), "net", {}, false);
  if (imported.lacking.empty() && imported.text.empty()) __builtin_trap();
  return 0;
}
