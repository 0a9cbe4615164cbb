// Entries of the cache of compiled objects: as they are, and with a checksum that agrees.
#include "compiler/jit/glue/Cache.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  (void)tbem::jit::unpackCache("0123", bytes);
  const auto entry = tbem::jit::unpackCache("0123", tbem::jit::sealCache(bytes));
  std::size_t total = 0;
  if (entry) {
    for (const std::string& object : entry->objects) total += object.size();
  }
  if (total > size) __builtin_trap();
  return 0;
}
