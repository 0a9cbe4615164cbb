// .npz archives and .npy files.
#include "runtime/data/Npz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const auto array = tbem::data::parseNpy(bytes, "x")) {
    // What was read can be written, and is then the same.
    const auto again = tbem::data::parseNpy(tbem::data::toNpy(*array), "x");
    if (!again || again->bytes != array->bytes || again->shape != array->shape) __builtin_trap();
  }
  if (const auto arrays = tbem::data::parseNpz(bytes)) {
    for (const auto& array : *arrays) {
      if (static_cast<std::size_t>(array.elements()) * tbem::data::elementBytes(array.dtype) != array.bytes.size())
        __builtin_trap();
    }
  }
  return 0;
}
